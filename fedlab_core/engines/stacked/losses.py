"""The loss at the output of a cohort network, and its gradient there."""

from collections.abc import Callable

import torch

from fedlab_core.losses import LOSSES, Loss

OutputLoss = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], tuple[torch.Tensor, torch.Tensor, float]]
"""(output [A, B, …], target, counts [A] or None) → (gradient, mean losses [A], scale).

The gradient of client k's mean loss is scale · gradient[k], zero in the rows that are padding.
"""


def output_loss(loss: Loss) -> OutputLoss:
    """Closed forms for the losses with a name; automatic differentiation at the output for any other."""
    if loss is LOSSES["cross_entropy"]:
        return cross_entropy
    return GeneralLoss(loss)


def cross_entropy(
    logits: torch.Tensor, labels: torch.Tensor, counts: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Softmax cross-entropy: the gradient is (softmax − one-hot) / n."""
    batch = logits.shape[1]
    labels = labels.unsqueeze(2)
    log_p = torch.log_softmax(logits, 2)
    losses = log_p.gather(2, labels)[:, :, 0]
    gradient = log_p.exp_().scatter_add_(2, labels, _minus_one(log_p).expand(labels.shape))
    if counts is None:
        return gradient, losses.mean(1).neg_(), 1 / batch
    real = _mask(counts, batch).to(logits.dtype) / counts[:, None]
    return gradient.mul_(real.unsqueeze(2)), (losses * real).sum(1).neg_(), 1.0


class GeneralLoss:
    """Any ``loss(output, target)``: one evaluation for each client, on its real samples."""

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    def __call__(
        self, output: torch.Tensor, target: torch.Tensor, counts: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, float]:
        sizes = [output.shape[1]] * len(output) if counts is None else counts.tolist()
        with torch.enable_grad():
            output = output.detach().requires_grad_()
            losses = torch.stack([self._loss(output[k, : int(n)], target[k, : int(n)]) for k, n in enumerate(sizes)])
            (gradient,) = torch.autograd.grad(losses.sum(), output)
        return gradient, losses.detach(), 1.0


def _minus_one(like: torch.Tensor) -> torch.Tensor:
    return like.new_full((1, 1, 1), -1.0)


def _mask(counts: torch.Tensor, batch: int) -> torch.Tensor:
    return torch.arange(batch, device=counts.device) < counts[:, None]
