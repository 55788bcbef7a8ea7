"""Convolution for a cohort, in the ways that ``ways.py`` chooses from.

Images between layers are channels-last, [A, B, H, W, C]; only the lowest layer gets raw images [A,
B, C, H, W]. A patch is the k×k pixels of all channels under a filter. Patches of some clients are a
matrix [a, B·H'·W', C·k·k], whose product with the weights [a, C·k·k, O] is the output.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.layers import Layer, UnknownLayer, Views
from fedlab_core.engines.stacked.ways import Geometry, Ways, fastest

PATCH_VALUES = 500_000  # numbers in the patches of one block, which then stay in the cache
Block = tuple[slice, slice]  # some clients, and some of their samples


def geometry_of(layer: nn.Conv2d) -> Geometry:
    """The geometry of ``layer``; :class:`UnknownLayer` for unequal padding of opposite sides."""
    kernel = _pair(layer.kernel_size)
    if layer.padding == "same":
        if any(k % 2 == 0 for k in kernel):
            raise UnknownLayer(f"{layer}, which pads opposite sides unequally")
        padding = kernel[0] // 2, kernel[1] // 2
    elif isinstance(layer.padding, str):  # "valid"
        padding = 0, 0
    else:
        padding = _pair(layer.padding)
    return Geometry(layer.in_channels, layer.out_channels, kernel, _pair(layer.stride), padding)


def _pair(values: tuple[int, ...]) -> tuple[int, int]:
    height, width = values
    return height, width


class Conv2d(Layer):
    """Images → [A, B, H', W', O]; ``is_raw`` says that they are [A, B, C, H, W], not channels-last.

    ``gradient_name``: the buffer for the gradient of the images.
    """

    def __init__(
        self,
        start: int,
        layer: nn.Conv2d,
        is_raw: bool,
        workspace: Workspace,
        gradient_name: str = "gradient",
    ) -> None:
        super().__init__(start, layer)
        self._geometry = geometry_of(layer)
        self._is_raw = is_raw
        self._workspace = workspace
        # buffers limited by PATCH_VALUES, which do not grow with the
        # batch: ``scratch_per_sample`` leaves them out
        self._block_workspace = Workspace(workspace.empty("no values", 0))
        self._start = start
        self._gradient_name = gradient_name
        self._choices: dict[int, Ways] = {}

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._images = x
        self._kept: Tensor | None = None  # the patches of all clients, if they fit into one block
        height, width = x.shape[3:] if self._is_raw else x.shape[2:4]
        self._places = x.shape[1], *self._geometry.output_size(height, width)
        self._output = self._workspace.empty(
            self._buffer("output"), len(x), *self._places, self._geometry.filters
        )
        if self._ways(x).forward == "patches":
            self._forward_by_patches(params)
        else:
            self._forward_by_each(params)
        return self._output

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        if self._ways(gradient).input_gradient == "patches":
            return self._input_gradient_by_patches(params, gradient)
        return self._input_gradient_by_each(params, gradient)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        if self._ways(gradient).weight_gradient == "patches":
            self._update_by_patches(target, gradient, step)
        else:
            self._update_by_each(target, gradient, step)

    def add_moment(self, target: Views, gradient: Tensor, power: int) -> None:
        """Add Σ_samples |Σ_places gradient · patch|^power."""
        gradient = gradient.flatten(2, 3)
        weight, *bias = target
        for block, patches in self._patches():
            own = gradient[block]
            by_sample = patches.unflatten(1, own.shape[1:3])
            sums = torch.matmul(own.transpose(2, 3), by_sample).abs_().pow_(power).sum(1)
            weight[block[0]].add_(self._as_weight(sums))
        for value in bias:
            value.add_(gradient.sum(2).abs_().pow_(power).sum(1, keepdim=True))

    def _ways(self, like: Tensor) -> Ways:
        """The ways for this batch size; a GPU needs all clients in one call."""
        if like.device.type != "cpu":
            return Ways("patches", "patches", "patches")
        batch, rows, columns = self._places
        if batch not in self._choices:
            self._choices[batch] = fastest(self._geometry, batch * rows * columns, self._is_raw)
        return self._choices[batch]

    def _buffer(self, purpose: str) -> str:
        return f"{purpose} of the layer at {self._start}"

    # Patches

    def _forward_by_patches(self, params: Views) -> None:
        weight = self._as_matrix(params[0]).transpose(1, 2)
        for block, patches in self._patches():
            own = weight[block[0]]
            output = self._output[block].flatten(1, 3)
            if len(params) == 2:
                torch.baddbmm(params[1][block[0]], patches, own, out=output)
            else:
                torch.bmm(patches, own, out=output)

    def _update_by_patches(self, target: Views, gradient: Tensor, step: float) -> None:
        weight, *bias = target
        for block, patches in self._patches():
            own = weight[block[0]]
            transposed = gradient[block].flatten(1, 3).mT
            if self._is_raw:
                self._as_matrix(own).baddbmm_(transposed, patches, alpha=-step)
            else:
                own.sub_(self._as_weight(torch.bmm(transposed, patches)), alpha=step)
        gradient = gradient.flatten(1, 3)
        for value in bias:
            value.baddbmm_(self._ones(gradient), gradient, alpha=-step)  # one call; a sum takes two

    def _input_gradient_by_patches(self, params: Views, gradient: Tensor) -> Tensor:
        """The sum over all patches of their gradients; images are channels-last."""
        clients, batch, rows, columns, _ = gradient.shape
        (vertical, horizontal), (down, right) = self._geometry.padding, self._geometry.stride
        _, _, height, width, channels = self._images.shape
        padded_shape = clients, batch, height + 2 * vertical, width + 2 * horizontal, channels
        padded = self._workspace.empty(self._gradient_name, *padded_shape).zero_()
        weight = self._as_matrix(params[0])
        for block in self._blocks():
            own = padded[block]
            above = gradient[block]
            shape = *above.shape[:4], *self._geometry.kernel, channels
            patches = self._block_workspace.empty("gradient of patches", *shape)
            torch.bmm(above.flatten(1, 3), weight[block[0]], out=patches.flatten(4).flatten(1, 3))
            for i in range(self._geometry.kernel[0]):
                covered = own[:, :, i : i + down * rows : down]
                for j in range(self._geometry.kernel[1]):
                    covered[:, :, :, j : j + right * columns : right].add_(
                        patches[:, :, :, :, i, j]
                    )
        if vertical or horizontal:
            return padded[
                :, :, vertical : vertical + height, horizontal : horizontal + width
            ].contiguous()
        return padded

    def _patches(self) -> Iterator[tuple[Block, Tensor]]:
        """Blocks and their patches [a, b·H'·W', C·k·k], valid until the next block.

        They are copied again for the weight gradient, unless one block holds all of them: reading
        them from memory takes longer.
        """
        blocks = self._blocks()
        if self._kept is not None:
            yield blocks[0], self._kept
            return
        images = self._padded()
        for block in blocks:
            patches = self._copied(images[block])
            if len(blocks) == 1:
                self._kept = patches
            yield block, patches

    def _padded(self) -> Tensor:
        vertical, horizontal = self._geometry.padding
        if not (vertical or horizontal):
            return self._images
        sides = [horizontal, horizontal, vertical, vertical]
        return functional.pad(self._images, sides if self._is_raw else [0, 0, *sides])

    def _blocks(self) -> list[Block]:
        """Some clients, or some samples of one client, whose patches fit into the cache; all of
        them on a GPU.
        """
        if self._images.device.type != "cpu":
            return [(slice(None), slice(None))]
        clients = len(self._images)
        batch, rows, columns = self._places
        samples = max(
            1, PATCH_VALUES // (rows * columns * self._geometry.channels * self._geometry.area)
        )
        at_once = max(1, samples // batch)
        runs = [slice(first, first + at_once) for first in range(0, clients, at_once)]
        parts = [slice(first, first + samples) for first in range(0, batch, min(samples, batch))]
        return [(run, part) for run in runs for part in parts]

    def _copied(self, images: Tensor) -> Tensor:
        """The patches of ``images``, in the order of numbers that copies the longest runs."""
        rows, columns = self._geometry.kernel
        down, right = self._geometry.stride
        name = self._buffer("patches")
        if self._is_raw:  # [a, C, k, k, B, H', W']
            windows = (
                images.unfold(3, rows, down).unfold(4, columns, right).permute(0, 2, 5, 6, 1, 3, 4)
            )
            patches = self._block_workspace.empty(name, *windows.shape).copy_(windows)
            return patches.flatten(4).flatten(1, 3).transpose(1, 2)
        windows = (
            images.unfold(2, rows, down).unfold(3, columns, right).permute(0, 1, 2, 3, 5, 6, 4)
        )
        # [a, B, H', W', k, k, C]
        patches = self._block_workspace.empty(name, *windows.shape).copy_(windows)
        return patches.flatten(4).flatten(1, 3)

    def _as_matrix(self, weight: Tensor) -> Tensor:
        """The weights [A, O, C, k, k] as [A, O, C·k·k], in the order of the patches."""
        return weight.flatten(2) if self._is_raw else weight.permute(0, 1, 3, 4, 2).flatten(2)

    def _as_weight(self, matrix: Tensor) -> Tensor:
        """The inverse of ``_as_matrix``."""
        channels, (rows, columns) = self._geometry.channels, self._geometry.kernel
        if self._is_raw:
            return matrix.unflatten(2, (channels, rows, columns))
        return matrix.unflatten(2, (rows, columns, channels)).permute(0, 1, 4, 2, 3)

    # PyTorch's convolution for each client

    def _forward_by_each(self, params: Views) -> None:
        stride = self._geometry.stride
        padding = self._geometry.padding
        self._nchw = self._as_nchw()
        bias = params[1].squeeze(1) if len(params) == 2 else [None] * len(self._nchw)
        for images, weight, own_bias, output in zip(
            self._nchw, params[0], bias, self._output, strict=True
        ):
            output.copy_(
                torch.conv2d(images, weight, own_bias, stride, padding).permute(0, 2, 3, 1)
            )

    def _as_nchw(self) -> Tensor:
        """The images as [A, B, C, H, W], channels-last in memory, which PyTorch's convolution takes
        as they are.
        """
        if not self._is_raw:
            return self._images.permute(0, 1, 4, 2, 3)
        clients, batch, channels, height, width = self._images.shape
        copied = self._workspace.empty(
            self._buffer("images"), clients, batch, height, width, channels
        )
        copied.permute(0, 1, 4, 2, 3).copy_(self._images)
        return copied.permute(0, 1, 4, 2, 3)

    def _input_gradient_by_each(self, params: Views, gradient: Tensor) -> Tensor:
        below = self._workspace.empty(self._gradient_name, *self._images.shape)
        for k, image in enumerate(below):
            image.copy_(
                self._backward(k, params, gradient, [True, False, False])[0].permute(0, 2, 3, 1)
            )
        return below

    def _update_by_each(self, target: Views, gradient: Tensor, step: float) -> None:
        if self._ways(gradient).forward == "patches":
            self._nchw = self._as_nchw()
        for k in range(len(gradient)):
            changes = self._backward(k, target, gradient, [False, True, len(target) == 2])
            for values, change in zip(target, changes[1:], strict=False):
                values[k].sub_(change, alpha=step)

    def _backward(
        self, k: int, params: Views, gradient: Tensor, wanted: list[bool]
    ) -> tuple[Tensor, ...]:
        """The ``wanted`` gradients of client k's input, weight and bias."""
        images = self._nchw[k] if wanted[1] else self._images[k].permute(0, 3, 1, 2)
        weight = params[0][k]
        stride = list(self._geometry.stride)
        padding = list(self._geometry.padding)
        geometry = stride, padding, [1, 1], False, [0, 0], 1  # dilation; not transposed; groups
        return torch.ops.aten.convolution_backward(
            gradient[k].permute(0, 3, 1, 2), images, weight, [len(weight)], *geometry, wanted
        )
