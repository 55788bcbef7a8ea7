"""The loss gradient at the output of a cohort network."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

from fedlab_core import losses
from fedlab_core.losses import LOSSES, Loss

FEW_ROWS = 100
Scaled = tuple[Tensor, float]
OutputLoss = Callable[[Tensor, Tensor, Tensor | None], Scaled]
"""(output [A, B, …], target from ``targets``, counts [A] or None) → (gradient, scale).

``output`` may be overwritten. The gradient of client k's mean loss is scale · gradient[k], zero in
rows of padding.
"""


def output_loss(loss: Loss) -> OutputLoss:
    """The closed form if there is one, or automatic differentiation at the output."""
    if loss is LOSSES["cross_entropy"]:
        return cross_entropy
    if loss is LOSSES["squared_error"]:
        return squared_error
    if loss is losses.squared_norm:
        return squared_norm
    if loss is losses.squared_norm_of_softmax:
        return squared_norm_of_softmax
    return partial(general_loss, loss)


def targets(loss: OutputLoss, y: Tensor, classes: int, dtype: torch.dtype) -> Tensor:
    """The targets of ``loss`` for ``y`` [*], computed for many steps at once: labels as one-hot
    rows, or ``y``.
    """
    return functional.one_hot(y, classes).to(dtype) if loss is cross_entropy else y


def sample_gradients(loss: OutputLoss, output: Tensor, target: Tensor, counts: Tensor) -> Tensor:
    """The gradient [A, B, …] of each sample's own loss, zero in rows of padding."""
    if loss in (cross_entropy, squared_error, squared_norm, squared_norm_of_softmax):
        gradient, scale = loss(output, target, counts)
        return gradient * (scale * counts[:, None, None])
    is_real = _is_real(output, counts)
    gradient = torch.zeros_like(output)
    gradient[is_real] = loss(output[is_real].unsqueeze(1), target[is_real].unsqueeze(1), None)[
        0
    ].squeeze(1)
    return gradient


def cross_entropy(logits: Tensor, labels: Tensor, counts: Tensor | None) -> Scaled:
    """(softmax − one-hot) / n."""
    if logits.shape[0] * logits.shape[1] <= FEW_ROWS:
        gradient = torch.softmax(logits, 2)
    else:  # more calls, but five times as fast for few classes
        gradient = torch.softmax(logits.permute(2, 0, 1).contiguous(), 0).permute(1, 2, 0)
    return _mean_over_real(gradient.sub_(labels), counts)


def squared_error(output: Tensor, target: Tensor, counts: Tensor | None) -> Scaled:
    """(output − target) / n, for the loss ½ ‖output − target‖²."""
    return _mean_over_real(output - target.reshape(output.shape), counts)


def squared_norm(output: Tensor, target: Tensor, counts: Tensor | None) -> Scaled:
    """2 · output / n, for the loss ‖output‖²."""
    return _mean_over_real(2 * output, counts)


def squared_norm_of_softmax(output: Tensor, target: Tensor, counts: Tensor | None) -> Scaled:
    """2 · p ⊙ (p − ‖p‖²) / n for p = softmax(output), for the loss ‖p‖²."""
    p = torch.softmax(output, 2)
    norm = p.square().sum(2, keepdim=True)
    return _mean_over_real(2 * p * (p - norm), counts)


def _mean_over_real(gradient: Tensor, counts: Tensor | None) -> Scaled:
    """Turn the gradient of a sum over samples into that of the mean without padding."""
    if counts is None:
        return gradient, 1 / gradient.shape[1]
    return gradient.mul_(
        (_is_real(gradient, counts).to(gradient.dtype) / counts[:, None]).unsqueeze(2)
    ), 1.0


def _is_real(rows: Tensor, counts: Tensor) -> Tensor:
    return torch.arange(rows.shape[1], device=counts.device) < counts[:, None]


def general_loss(loss: Loss, output: Tensor, target: Tensor, counts: Tensor | None) -> Scaled:
    """The gradient of any ``loss(output, target)``, one evaluation per client."""
    sizes = [output.shape[1]] * len(output) if counts is None else counts.tolist()
    with torch.enable_grad():
        output = output.detach().requires_grad_()
        values = [loss(output[k, :size], target[k, :size]) for k, size in enumerate(sizes)]
        (gradient,) = torch.autograd.grad(torch.stack(values).sum(), output)
    return gradient, 1.0
