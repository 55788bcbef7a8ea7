"""A loss must be a differentiable mean over the samples of a batch; what is not is refused in words."""

import pytest
import torch
from torch import nn
from torch.nn import functional

from fedlab_core.losses import LOSSES, check_is_mean, squared_norm

OUTPUT, LABELS = torch.tensor([[1.0, -2.0, 0.5], [0.3, 0.2, -3.0]]), torch.tensor([2, 0])


@pytest.mark.parametrize(
    "loss",
    [
        LOSSES["cross_entropy"],
        squared_norm,
        nn.CrossEntropyLoss(weight=torch.tensor([1.0, 3.0, 0.1])),
        nn.CrossEntropyLoss(ignore_index=2, label_smoothing=0.1),
        lambda output, target: functional.cross_entropy(output, target, ignore_index=0) * torch.tensor(2.0),
        lambda output, target: functional.cross_entropy(output / 0, target),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_means_pass_weighted_or_not(loss, dtype: torch.dtype) -> None:
    if isinstance(loss, nn.Module):
        loss = loss.to(dtype)
    check_is_mean(loss, OUTPUT.to(dtype), LABELS)


def changing_its_target(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output, target.mul_(1))


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (nn.CrossEntropyLoss(reduction="sum"), "must be a mean.*Is it a sum"),
        (nn.CrossEntropyLoss(reduction="none"), r"one number.*float32 \[2\]"),
        (lambda output, target: output.detach().sum().item(), "one number.*float"),
        (lambda output, target: None, "one number.*NoneType"),
        (lambda output, target: functional.cross_entropy(output.detach(), target), "differentiate"),
        (lambda output, target: (output.argmax(1) != target).float().mean(), "differentiate"),
        (lambda output: output.sum(), r"loss: must take \(output, target\)"),
        (nn.MSELoss(), r"fails for an output float32 \[2, 3\] and a target int64 \[2\]"),
        (changing_its_target, "in place"),
    ],
)
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_what_is_refused(loss, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_is_mean(loss, OUTPUT, LABELS)


def test_output_and_target_stay_as_they_are() -> None:
    output, labels = OUTPUT.clone(), LABELS.clone()
    check_is_mean(LOSSES["cross_entropy"], output, labels)
    assert torch.equal(output, OUTPUT) and torch.equal(labels, LABELS) and not output.requires_grad
    with torch.no_grad():
        check_is_mean(LOSSES["cross_entropy"], output, labels)
