"""The built-in models: what they refuse."""

import pytest
import torch

import fedlab_core as fl


def federation(x: torch.Tensor) -> fl.FederatedDataset:
    y = torch.arange(len(x)) % 2
    return fl.FederatedDataset.from_clients([(x, y)], test=(x, y))


@pytest.mark.parametrize("name", ["linear", "softmax_regression", "mlp"])
def test_a_model_of_numbers_refuses_token_ids_and_names_the_one_for_them(name: str) -> None:
    with pytest.raises(ValueError, match=r"needs floats.*torch\.int64.*token ids need the model lstm"):
        fl.models.MODELS[name](federation(torch.ones(4, 3, dtype=torch.int64)))


@pytest.mark.parametrize("name", ["cnn_mnist", "cnn_cifar"])
def test_a_model_of_images_refuses_token_ids(name: str) -> None:
    with pytest.raises(ValueError, match=r"needs images .* got samples of shape \[3\]"):
        fl.models.MODELS[name](federation(torch.ones(4, 3, dtype=torch.int64)))


def test_an_lstm_refuses_images() -> None:
    with pytest.raises(ValueError, match=r"lstm needs int64 token ids \[n, length\], got torch.float32 \[4, 1, 8, 8\]"):
        fl.models.lstm(federation(torch.ones(4, 1, 8, 8)))
