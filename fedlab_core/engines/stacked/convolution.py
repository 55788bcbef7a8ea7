"""Convolution and pooling for a cohort, as one batch of matrix products.

Images are held channel-first over the whole batch, [A, C, B, H, W]: then the output [A, O, B·H'·W'] of the product of
weights [A, O, C·k·k] and patches [A, C·k·k, B·H'·W'] is already in that layout, and patches are copied in runs of W'.
"""

import torch
from torch import nn
from torch.nn import functional

from fedlab_core.engines.stacked.layers import Layer, Views
from fedlab_core.engines.stacked.workspace import Workspace


class Images(Layer):
    """Samples [A, B, C, H, W] → [A, C, B, H, W], a view."""

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        return x.transpose(1, 2)


class Conv2d(Layer):
    """[A, C, B, H, W] → [A, O, B, H', W'], stride 1, no padding."""

    def __init__(self, start: int, layer: nn.Conv2d, workspace: Workspace) -> None:
        super().__init__(start, [parameter.shape for parameter in layer.parameters()])
        self._height, self._width = layer.kernel_size
        self._workspace = workspace
        self._name = f"patches at {start}"

    def views(self, buffer: torch.Tensor, size: int, active: int) -> Views:
        """Weight [A, O, C·k·k], and the bias [A, O, 1] if there is one."""
        weight, *bias = super().views(buffer, size, active)
        return weight.view(*weight.shape[:2], -1), *(b.unsqueeze(2) for b in bias)

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._input_shape = x.shape
        self._patches = self._unfold(x)
        weight, *bias = params
        output = torch.baddbmm(bias[0], weight, self._patches) if bias else torch.bmm(weight, self._patches)
        return output.view(x.shape[0], -1, x.shape[2], x.shape[3] - self._height + 1, x.shape[4] - self._width + 1)

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        gradient = gradient.flatten(2)
        below = None
        if self.needs_input_gradient:
            below = self._fold(torch.bmm(params[0].transpose(1, 2), gradient))
        target[0].baddbmm_(gradient, self._patches.transpose(1, 2), alpha=-step)
        if len(target) == 2:
            target[1].sub_(gradient.sum(2, keepdim=True), alpha=step)
        return below

    def _unfold(self, x: torch.Tensor) -> torch.Tensor:
        """Every k×k patch: [A, C·k·k, B·H'·W']."""
        windows = x.unfold(3, x.shape[3] - self._height + 1, 1).unfold(4, x.shape[4] - self._width + 1, 1)
        windows = windows.permute(0, 1, 3, 4, 2, 5, 6)
        patches = self._workspace.empty(self._name, *windows.shape)
        patches.copy_(windows)
        return patches.flatten(4).flatten(1, 3)

    def _fold(self, patches: torch.Tensor) -> torch.Tensor:
        """The transpose of :meth:`_unfold`: overlapping patches add up."""
        a, c, b, h, w = self._input_shape
        rows, columns = h - self._height + 1, w - self._width + 1
        patches = patches.view(a, c, self._height, self._width, b, rows, columns)
        image = patches.new_zeros(a, c, b, h, w)
        for i in range(self._height):
            for j in range(self._width):
                image[:, :, :, i : i + rows, j : j + columns] += patches[:, :, i, j]
        return image


class MaxPool2d(Layer):
    """Maximum over k×k tiles."""

    def __init__(self, layer: nn.MaxPool2d) -> None:
        super().__init__()
        self._size = layer.kernel_size

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._x = x.flatten(0, 2)
        output, self._indices = functional.max_pool2d(self._x, self._size, return_indices=True)
        return output.view(*x.shape[:3], *output.shape[1:])

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        size = [self._size, self._size] if isinstance(self._size, int) else list(self._size)
        below = torch.ops.aten.max_pool2d_with_indices_backward(
            gradient.flatten(0, 2), self._x, size, size, [0, 0], [1, 1], False, self._indices
        )
        return below.view(*gradient.shape[:3], *below.shape[1:])


class AvgPool2d(Layer):
    """Mean over k×k tiles."""

    def __init__(self, layer: nn.AvgPool2d) -> None:
        super().__init__()
        self._size = layer.kernel_size

    def forward(self, params: Views, x: torch.Tensor) -> torch.Tensor:
        self._x = x.flatten(0, 2)
        output = functional.avg_pool2d(self._x, self._size)
        return output.view(*x.shape[:3], *output.shape[1:])

    def backward(self, params: Views, target: Views, gradient: torch.Tensor, step: float) -> torch.Tensor | None:
        size = [self._size, self._size] if isinstance(self._size, int) else list(self._size)
        below = torch.ops.aten.avg_pool2d_backward(
            gradient.flatten(0, 2), self._x, size, size, [0, 0], False, True, None
        )
        return below.view(*gradient.shape[:3], *below.shape[1:])
