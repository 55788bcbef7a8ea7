"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

A layer keeps no parameters. ``views(buffer, size, active)`` finds its own, of the first ``active`` clients, in a buffer
of ``size`` clients (``buffers.py``). ``forward(params, x)`` remembers what the backward pass needs. That goes in two
steps, each given the loss gradient with respect to the layer's output:

    ``input_gradient``  the gradient with respect to its input, formed before the parameters change;
    ``update``          the SGD step  target ← target − step · ∇; ``target`` may be the parameters themselves. Where
                        the weights lie in memory as the product wants them, it is taken in the product that would
                        form the gradient, so that none is stored.

``add_moment`` is an update that keeps samples apart: target ← target + Σ_samples |∇_sample|^power. The gradient of a
weight for one sample is a product of an output gradient and an input; so is its power, of their powers.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

Views = tuple[Tensor, ...]


class UnknownLayer(TypeError):
    """A layer, or a use of one, that has no stacked form."""


class Layer:
    """A layer without parameters and without effect; the base of the others.

    The parameters of ``layer`` lie from ``start`` on in the flat vector, in any order; ``places`` has them in that of
    ``names``, a bias [n] as a row [1, n]. Raises :class:`UnknownLayer` if it has others.
    """

    has_moments = True
    names: tuple[str, ...] = ("weight", "bias")

    def __init__(self, start: int = 0, layer: nn.Module | None = None) -> None:
        found = {}
        if layer is not None:
            if set(layer._parameters) != set(self.names):
                raise UnknownLayer(f"{layer} with the parameters {', '.join(layer._parameters) or 'none'}")
            for name, parameter in layer.named_parameters(recurse=False):
                found[name] = start, start + parameter.numel(), torch.atleast_2d(parameter).shape
                start += parameter.numel()
        self.places = [found[name] for name in self.names if name in found]

    def views(self, buffer: Tensor, size: int, active: int) -> Views:
        """This layer's parameters [active, …] as views of ``buffer``."""
        return tuple(buffer[size * a : size * b].view(size, *shape)[:active] for a, b, shape in self.places)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        return x

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        return gradient

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        pass

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        pass


class Linear(Layer):
    """x [A, B, in] → [A, B, out]."""

    def views(self, buffer: Tensor, size: int, active: int) -> Views:
        """Weight [A, out, in], its transpose, and the bias [A, 1, out] if there is one."""
        weight, *bias = super().views(buffer, size, active)
        weight = weight.view(*weight.shape[:2], -1)
        return weight, weight.transpose(1, 2), *bias

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._x = x
        _, transposed, *bias = params
        return torch.baddbmm(bias[0], x, transposed) if bias else torch.bmm(x, transposed)

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        return torch.bmm(gradient, params[0])

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        target[0].baddbmm_(gradient.transpose(1, 2), self._x, alpha=-step)
        for bias in target[2:]:
            bias.sub_(gradient.sum(1, keepdim=True), alpha=step)

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        powers = gradient.abs().pow_(power)
        target[0].baddbmm_(powers.transpose(1, 2), self._x.abs().pow_(power))
        for bias in target[2:]:
            bias.add_(powers.sum(1, keepdim=True))


class Activation(Layer):
    """A function of every number, with the gradient ``backward(gradient, output, …)``, which needs its output only."""

    def __init__(self, function: Callable[[Tensor], Tensor], backward: Callable[..., Tensor], *args: float) -> None:
        super().__init__()
        self._function, self._backward, self._args = function, backward, args

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._output = self._function(x)
        return self._output

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        return self._backward(gradient, self._output, *self._args)


class Flatten(Layer):
    """[A, B, …] → [A, B, features]; ``channels_last`` images [A, B, H, W, C] in PyTorch's order C, H, W."""

    def __init__(self, channels_last: bool) -> None:
        super().__init__()
        self._channels_last = channels_last

    def forward(self, params: Views, x: Tensor) -> Tensor:
        if self._channels_last:
            x = x.permute(0, 1, 4, 2, 3)
        self._shape = x.shape
        return x.flatten(2)

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        gradient = gradient.view(self._shape)
        return gradient.permute(0, 1, 3, 4, 2).contiguous() if self._channels_last else gradient
