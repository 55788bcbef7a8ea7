"""The SGD step of a whole cohort through a module, as a list of cohort layers or through vmap."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import grad, vmap
from torch.nn import functional

from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.stacked.buffers import Layout, Workspace
from fedlab_core.engines.stacked.convolution import Conv2d
from fedlab_core.engines.stacked.layers import (
    Activation,
    Embedding,
    Flatten,
    Layer,
    Linear,
    Shared,
    UnknownLayer,
)
from fedlab_core.engines.stacked.losses import OutputLoss, sample_gradients, targets
from fedlab_core.engines.stacked.lstm import LSTM
from fedlab_core.engines.stacked.pooling import Pool2d
from fedlab_core.inspection import is_as_its_class, trainable
from fedlab_core.losses import Loss
from fedlab_core.models import TextLSTM

ApplyCorrection = Callable[[int], None]


class Network:
    """Forward and backward pass of A clients, for samples like ``x`` [1, …]; :class:`UnknownLayer`
    for others.
    """

    def __init__(self, module: nn.Module, loss: OutputLoss, x: Tensor) -> None:
        self._workspace = Workspace(next(module.parameters()))
        self._dtype = next(module.parameters()).dtype
        self._layers = _layers(module, self._workspace, x)
        self._loss = loss
        with torch.no_grad():
            self.outputs = module(x.clone()).shape[-1]
        self.layout = Layout([parameter.numel() for parameter in trainable(module).values()])
        self.places = [[(start, stop) for start, stop, _ in layer.places] for layer in self._layers]
        if sum(stop - start for layer in self.places for start, stop in layer) != self.layout.size:
            raise UnknownLayer("a parameter that no layer uses")
        # numbers in buffers that grow with the batch, known after the first step
        self.scratch_per_sample = 0
        self.has_moments = all(layer.has_moments for layer in self._layers)
        self._lowest = next(i for i, layer in enumerate(self._layers) if layer.places)

    def bind(self, buffer: Tensor, size: int, active: int) -> Any:
        """The parameter views that ``step`` needs, of the first ``active`` of ``size`` clients."""
        return [layer.views(buffer, size, active) for layer in self._layers]

    def targets(self, y: Tensor) -> Tensor:
        """``y`` [*] in the form that ``step`` and ``moments`` take."""
        return targets(self._loss, y, self.outputs, self._dtype)

    def step(
        self,
        params: Any,
        target: Any,
        x: Tensor,
        y: Tensor,
        counts: Tensor | None,
        lr: float,
        correct: ApplyCorrection,
    ) -> None:
        """target ← corrected target − lr · ∇(mean loss of each client) at ``params``, for batches
        ``x`` [A, B, …].

        ``correct(layer)`` changes the target of one layer in place when its old values are no
        longer needed. ``counts`` [A]: the samples of each batch without padding, None means all B.
        """
        x = self._forward(params, x)
        if not self.scratch_per_sample:
            self.scratch_per_sample = self._workspace.num_values // (len(y) * y.shape[1])
        gradient, scale = self._loss(x, y, counts)
        step = lr * scale
        for i in reversed(range(self._lowest, len(self._layers))):
            layer = self._layers[i]
            below = layer.input_gradient(params[i], gradient) if i > self._lowest else gradient
            if layer.places:
                correct(i)
                layer.update(target[i], gradient, step)
            gradient = below

    def moments(
        self, params: Any, target: Any, x: Tensor, y: Tensor, counts: Tensor, power: int
    ) -> None:
        """target ← target + Σ_samples |∇(loss of one sample)|^power; arguments as for ``step``."""
        gradient = sample_gradients(self._loss, self._forward(params, x), y, counts)
        for i in reversed(range(self._lowest, len(self._layers))):
            self._layers[i].add_moment(target[i], gradient, power)
            if i > self._lowest:
                gradient = self._layers[i].input_gradient(params[i], gradient)

    def _forward(self, params: Any, x: Tensor) -> Tensor:
        for layer, views in zip(self._layers, params, strict=True):
            x = layer.forward(views, x)
        return x


class VectorisedNetwork:
    """Any other module, through ``torch.func.vmap``; clients with the same number of samples go
    together.
    """

    has_moments = False
    scratch_per_sample = 0
    outputs = 0

    def __init__(self, model: FlatModel, loss: Loss) -> None:
        def mean_loss(params: Tensor, x: Tensor, y: Tensor) -> Tensor:
            return loss(model(params, x), y)

        self.layout = Layout([model.size])
        self.places = [[(0, model.size)]]
        self._gradients = vmap(grad(mean_loss))

    def targets(self, y: Tensor) -> Tensor:
        return y

    def bind(self, buffer: Tensor, size: int, active: int) -> Any:
        return buffer.view(size, -1)[:active]

    def step(
        self,
        params: Any,
        target: Any,
        x: Tensor,
        y: Tensor,
        counts: Tensor | None,
        lr: float,
        correct: ApplyCorrection,
    ) -> None:
        if counts is None:
            gradient = self._gradients(params, x, y)
        else:
            gradient = torch.empty_like(params)
            for count in counts.unique().tolist():
                rows = torch.nonzero(counts == count).flatten()
                gradient[rows] = self._gradients(params[rows], x[rows, :count], y[rows, :count])
        correct(0)
        target.sub_(gradient, alpha=lr)


CohortModel = Network | VectorisedNetwork


def _layers(module: nn.Module, workspace: Workspace, x: Tensor) -> list[Layer]:
    if not all(map(is_as_its_class, module.modules())):
        raise UnknownLayer("a layer with a hook or its own forward, which may compute anything")
    if type(module) is TextLSTM:
        modules: list[nn.Module] = [module.embedding, module.lstm, module.output]
    else:
        modules = _pool_before_relu(_chain(module))
    if len(set(modules)) < len(modules):
        raise UnknownLayer("a layer that is used twice")
    starts = _starts(module)
    layers = list[Layer]()
    channels_last = False
    lowest = next(
        i
        for i, layer in enumerate(modules)
        if any(value.requires_grad for value in layer.parameters())
    )
    if any(map(_is_frozen, modules[:lowest])):
        frozen = nn.Sequential(*modules[:lowest])
        modules = modules[lowest:]
        layers = [Shared(frozen)]
        x = frozen(x.clone())
    for child in modules:
        layers.append(_layer(child, starts[child], workspace, layers, channels_last))
        channels_last = isinstance(child, nn.Conv2d) or (
            channels_last and not isinstance(child, nn.Flatten)
        )
    if channels_last:
        raise UnknownLayer("images as output, which here would be channels-last")
    return layers


def _chain(module: nn.Module) -> list[nn.Module]:
    if type(module) is not nn.Sequential:
        return [module]
    return [layer for child in module for layer in _chain(child)]


def _starts(module: nn.Module) -> dict[nn.Module, int]:
    """The begin of each layer's parameters in the flat vector."""
    starts = {}
    position = 0
    for child in module.modules():
        starts[child] = position
        position += sum(
            value.numel() for value in child.parameters(recurse=False) if value.requires_grad
        )
    if position != sum(value.numel() for value in trainable(module).values()):
        raise UnknownLayer("layers that share parameters")
    return starts


