"""Which way of convolving is fastest on a processor: a rule that counts work.

There are two ways. *Patches* copies every k×k patch of the input and multiplies the patches of all
clients with the weights in one call. *Each* calls PyTorch's convolution once for each client. A
grouped convolution of all clients is faster than both in some passes of small images, with its
copies, which put the channels of all clients side by side (``python benchmarks/convolutions.py
--ways``). With it as a third way, 33 whole networks took .90 to 1.06 of the time, 1.00 in the
median: too little for its code.
"""

from dataclasses import dataclass
from typing import Literal

Way = Literal["patches", "each"]

# Nanoseconds on one core of an AMD EPYC with AVX-512 in single precision, rounded from separate
# timings of products, copies and calls for thirteen convolutions. `python
# benchmarks/convolutions.py --ways` times whole passes, to check the choice: it was right in 62 of
# 66, and cost 1 to 38 % in the others.
LANES = 16  # numbers in a register
PATCH_PRODUCT = 0.025  # one multiplication with its addition in a product of matrices,
EACH_PRODUCT = 0.02  # and in PyTorch's convolution,
EACH_SINGLE = 0.035  # which is slower for a single input channel
CALL = 40_000.0  # one call of PyTorch's convolution, which also arranges its arguments
STACK = 0.25  # one number of its output, copied among those of the other clients
COPY_RAW = 0.15  # one number of a patch of raw images, copied in runs of a row of the output
COPY = 0.08  # one number of a patch of other images,
COPY_RUN = 5.5  # and one run of them: the channels of a row of the patch
ADD = 0.2  # one number of a patch's gradient, added to the gradient of the image,
ADD_RUN = 10.0  # and one run of them: the channels of a pixel


@dataclass(frozen=True)
class Geometry:
    """The numbers that decide how much work the convolution of one image is."""

    channels: int
    filters: int
    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]

    def output_size(self, height: int, width: int) -> tuple[int, int]:
        """The rows and columns of the output for images [H, W]."""
        sizes = zip((height, width), self.kernel, self.stride, self.padding, strict=True)
        rows, columns = (
            (size + 2 * padding - k) // stride + 1 for size, k, stride, padding in sizes
        )
        return rows, columns

    @property
    def area(self) -> int:
        """The pixels under one filter."""
        return self.kernel[0] * self.kernel[1]


@dataclass(frozen=True)
class Ways:
    """The way of each of the three passes."""

    forward: Way
    weight_gradient: Way
    input_gradient: Way


def fastest(geometry: Geometry, places: int, is_raw: bool) -> Ways:
    """The fastest ways for ``places`` output pixels of one client: the batch size times the rows
    times the columns.

    Both ways do the same products, and one of them does more beside the products. Patches cost a
    copy, in the input gradient a sum over overlapping patches. PyTorch's convolution costs a call
    for each client. Registers that the channels do not fill are filled up with zeros: by PyTorch
    the output channels in the forward pass, the input channels in the input gradient, the filters
    and half as far the input channels in the weight gradient (up to three input channels have a
    kernel of their own); by a product of matrices the filters, at half the speed in the forward
    pass.
    """
    channels = geometry.channels
    filters = geometry.filters
    wide_filters = _filled(filters, LANES)
    numbers = places * geometry.area * channels  # in the patches
    copy_raw = COPY_RAW * numbers
    copy = copy_raw if is_raw else COPY * numbers + COPY_RUN * places * geometry.kernel[0]
    add = ADD * numbers + ADD_RUN * places * geometry.area
    slow = 2 if filters < LANES else 1
    patches = {
        "forward": copy + PATCH_PRODUCT * numbers * wide_filters * slow,
        "weight_gradient": copy + PATCH_PRODUCT * numbers * wide_filters,
        "input_gradient": add + PATCH_PRODUCT * numbers * (filters + LANES / 2),
    }
    product = EACH_PRODUCT if channels > 1 else EACH_SINGLE
    places_in_kernel = places * geometry.area
    filled = places_in_kernel * _filled(channels, LANES)
    half_filled = numbers if channels <= 3 else places_in_kernel * _filled(channels, LANES // 2)
    each = {
        "forward": CALL + product * numbers * wide_filters + STACK * places * filters,
        "weight_gradient": CALL + product * half_filled * wide_filters,
        "input_gradient": CALL + product * filled * filters + STACK * places * channels,
    }
    return Ways(**{name: "patches" if patches[name] <= each[name] else "each" for name in each})


def _filled(channels: int, lanes: int) -> int:
    """The ``channels`` with the zeros that fill the last ``lanes``."""
    return -(-channels // lanes) * lanes
