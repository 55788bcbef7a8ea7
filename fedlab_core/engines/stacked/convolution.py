"""Convolution and pooling for a cohort.

A convolution copies every k×k patch of its input and multiplies: patches × weights → [A, B·H'·W', O]. The result is
channels-last, [A, B, H', W', O]. If a single client is enough work, PyTorch's convolution is faster.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.layers import Layer, Linear, Views

LARGE = 500_000  # products for one sample


class ImageConv2d(Linear):
    """Raw images [A, B, C, H, W] → [A, B, H', W', O], stride 1, no padding; always the lowest layer."""

    def __init__(self, start: int, layer: nn.Conv2d, workspace: Workspace) -> None:
        super().__init__(start, layer)
        self._height, self._width = layer.kernel_size
        self._workspace = workspace
        self._name = f"patches of the layer at {start}"

    def forward(self, params: Views, x: Tensor) -> Tensor:
        clients, batch, _, height, width = x.shape
        rows, columns = height - self._height + 1, width - self._width + 1
        windows = x.unfold(3, rows, 1).unfold(4, columns, 1).permute(0, 2, 3, 4, 1, 5, 6)
        patches = self._workspace.empty(self._name, *windows.shape).copy_(windows)
        output = super().forward(params, patches.view(clients, -1, batch * rows * columns).transpose(1, 2))
        return output.view(clients, batch, rows, columns, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        super().update(target, gradient.flatten(1, 3), step)

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        _add_moment(target[0], target[2:], self._x, gradient, power)


class Conv2d(ImageConv2d):
    """[A, B, H, W, C] → [A, B, H', W', O], stride 1, no padding."""

    def views(self, buffer: Tensor, size: int, active: int) -> Views:
        """Weight [A, O, k, k, C], and the bias [A, 1, O] if there is one."""
        weight, *bias = Layer.views(self, buffer, size, active)
        return weight.permute(0, 1, 3, 4, 2), *bias

    def forward(self, params: Views, x: Tensor) -> Tensor:
        weight, *bias = params
        clients, batch, height, width, _ = self._input_shape = x.shape
        rows, columns = height - self._height + 1, width - self._width + 1
        windows = x.unfold(2, self._height, 1).unfold(3, self._width, 1).permute(0, 1, 2, 3, 5, 6, 4)
        patches = self._workspace.empty(self._name, *windows.shape).copy_(windows)
        self._weight = weight.flatten(2)
        flat = self._weight, self._weight.transpose(1, 2), *bias
        output = Linear.forward(self, flat, patches.view(clients, batch * rows * columns, -1))
        return output.view(clients, batch, rows, columns, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        gradient = gradient.flatten(1, 3)
        target[0].sub_(torch.bmm(gradient.mT, self._x).view(target[0].shape), alpha=step)
        for bias in target[1:]:
            bias.baddbmm_(self._ones(gradient), gradient, alpha=-step)

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        _add_moment(target[0], target[1:], self._x, gradient, power)

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        rows, columns = gradient.shape[2:4]
        patches = torch.bmm(gradient.flatten(1, 3), self._weight)
        patches = patches.view(*gradient.shape[:4], self._height, self._width, -1)
        image = patches.new_zeros(self._input_shape)
        for i in range(self._height):
            for j in range(self._width):
                image[:, :, i : i + rows, j : j + columns].add_(patches[:, :, :, :, i, j])  # += would also copy the sum
        return image


class LargeConv2d(Layer):
    """[A, B, C, H, W], or [A, B, H, W, C] if ``channels_last``, → [A, B, H', W', O]; stride 1, no padding."""

    def __init__(self, start: int, layer: nn.Conv2d, channels_last: bool) -> None:
        super().__init__(start, layer)
        self._channels_last = channels_last

    @staticmethod
    def pays(layer: nn.Conv2d, x: Tensor) -> bool:
        """Whether it is faster for images like ``x`` [1, C, H, W]; a GPU needs all clients in one call."""
        height, width = (size - k + 1 for size, k in zip(x.shape[-2:], layer.kernel_size, strict=True))
        return x.device.type == "cpu" and layer.in_channels > 1 and height * width * layer.weight.numel() > LARGE

    def forward(self, params: Views, x: Tensor) -> Tensor:
        x = x if self._channels_last else x.permute(0, 1, 3, 4, 2).contiguous()
        self._images = x.permute(0, 1, 4, 2, 3)
        bias = params[1].squeeze(1) if len(params) == 2 else [None] * len(x)
        outputs = [torch.conv2d(*client) for client in zip(self._images, params[0], bias, strict=True)]
        return torch.stack([output.permute(0, 2, 3, 1) for output in outputs])

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        below = [self._backward(k, params, gradient, [True, False, False])[0] for k in range(len(gradient))]
        return torch.stack([image.permute(0, 2, 3, 1) for image in below])

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        for k in range(len(gradient)):
            changes = self._backward(k, target, gradient, [False, True, len(target) == 2])
            for values, change in zip(target, changes[1:], strict=False):
                values[k].sub_(change, alpha=step)

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        patches = functional.unfold(self._images.flatten(0, 1), target[0].shape[-2:]).transpose(1, 2)
        _add_moment(target[0], target[1:], patches, gradient, power)

    def _backward(self, k: int, params: Views, gradient: Tensor, wanted: list[bool]) -> tuple[Tensor, ...]:
        """The ``wanted`` gradients of client k's input, weight and bias."""
        images, weight = self._images[k], params[0][k]
        geometry = [1, 1], [0, 0], [1, 1], False, [0, 0], 1  # stride, padding, dilation; not transposed; groups
        return torch.ops.aten.convolution_backward(
            gradient[k].permute(0, 3, 1, 2), images, weight, [len(weight)], *geometry, wanted
        )


