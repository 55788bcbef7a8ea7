"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

A layer keeps no parameters. ``views(buffer, size, active)`` finds its own, of the first ``active`` clients, in a buffer
of ``size`` clients (``buffers.py``). ``forward(params, x)`` remembers what the backward pass needs. That goes in two
steps, each given the loss gradient with respect to the layer's output:

    ``input_gradient``  the gradient with respect to its input, formed before the parameters change;
    ``update``          the SGD step  target ← target − step · ∇; ``target`` may be the parameters themselves.

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


class Embedding(Layer):
    """Token ids [A, B, T] → vectors [A, B, T, D]."""

    has_moments = False
    names = ("weight",)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._rows = x.flatten(1)
        self._clients = torch.arange(len(x), device=x.device)[:, None]
        return params[0][self._clients, self._rows].view(*x.shape, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        change = gradient.reshape(*self._rows.shape, -1) * -step
        target[0].index_put_((self._clients, self._rows), change, accumulate=True)


class LSTM(Layer):
    """One LSTM layer, batch first: [A, B, T, D] → its state after the last token, [A, B, H].

    Gates in PyTorch's order i, f, g, o: gates_t = W_ih x_t + b_ih + W_hh h_{t−1} + b_hh;
    c_t = σ(f) c_{t−1} + σ(i) tanh(g);  h_t = σ(o) tanh(c_t).
    """

    has_moments = False
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")

    def forward(self, params: Views, x: Tensor) -> Tensor:
        weight_ih, weight_hh, bias_ih, bias_hh = params
        clients, batch, length, _ = x.shape
        self._x = x.transpose(1, 2).reshape(clients, length * batch, -1)
        inputs = torch.baddbmm(bias_ih + bias_hh, self._x, weight_ih.transpose(1, 2))
        inputs = inputs.view(clients, length, batch, -1)
        h = x.new_zeros(clients, batch, weight_hh.shape[2])
        c = torch.zeros_like(h)
        self._states, self._cells, self._gates = [h], [c], []
        for t in range(length):
            i, f, g, o = torch.baddbmm(inputs[:, t], h, weight_hh.transpose(1, 2)).chunk(4, dim=2)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            c = f * c + i * g
            h = o * torch.tanh(c)
            self._gates.append((i, f, g, o))
            self._states.append(h)
            self._cells.append(c)
        return h

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        weight_ih, weight_hh, _, _ = params
        dh, dc = gradient, torch.zeros_like(gradient)
        steps = []
        for t in reversed(range(len(self._gates))):
            i, f, g, o = self._gates[t]
            tanh_c = torch.tanh(self._cells[t + 1])
            dc = dc + dh * o * (1 - tanh_c * tanh_c)
            di, df, dg, do = dc * g, dc * self._cells[t], dc * i, dh * tanh_c
            d_gates = torch.cat([di * i * (1 - i), df * f * (1 - f), dg * (1 - g * g), do * o * (1 - o)], dim=2)
            steps.append(d_gates)
            dh, dc = torch.bmm(d_gates, weight_hh), dc * f
        clients, batch = gradient.shape[:2]
        self._gradient = torch.stack(steps[::-1], dim=1).view(clients, -1, weight_ih.shape[1])
        below = torch.bmm(self._gradient, weight_ih)
        return below.view(clients, -1, batch, weight_ih.shape[2]).transpose(1, 2)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        """Uses the gradient of all gates, which ``input_gradient`` has left."""
        before = torch.stack(self._states[:-1], dim=1).view(len(gradient), -1, gradient.shape[2])
        target[0].baddbmm_(self._gradient.transpose(1, 2), self._x, alpha=-step)
        target[1].baddbmm_(self._gradient.transpose(1, 2), before, alpha=-step)
        for bias in target[2:]:
            bias.sub_(self._gradient.sum(1, keepdim=True), alpha=step)
