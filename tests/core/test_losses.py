"""A loss must be a differentiable mean over the samples of a batch; what is not is refused in
words.
"""

import pytest
import torch
from torch import nn
from torch.nn import functional

from fedlab_core.losses import LOSSES, check_is_mean, squared_norm

OUTPUT = torch.tensor([[1.0, -2.0, 0.5], [0.3, 0.2, -3.0]])
LABELS = torch.tensor([2, 0])


@pytest.mark.parametrize(
    "loss",
    [
        LOSSES["cross_entropy"],
        squared_norm,
        nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0, 0.1])),
        nn.CrossEntropyLoss(ignore_index=2, label_smoothing=0.1),
        lambda output, target: (
            functional.cross_entropy(output, target, ignore_index=0) * torch.tensor(2.0)
        ),
        lambda output, target: functional.cross_entropy(output / 0, target),
    ],
)
def test_means_pass_weighted_or_not(loss) -> None:
    check_is_mean(loss, OUTPUT, LABELS)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (nn.CrossEntropyLoss(reduction="sum"), "must be a mean.*Is it a sum"),
        (nn.CrossEntropyLoss(reduction="none"), r"one number.*float32 \[2\]"),
        (lambda output, target: None, "one number.*NoneType"),
        (lambda output, target: (output.argmax(1) != target).float().mean(), "differentiate"),
        (nn.MSELoss(), r"fails for an output float32 \[2, 3\] and a target int64 \[2\]"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_what_is_refused(loss, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_is_mean(loss, OUTPUT, LABELS)
