"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

``views(buffer, size, active)`` finds the parameters of the first ``active`` of ``size`` clients in a buffer, and
``forward(params, x)`` stores what the backward pass needs. Given the loss gradient with respect to the output,
``input_gradient`` is that with respect to the input, formed before the parameters change; ``update`` is the SGD step
target ← target − step · ∇, where ``target`` may be the parameters; ``add_moment`` adds Σ_samples |∇_sample|^power.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from fedlab_core.engines.stacked.buffers import Workspace

Views = tuple[Tensor, ...]
SHARED_VALUES = 2_000_000  # numbers per call of frozen layers, to save memory


class UnknownLayer(TypeError):
    """A layer, or a use of a layer, without a stacked form."""


class Layer:
    """A layer without effect. The parameters of ``layer`` begin at ``start`` in the flat vector; a bias is [1, n]."""

    has_moments = True
    names: tuple[str, ...] = ("weight", "bias")
    _row: Tensor | None = None

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

    def _ones(self, gradient: Tensor) -> Tensor:
        """Ones [A, 1, B] for a ``gradient`` [A, B, out]."""
        clients, batch, _ = gradient.shape
        if self._row is None or self._row.shape != (clients, 1, batch):
            self._row = gradient.new_ones(clients, 1, batch)
        return self._row


