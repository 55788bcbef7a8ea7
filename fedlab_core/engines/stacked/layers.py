"""Layers that work on a whole cohort: every tensor has a leading client dimension A.

``views(buffer, size, active)`` finds the parameters of the first ``active`` of ``size`` clients in
a buffer, and ``forward(params, x)`` stores what the backward pass needs. Given the loss gradient
with respect to the output, ``input_gradient`` is that with respect to the input, formed before the
parameters change; ``update`` is the SGD step target ← target − step · ∇, where ``target`` may be
the parameters; ``add_moment`` adds Σ_samples |∇_sample|^power.
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
    """A layer without effect. The parameters of ``layer`` begin at ``start`` in the flat vector; a
    bias is [1, n].
    """

    has_moments = True
    names: tuple[str, ...] = ("weight", "bias")
    _row: Tensor | None = None

    def __init__(self, start: int = 0, layer: nn.Module | None = None) -> None:
        found = {}
        if layer is not None:
            if set(layer._parameters) != set(self.names):
                raise UnknownLayer(
                    f"{layer} with the parameters {', '.join(layer._parameters) or 'none'}"
                )
            for name, parameter in layer.named_parameters(recurse=False):
                found[name] = start, start + parameter.numel(), torch.atleast_2d(parameter).shape
                start += parameter.numel()
        self.places = [found[name] for name in self.names if name in found]

    def views(self, buffer: Tensor, size: int, active: int) -> Views:
        """This layer's parameters [active, …] as views of ``buffer``."""
        return tuple(
            buffer[size * a : size * b].view(size, *shape)[:active] for a, b, shape in self.places
        )

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
    """A function of every number, whose gradient ``backward(gradient, output, …)`` needs only its
    output.

    ``backward`` has PyTorch's argument ``grad_input`` for the result, which here replaces the
    gradient above.
    """

    def __init__(
        self, function: Callable[[Tensor], Tensor], backward: Callable[..., Tensor], *args: float
    ) -> None:
        super().__init__()
        self._function = function
        self._backward = backward
        self._args = args

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._output = self._function(x)
        return self._output

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        result = gradient if gradient.is_contiguous() else torch.empty_like(self._output)
        return self._backward(gradient, self._output, *self._args, grad_input=result)


class Flatten(Layer):
    """[A, B, …] → [A, B, features]; given a ``workspace``, images [A, B, H, W, C] in PyTorch's
    order C, H, W.

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
    """Token ids [A, B, T] → vectors [A, B, T, D]; reads and changes only the rows of tokens in the
    batch.
    """

    has_moments = False
    names = ("weight",)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._rows = (
            x.flatten(1) + params[0].shape[1] * torch.arange(len(x), device=x.device)[:, None]
        ).flatten()
        return params[0].flatten(0, 1).index_select(0, self._rows).view(*x.shape, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        target[0].flatten(0, 1).index_add_(0, self._rows, gradient.flatten(0, 2), alpha=-step)
