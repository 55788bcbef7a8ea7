"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

A layer keeps no parameters. ``views(buffer, size, active)`` finds its own, of the first ``active`` clients, in a buffer
of ``size`` clients (``layout.py``). ``forward(params, x)`` remembers what the backward pass needs. ``backward`` takes
the loss gradient with respect to the layer's output and

    returns the gradient with respect to its input (None if nobody needs it),
    and takes the SGD step  target ← target − step · ∇  where the gradient arises, so that none is ever stored.

``params`` and ``target`` may be the same memory: the input gradient is formed before the parameters change.
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

Views = tuple[torch.Tensor, ...]


class Layer:
    """A layer without parameters and without effect; the base of the others."""

    needs_input_gradient = True

    def __init__(self, start: int = 0, shapes: Sequence[torch.Size] = ()) -> None:
        self._places = []
        for shape in shapes:
            self._places.append((start, start + shape.numel(), shape))
            start += shape.numel()

    def views(self, buffer: torch.Tensor, size: int, active: int) -> Views:
        """This layer's parameters [active, …] as views of ``buffer``."""
        return tuple(
            buffer[size * start : size * stop].view(size, *shape)[:active] for start, stop, shape in self._places
        )

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        return x

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        return gradient


class Linear(Layer):
    """x [A, B, in] → [A, B, out]."""

    def __init__(self, start: int, layer: nn.Linear) -> None:
        super().__init__(start, [parameter.shape for parameter in layer.parameters()])

    def views(self, buffer: torch.Tensor, size: int, active: int) -> Views:
        """Weight [A, out, in], its transpose, and the bias [A, 1, out] if there is one."""
        weight, *bias = super().views(buffer, size, active)
        return weight, weight.transpose(1, 2), *(b.unsqueeze(1) for b in bias)

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._x = x
        _, transposed, *bias = params
        return torch.baddbmm(bias[0], x, transposed) if bias else torch.bmm(x, transposed)

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        below = torch.bmm(gradient, params[0]) if self.needs_input_gradient else None
        target[0].baddbmm_(gradient.transpose(1, 2), self._x, alpha=-step)
        if len(target) == 3:
            target[2].sub_(gradient.sum(1, keepdim=True), alpha=step)
        return below


class ReLU(Layer):
    """max(x, 0). In place where the layer below does not need its own output again."""

    def __init__(self, in_place: bool) -> None:
        super().__init__()
        self._relu = functional.relu_ if in_place else functional.relu

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = self._relu(x)
        return self._output

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        return torch.ops.aten.threshold_backward(gradient, self._output, 0)


class Tanh(Layer):
    """tanh(x)."""

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = torch.tanh(x)
        return self._output

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        return torch.ops.aten.tanh_backward(gradient, self._output)


class Sigmoid(Layer):
    """1 / (1 + e^−x)."""

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = torch.sigmoid(x)
        return self._output

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        return torch.ops.aten.sigmoid_backward(gradient, self._output)


class Flatten(Layer):
    """[A, B, …] → [A, B, features]; ``channels_last`` images [A, B, H, W, C] in PyTorch's order C, H, W."""

    def __init__(self, channels_last: bool) -> None:
        super().__init__()
        self._channels_last = channels_last

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        if self._channels_last:
            x = x.permute(0, 1, 4, 2, 3)
        self._shape = x.shape
        return x.reshape(x.shape[0], x.shape[1], -1)

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        gradient = gradient.view(self._shape)
        return gradient.permute(0, 1, 3, 4, 2).contiguous() if self._channels_last else gradient
