"""What a module does beside what its class says, found by looking at it and by running it once."""

import contextlib
import copy

import torch
from torch import nn

from fedlab_core.randomness import torch_generator
from fedlab_core.reproduce.description import described, digest

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def trainable(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that are trained, by name: all but the frozen ones; ``ValueError`` if there are none."""
    found = {name: value for name, value in module.named_parameters() if value.requires_grad}
    if not found:
        why = "all of them are frozen (requires_grad=False)" if list(module.parameters()) else "it has none"
        raise ValueError(f"model: has no parameters to train; {why}")
    return found


def frozen_digest(module: nn.Module) -> str:
    """A digest of the frozen parameters and of the buffers; empty if no parameter is frozen."""
    if all(parameter.requires_grad for parameter in module.parameters()):
        return ""
    state = module.state_dict(keep_vars=True).items()
    return digest(str([described(name, value) for name, value in state if not value.requires_grad]).encode())


def set_training(module: nn.Module, training: bool) -> None:
    """Put ``module`` into training or evaluation mode; batch normalisation, which must be constant, stays as it is."""
    module.train(training)
    for layer in module.modules():
        if isinstance(layer, nn.modules.batchnorm._BatchNorm):
            layer.eval()


def is_as_its_class(layer: nn.Module) -> bool:
    """Whether ``layer`` does what its class says: it has no hooks, and no method of its own such as ``forward``.

    It says nothing of the layers inside ``layer``: ask for each of ``layer.modules()``.
    """
    own = (name for name in vars(layer) if callable(getattr(type(layer), name, None)))
    return next(own, None) is None and not any(getattr(layer, hooks) for hooks in _HOOKS)


def output_of(module: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """The output [n, …] of ``module``, in evaluation mode, on the samples ``x`` [n, …], which it cannot change.

    Raises ``ValueError`` if that is anything else than one tensor with a row for each sample.
    """
    with torch.no_grad(), torch_generator(x.device):  # of two threads, one would give the modes back too early
        modes = [(layer, layer.training) for layer in module.modules()]
        try:
            output = module.eval()(x.clone())
        finally:
            for layer, mode in modes:
                layer.training = mode
    if not isinstance(output, torch.Tensor):
        raise ValueError(f"model: its output is a {type(output).__name__}, but must be one tensor of a row per sample")
    if not output.ndim or len(output) != len(x):
        raise ValueError(f"model: gives an output of shape {list(output.shape)} for {len(x)} samples")
    return output


def changed_buffers(module: nn.Module, x: torch.Tensor) -> list[str]:
    """The names of the buffers that a forward pass on ``x`` [n, …] in training mode changes; ``module`` stays as it is.

    A buffer that the first pass creates, and no later one changes, does not count.
    """
    module = copy.deepcopy(module)
    set_training(module, True)
    changed: set[str] = set()
    with torch.no_grad(), torch_generator(x.device):
        for _ in range(2):
            before = {name: buffer.clone() for name, buffer in module.named_buffers()}
            module(x.clone())
            after = dict(module.named_buffers())
            changed |= {name for name, old in before.items() if not _is_same(old, after.get(name))}
    return sorted(changed)


def written_parameters(module: nn.Module, x: torch.Tensor) -> list[str]:
    """The names of the parameters that a forward pass on ``x`` [n, …] in training mode changes; ``module`` stays as is.

    A second pass has weights a thousand times as large, because some modules clip only weights that are too large. That
    pass may fail: then only what it wrote counts.
    """
    changed: set[str] = set()
    for factor in (1, 1000):
        copied = copy.deepcopy(module)
        set_training(copied, True)
        with torch.no_grad(), torch_generator(x.device):
            for value in copied.parameters():
                value.mul_(factor)
            before = {name: value.clone() for name, value in copied.named_parameters()}
            with contextlib.suppress(*([] if factor == 1 else [Exception])):
                copied(x.clone())
            changed |= {name for name, value in copied.named_parameters() if not _is_same(before[name], value)}
    return sorted(changed)


def _is_same(old: torch.Tensor, new: torch.Tensor | None) -> bool:
    if new is None or (old.shape, old.dtype) != (new.shape, new.dtype):
        return False
    return torch.allclose(old, new, rtol=0, atol=0, equal_nan=True)
