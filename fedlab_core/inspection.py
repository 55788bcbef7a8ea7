"""Detect frozen parameters, hooks, patched methods and changed buffers of a module."""

import contextlib
import copy

import torch
from torch import nn

from fedlab_core.description import described, digest
from fedlab_core.randomness import torch_generator

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are not frozen, by name; ``ValueError`` if there are none."""
    trained = {name: value for name, value in module.named_parameters() if value.requires_grad}
    if not trained:
        has_some = any(True for _ in module.parameters())
        reason = "all of them are frozen (requires_grad=False)" if has_some else "it has none"
        raise ValueError(f"model: has no parameters to train: {reason}")
    return trained


def frozen_digest(module: nn.Module) -> str:
    """A digest of the frozen parameters and the buffers; empty if no parameter is frozen."""
    if all(parameter.requires_grad for parameter in module.parameters()):
        return ""
    state = module.state_dict(keep_vars=True).items()
    frozen = [described(name, value) for name, value in state if not value.requires_grad]
    return digest(str(frozen).encode())


def set_training(module: nn.Module, training: bool) -> None:
    """Set the mode of ``module``.

    Batch normalisation stays in evaluation mode, because it must be constant.
    """
    module.train(training)
    for layer in module.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            layer.eval()


def is_as_its_class(layer: nn.Module) -> bool:
    """Whether ``layer`` has no hooks and no patched methods such as ``forward``.

    The layers inside it do not count.
    """
    is_patched = any(callable(getattr(type(layer), name, None)) for name in vars(layer))
    return not is_patched and not any(getattr(layer, hooks) for hooks in _HOOKS)


def output_of(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Compute the output [n, …] of ``module`` in evaluation mode on a copy of the samples ``x`` [n,
    …].

    Raises ``ValueError`` unless the output is one tensor with a row for each sample.
    """
    with torch.no_grad(), torch_generator(x.device):  # one thread at a time changes the modes
        modes = [(layer, layer.training) for layer in module.modules()]
        try:
            output = module.eval()(x.clone())
        finally:
            for layer, mode in modes:
                layer.training = mode
    if not isinstance(output, torch.Tensor):
        raise ValueError(
            f"model: its output is a {type(output).__name__}; must be one tensor with a row per "
            "sample"
        )
    if not output.ndim or len(output) != len(x):
        raise ValueError(
            f"model: gives an output of shape {list(output.shape)} for {len(x)} samples"
        )
    return output


def changed_by_training(module: nn.Module, x: torch.Tensor) -> list[str]:
    """Name the parameters and buffers that forward passes on ``x`` [n, …] in training mode change;
    a copy runs.

    The passes with weights 1,000 times as large may fail: some modules clip only large weights.
    """
    changed: set[str] = set()
    has_buffers = any(True for _ in module.buffers())
    for factor in (1, 1000):
        tolerated = [] if factor == 1 else [Exception]
        copied = copy.deepcopy(module)
        set_training(copied, True)
        with torch.no_grad(), torch_generator(x.device):
            for value in copied.parameters():
                value.mul_(factor)
            for _ in range(2 if has_buffers else 1):
                before = {name: value.clone() for name, value in _tensors(copied).items()}
                with contextlib.suppress(*tolerated):
                    copied(x.clone())
                after = _tensors(copied)
                changed.update(
                    name for name, old in before.items() if not _is_same(old, after.get(name))
                )
    return sorted(changed)


def _tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _is_same(old: torch.Tensor, new: torch.Tensor | None) -> bool:
    if new is None or (old.shape, old.dtype) != (new.shape, new.dtype):
        return False
    return torch.allclose(old, new, rtol=0, atol=0, equal_nan=True)