class Pool2d(Layer):
    """Maximum or mean over k×k tiles of [A, B, H, W, C]."""

    def __init__(self, layer: nn.MaxPool2d | nn.AvgPool2d) -> None:
        super().__init__()
        self._size, self._is_mean = layer.kernel_size, isinstance(layer, nn.AvgPool2d)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._x = _as_images(x)
        if self._is_mean:
            output = functional.avg_pool2d(self._x, self._size)
        else:
            output, self._indices = functional.max_pool2d(self._x, self._size, return_indices=True)
        return _as_batches(output, x.shape)

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        given = _as_images(gradient), self._x, self._size, self._size, [0, 0]
        if self._is_mean:
            below = torch.ops.aten.avg_pool2d_backward(*given, False, True, None)
        else:
            below = torch.ops.aten.max_pool2d_with_indices_backward(*given, [1, 1], False, self._indices)
        return _as_batches(below, gradient.shape)


def _add_moment(weight: Tensor, bias: Views, patches: Tensor, gradient: Tensor, power: int) -> None:
    """Add Σ_samples |Σ_positions gradient · patch|^power, for ``gradient`` [A, B, H', W', O] and its ``patches``."""
    gradient = gradient.flatten(2, 3)
    patches = patches.view(*gradient.shape[:3], -1)
    own = torch.matmul(gradient.transpose(2, 3), patches).abs_().pow_(power).sum(1)
    weight.add_(own.view(weight.shape))
    for value in bias:
        value.add_(gradient.sum(2).abs_().pow_(power).sum(1, keepdim=True))


def _as_images(x: Tensor) -> Tensor:
    """[A, B, H, W, C] as [A·B, C, H, W] for PyTorch's pooling, channels-last in memory."""
    return x.flatten(0, 1).permute(0, 3, 1, 2)


def _as_batches(images: Tensor, shape: torch.Size) -> Tensor:
    """The inverse of ``_as_images``, with A and B of ``shape``."""
    return images.permute(0, 2, 3, 1).contiguous().unflatten(0, shape[:2])
