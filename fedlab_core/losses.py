"""Loss functions by name: ``(output, target) → scalar``, a mean over the samples of a batch."""

import math
from collections.abc import Callable
from typing import Literal

import torch
from torch.nn import functional

from fedlab_core import validation
from fedlab_core.aliases import Config

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def squared_error(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """½ ‖output − target‖², averaged over the batch; both have the same number of entries."""
    return 0.5 * (output - target.reshape(output.shape)).square().sum() / len(output)


def squared_norm(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """‖output‖², averaged over the batch, for Memory Aware Synapses; ``target`` is not used."""
    return output.square().sum() / len(output)


def squared_norm_of_softmax(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """‖softmax(output)‖², averaged over the batch; ``target`` is not used."""
    return squared_norm(torch.softmax(output, dim=-1), target)


Output = Literal["logits", "softmax"]
OUTPUT_NORMS: dict[Output, Loss] = {"logits": squared_norm, "softmax": squared_norm_of_softmax}
LOSSES: dict[str, Loss] = {
    "cross_entropy": functional.cross_entropy,
    "squared_error": squared_error,
}


def resolve(loss: str | Loss) -> Loss:
    """Get the function of a name; a function is returned as it is.

    Raises ``ValueError`` for an unknown name.
    """
    return loss if callable(loss) else LOSSES[validation.choice("loss", loss, LOSSES)]


def check_is_mean(loss: Loss, output: torch.Tensor, target: torch.Tensor) -> None:
    """Raise ``ValueError`` unless ``loss`` is a differentiable scalar, and a mean over the samples
    of ``output``.

    A mean has the same value for a batch and for two copies of it; a sum has not. Values that are
    not finite pass.
    """
    output = output.detach().clone()
    target = target.clone()
    try:
        with torch.enable_grad():
            value = loss(output.requires_grad_(), target)
            twice = loss(torch.cat([output, output]), torch.cat([target, target]))
    except (TypeError, ValueError, RuntimeError, IndexError) as error:
        given = f"an output {_short(output)} and a target {_short(target)}"
        raise ValueError(
            f"loss: must take (output, target), but fails for {given}: {error}"
        ) from error
    if not isinstance(value, torch.Tensor) or value.ndim or not value.is_floating_point():
        raise ValueError(
            f"loss: must return one number, a float tensor without dimensions, got {_short(value)}"
        )
    if not value.requires_grad:
        raise ValueError("loss: PyTorch cannot differentiate its value with respect to the output")
    once = float(value.detach())
    both = float(twice.detach())
    if math.isfinite(once) and not math.isclose(once, both, rel_tol=1e-3, abs_tol=1e-6):
        raise ValueError(
            f"loss: must be a mean over the samples of a batch, but is {once:.5g} for "
            f"{len(output)} samples and {both:.5g} for two copies of each. Is it a sum? Use "
            "reduction='mean'"
        )


def _short(value: object) -> str:
    """Dtype and shape of a tensor; of anything else the type."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} {list(value.shape)}"
    return type(value).__name__


def describe(loss: str | Loss, output: torch.Tensor, target: torch.Tensor) -> str | Config:
    """Describe ``loss`` as JSON: its name, and for a function also its value at the start."""
    if isinstance(loss, str):
        return loss
    value = float(loss(output, target))
    return {
        "function": getattr(loss, "__qualname__", type(loss).__name__),
        "at_start": float(f"{value:.5g}"),
    }
