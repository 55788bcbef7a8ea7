"""Pooling for a cohort: the maximum or the mean over k×k tiles."""

import torch
from torch import Tensor, nn

from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.layers import Layer, Views


class Pool2d(Layer):
    """[A, B, H, W, C] → [A, B, H', W', C] by PyTorch's pooling, which writes into buffers.

    ``gradient_name``: the buffer for the gradient of the images. A new tensor for it would cost
    more than the rest.
    """

    def __init__(
        self,
        layer: nn.MaxPool2d | nn.AvgPool2d,
        workspace: Workspace,
        name: str,
        gradient_name: str = "gradient",
    ) -> None:
        super().__init__()
        size = layer.kernel_size
        self._size = list(size) if isinstance(size, tuple) else [size, size]
        self._is_mean = isinstance(layer, nn.AvgPool2d)
        self._workspace = workspace
        self._integers: Workspace | None = None
        self._name = name
        self._gradient_name = gradient_name

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._x = x
        clients, batch, height, width, channels = x.shape
        shape = clients, batch, height // self._size[0], width // self._size[1], channels
        output = self._workspace.empty(self._name, *shape)
        if self._is_mean:
            torch.ops.aten.avg_pool2d.out(_as_images(x), self._size, out=_as_images(output))
        else:
            if self._integers is None:
                self._integers = Workspace(torch.empty(0, dtype=torch.int64, device=x.device))
            # of each maximum in its image
            self._places = _as_images(self._integers.empty("places", *shape))
            torch.ops.aten.max_pool2d_with_indices.out(
                _as_images(x), self._size, out=_as_images(output), indices=self._places
            )
        return output

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        below = self._workspace.empty(self._gradient_name, *self._x.shape)
        given = _as_images(gradient), _as_images(self._x), self._size, self._size, [0, 0]
        if self._is_mean:
            torch.ops.aten.avg_pool2d_backward.grad_input(
                *given, False, True, None, grad_input=_as_images(below)
            )
        else:
            torch.ops.aten.max_pool2d_with_indices_backward.grad_input(
                *given, [1, 1], False, self._places, grad_input=_as_images(below)
            )
        return below


def _as_images(x: Tensor) -> Tensor:
    """[A, B, H, W, C] as [A·B, C, H, W] for PyTorch's pooling, channels-last in memory."""
    return x.flatten(0, 1).permute(0, 3, 1, 2)
