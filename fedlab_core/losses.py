"""Loss functions by name: ``(output, target) → scalar``, a mean over the samples of a batch."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from fedlab_core import validation

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def squared_error(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """½ ‖output − target‖², averaged over the batch; ``target`` has as many entries as ``output``."""
    return 0.5 * (output - target.reshape(output.shape)).square().sum() / len(output)


def squared_norm(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """‖output‖², averaged over the batch, whatever the ``target``: what Memory Aware Synapses differentiates."""
    return output.square().sum() / len(output)


LOSSES: dict[str, Loss] = {"cross_entropy": functional.cross_entropy, "squared_error": squared_error}


def resolve(loss: str | Loss) -> Loss:
    """The function behind a name; a callable is returned as it is. Raises ``ValueError`` for an unknown name."""
    if callable(loss):
        return loss
    return LOSSES[validation.choice("loss", loss, LOSSES)]


def describe(loss: str | Loss, output: torch.Tensor, target: torch.Tensor) -> Any:
    """A name, for the configuration of a run; of a function also its value there, since its name says little."""
    if isinstance(loss, str):
        return loss
    value = float(loss(output, target))
    return {"function": getattr(loss, "__qualname__", type(loss).__name__), "at_start": float(f"{value:.5g}")}