class Shared(Layer):
    """Frozen layers below the first trained layer, shared by all clients: [A, B, …] → [A, B, …]."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._module = module

    def forward(self, params: Views, x: Tensor) -> Tensor:
        parts = x.flatten(0, 1).split(max(1, SHARED_VALUES // x[0, 0].numel()))
        return torch.cat([self._module(part) for part in parts]).unflatten(0, x.shape[:2])


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
        target[0].baddbmm_(gradient.mT, self._x, alpha=-step)
        for bias in target[2:]:
            bias.baddbmm_(self._ones(gradient), gradient, alpha=-step)  # one call; a sum takes two

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        powers = gradient.abs().pow_(power)
        target[0].baddbmm_(powers.transpose(1, 2), self._x.abs().pow_(power))
        for bias in target[2:]:
            bias.add_(powers.sum(1, keepdim=True))


class Activation(Layer):
    """A function of every number, whose gradient ``backward(gradient, output, …)`` needs only its output.

    ``backward`` has PyTorch's argument ``grad_input`` for the result, which here replaces the gradient above.
    """

    def __init__(self, function: Callable[[Tensor], Tensor], backward: Callable[..., Tensor], *args: float) -> None:
        super().__init__()
        self._function, self._backward, self._args = function, backward, args

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._output = self._function(x)
        return self._output

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        result = gradient if gradient.is_contiguous() else torch.empty_like(self._output)
        return self._backward(gradient, self._output, *self._args, grad_input=result)


class Flatten(Layer):
    """[A, B, …] → [A, B, features]; given a ``workspace``, images [A, B, H, W, C] in PyTorch's order C, H, W.

    ``gradient_name``: the buffer for the gradient of the images.
    """

    def __init__(self, workspace: Workspace | None = None, gradient_name: str = "gradient") -> None:
        super().__init__()
        self._workspace = workspace
        self._gradient_name = gradient_name

    def forward(self, params: Views, x: Tensor) -> Tensor:
        if self._workspace is not None:
            images = x.permute(0, 1, 4, 2, 3)
            x = self._workspace.empty("flat images", *images.shape).copy_(images)
        self._shape = x.shape
        return x.flatten(2)

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        gradient = gradient.view(self._shape)
        if self._workspace is None:
            return gradient
        images = gradient.permute(0, 1, 3, 4, 2)
        return self._workspace.empty(self._gradient_name, *images.shape).copy_(images)


class Embedding(Layer):
    """Token ids [A, B, T] → vectors [A, B, T, D]; reads and changes only the rows of tokens in the batch."""

    has_moments = False
    names = ("weight",)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._rows = (x.flatten(1) + params[0].shape[1] * torch.arange(len(x), device=x.device)[:, None]).flatten()
        return params[0].flatten(0, 1).index_select(0, self._rows).view(*x.shape, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        target[0].flatten(0, 1).index_add_(0, self._rows, gradient.flatten(0, 2), alpha=-step)


class LSTM(Layer):
    """One LSTM layer, batch first: [A, B, T, D] → its state after the last token, [A, B, H].

    Gates in PyTorch's order i, f, g, o: gates_t = W_ih x_t + b_ih + W_hh h_{t−1} + b_hh;
    c_t = σ(f) c_{t−1} + σ(i) tanh(g);  h_t = σ(o) tanh(c_t), with tanh as 2 σ(2x) − 1, which is ten times as fast.
    """

    has_moments = False
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")

    def __init__(self, start: int, layer: nn.LSTM) -> None:
        super().__init__(start, layer)
        self._empty = Workspace(next(layer.parameters())).empty  # not shared with other layers

    def forward(self, params: Views, x: Tensor) -> Tensor:
        weight_ih, weight_hh, bias_ih, bias_hh = params
        (clients, batch, length, _), hidden = x.shape, weight_hh.shape[2]
        self._x = x.transpose(1, 2).flatten(1, 2)
        self._gates, self._gradient = self._empty("gates", 2, clients, length, batch, 4, hidden)
        flat, doubled, minus_one = self._gates.flatten(3), weight_hh.clone(), x.new_full((), -1.0)
        torch.baddbmm(bias_ih + bias_hh, self._x, weight_ih.mT, out=flat.flatten(1, 2))
        for of_g in (self._gates[:, :, :, 2], doubled[:, 2 * hidden : 3 * hidden]):
            of_g.mul_(2)
        states = self._empty("states", 4, clients, length + 1, batch, hidden)
        states[:, :, 0] = 0
        self._states, self._cells, self._tanh, self._through = states
        own = self._empty("gates of one token", clients, batch, 4 * hidden)
        tokens = [flat, *self._gates.unbind(3), *states[:2, :, :-1], *states[:3, :, 1:]]
        for gates, i, f, g, o, h, c, next_h, next_c, tanh in zip(*(v.unbind(1) for v in tokens), strict=True):
            torch.baddbmm(gates, h, doubled.mT, out=own)
            torch.sigmoid(own, out=gates)
            torch.add(minus_one, g, alpha=2, out=g)
            torch.mul(f, c, out=next_c).addcmul_(i, g)
            torch.add(next_c, next_c, out=tanh).sigmoid_()
            torch.add(minus_one, tanh, alpha=2, out=tanh)
            torch.mul(o, tanh, out=next_h)
        return self._states[:, -1]

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        """∂L/∂gates_t is a factor, computed for all t at once, times ∂L/∂c_t, or ∂L/∂h_t for o."""
        i, f, g, o = self._gates.unbind(3)
        tanh_c, (of_i, of_f, of_g, of_o) = self._tanh[:, 1:], self._gradient.unbind(3)
        sigmoid, tanh = torch.ops.aten.sigmoid_backward, torch.ops.aten.tanh_backward
        sigmoid(g, i, grad_input=of_i)
        sigmoid(self._cells[:, :-1], f, grad_input=of_f)
        tanh(i, g, grad_input=of_g)
        sigmoid(tanh_c, o, grad_input=of_o)
        dh, dc = gradient.clone(), torch.zeros_like(gradient)
        through = tanh(o, tanh_c, grad_input=self._through[:, 1:])
        tokens = [through, self._gradient[:, :, :, :3], of_o, self._gradient.flatten(3), f]
        for of_c, of_ifg, of_o, every, f in zip(*(reversed(v.unbind(1)) for v in tokens), strict=True):
            dc.addcmul_(dh, of_c)
            of_ifg.mul_(dc.unsqueeze(2))
            of_o.mul_(dh)
            torch.bmm(every, params[1], out=dh)
            dc.mul_(f)
        below = torch.bmm(self._gradient.flatten(3).flatten(1, 2), params[0])
        return below.unflatten(1, self._gradient.shape[1:3]).transpose(1, 2)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        """Use the gradients of all gates from ``input_gradient``."""
        gates = self._gradient.flatten(3).flatten(1, 2)
        for weight, x in zip(target, (self._x, self._states[:, :-1].flatten(1, 2)), strict=False):
            weight.baddbmm_(gates.mT, x, alpha=-step)
        for bias in target[2:]:
            bias.sub_(gates.sum(1, keepdim=True), alpha=step)
