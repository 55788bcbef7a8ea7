"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

A layer keeps no parameters. ``views(buffer, size, active)`` finds its own, of the first ``active`` clients, in a buffer
of ``size`` clients (``layout.py``). ``forward(params, x)`` remembers what the backward pass needs. That goes in two
steps, each given the loss gradient with respect to the layer's output:

    ``input_gradient``  the gradient with respect to its input, formed before the parameters change;
    ``update``          the SGD step  target ← target − step · ∇; ``target`` may be the parameters themselves. Where
                        the weights lie in memory as the product wants them, it is taken in the product that would
                        form the gradient, so that none is stored.

``add_moment`` is an update that keeps samples apart: target ← target + Σ_samples |∇_sample|^power. The gradient of a
weight for one sample is a product of an output gradient and an input; so is its power, of their powers.
"""

import torch
from torch import nn
from torch.nn import functional

Views = tuple[torch.Tensor, ...]


class UnknownLayer(TypeError):
    """A layer, or a use of one, that has no stacked form."""


class Layer:
    """A layer without parameters and without effect; the base of the others.

    The parameters of ``layer`` lie from ``start`` on in the flat vector, in any order; ``places`` has them in that of
    ``names``. Raises :class:`UnknownLayer` if it has others.
    """

    has_moments = True
    names: tuple[str, ...] = ("weight", "bias")

    def __init__(self, start: int = 0, layer: nn.Module | None = None) -> None:
        found = {}
        if layer is not None:
            if set(layer._parameters) != set(self.names):
                raise UnknownLayer(f"{layer} with the parameters {', '.join(layer._parameters) or 'none'}")
            for name, parameter in layer.named_parameters(recurse=False):
                found[name] = start, start + parameter.numel(), parameter.shape
                start += parameter.numel()
        self.places = [found[name] for name in self.names if name in found]

    def views(self, buffer: torch.Tensor, size: int, active: int) -> Views:
        """This layer's parameters [active, …] as views of ``buffer``."""
        return tuple(
            buffer[size * start : size * stop].view(size, *shape)[:active] for start, stop, shape in self.places
        )

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        return x

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
        return gradient

    def update(self, target: Views, gradient: torch.Tensor, step: float) -> None:
        pass

    def add_moment(self, target: Views, gradient: torch.Tensor, power: int) -> None:
        pass


class Linear(Layer):
    """x [A, B, in] → [A, B, out]."""

    def __init__(self, start: int, layer: nn.Linear) -> None:
        super().__init__(start, layer)

    def views(self, buffer: torch.Tensor, size: int, active: int) -> Views:
        """Weight [A, out, in], its transpose, and the bias [A, 1, out] if there is one."""
        weight, *bias = super().views(buffer, size, active)
        return weight, weight.transpose(1, 2), *(b.unsqueeze(1) for b in bias)

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._x = x
        _, transposed, *bias = params
        return torch.baddbmm(bias[0], x, transposed) if bias else torch.bmm(x, transposed)

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
        return torch.bmm(gradient, params[0])

    def update(self, target: Views, gradient: torch.Tensor, step: float) -> None:
        target[0].baddbmm_(gradient.transpose(1, 2), self._x, alpha=-step)
        if len(target) == 3:
            target[2].sub_(gradient.sum(1, keepdim=True), alpha=step)

    def add_moment(self, target: Views, gradient: torch.Tensor, power: int) -> None:
        powers = gradient.abs().pow_(power)
        target[0].baddbmm_(powers.transpose(1, 2), self._x.abs().pow_(power))
        if len(target) == 3:
            target[2].add_(powers.sum(1, keepdim=True))


class ReLU(Layer):
    """max(x, 0). In place where the layer below does not need its own output again."""

    def __init__(self, in_place: bool) -> None:
        super().__init__()
        self._relu = functional.relu_ if in_place else functional.relu

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = self._relu(x)
        return self._output

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.threshold_backward(gradient, self._output, 0)


class Tanh(Layer):
    """tanh(x)."""

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = torch.tanh(x)
        return self._output

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.tanh_backward(gradient, self._output)


class Sigmoid(Layer):
    """1 / (1 + e^−x)."""

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._output = torch.sigmoid(x)
        return self._output

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
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

    def input_gradient(self, params: Views, gradient: torch.Tensor) -> torch.Tensor:
        gradient = gradient.view(self._shape)
        return gradient.permute(0, 1, 3, 4, 2).contiguous() if self._channels_last else gradient
