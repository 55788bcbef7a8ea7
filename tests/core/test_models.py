"""The built-in models: what they refuse."""

import pytest
import torch

import fedlab_core as fl


@pytest.mark.parametrize(
    ("name", "x", "words"),
    [
        (
            "mlp",
            torch.ones(4, 3, dtype=torch.int64),
            r"needs floats.*torch\.int64.*token ids need the model lstm",
        ),
        (
            "cnn_mnist",
            torch.ones(4, 3, dtype=torch.int64),
            r"needs images .* got samples of shape \[3\]",
        ),
        (
            "lstm",
            torch.ones(4, 1, 8, 8),
            r"lstm needs int64 token ids .*, got torch.float32 \[4, 1, 8, 8\]",
        ),
    ],
)
def test_samples_of_another_kind_are_refused(name: str, x: torch.Tensor, words: str) -> None:
    y = torch.arange(4) % 2
    with pytest.raises(ValueError, match=words):
        fl.models.MODELS[name](fl.FederatedDataset.from_clients([(x, y)], test=(x, y)))