def _is_frozen(layer: nn.Module) -> bool:
    return any(not parameter.requires_grad for parameter in layer.parameters())


def _pool_before_relu(modules: list[nn.Module]) -> list[nn.Module]:
    """Swap ReLU and max-pool, which commute exactly: ReLU is cheaper after the pool."""
    for i in range(len(modules) - 1):
        if isinstance(modules[i], nn.ReLU) and isinstance(modules[i + 1], nn.MaxPool2d):
            modules[i], modules[i + 1] = modules[i + 1], modules[i]
    return modules


def _layer(
    child: Any, start: int, workspace: Workspace, below: Sequence[Layer], channels_last: bool
) -> Layer:
    """The cohort form of ``child`` above the layers ``below``."""
    if not type(child).__module__.startswith("torch.nn.modules") or _is_frozen(child):
        # subclasses may compute anything; frozen layers are known only at the bottom
        raise UnknownLayer(f"{child}")
    is_tiling = channels_last and getattr(child, "stride", None) == getattr(child, "kernel_size", 0)
    gradient = _gradient_buffer(below)
    match child:
        case nn.Linear():
            return Linear(start, child)
        case nn.ReLU():
            # in place if the layer below does not need its output again
            in_place = bool(below) and isinstance(below[-1], (Linear, Conv2d, Pool2d))
            relu = functional.relu_ if in_place else functional.relu
            return Activation(relu, torch.ops.aten.threshold_backward.grad_input, 0)
        case nn.Flatten(start_dim=1, end_dim=-1):
            return Flatten(workspace, gradient) if channels_last else Flatten()
        case nn.Conv2d(dilation=(1, 1), groups=1, padding_mode="zeros"):
            return Conv2d(start, child, not channels_last, workspace, gradient)
        case nn.MaxPool2d(padding=0, dilation=1, ceil_mode=False, return_indices=False) if (
            is_tiling
        ):
            return Pool2d(child, workspace, f"output of pool {len(below)}", gradient)
        case nn.AvgPool2d(padding=0, ceil_mode=False, divisor_override=None) if is_tiling:
            return Pool2d(child, workspace, f"output of pool {len(below)}", gradient)
        case nn.Tanh():
            return Activation(torch.tanh, torch.ops.aten.tanh_backward.grad_input)
        case nn.Sigmoid():
            return Activation(torch.sigmoid, torch.ops.aten.sigmoid_backward.grad_input)
        case nn.Embedding(padding_idx=None, max_norm=None, scale_grad_by_freq=False):
            return Embedding(start, child)
        case nn.LSTM(num_layers=1, batch_first=True, bias=True, bidirectional=False, proj_size=0):
            return LSTM(start, child)
    raise UnknownLayer(f"{child}")


def _gradient_buffer(below: Sequence[Layer]) -> str:
    """The name of the buffer for an input gradient: two take turns, as one is read while the other
    is written.
    """
    return f"gradient {sum(isinstance(layer, (Conv2d, Pool2d)) for layer in below) % 2}"
