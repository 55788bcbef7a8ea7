"""One image as numbers, by Pillow, which is imported when an image is read."""

from pathlib import Path
from typing import Any

import numpy as np

from fedlab_core import validation

_GREY, _COLOUR = ("1", "L", "LA"), ("P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV")
Size = int | tuple[int, int]


def check_pillow() -> None:
    """``ImportError`` without Pillow."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError as error:
        raise ImportError("images need Pillow, which is not installed: pip install pillow") from error


def checked_size(size: Size) -> tuple[int, int]:
    """(height, width); ``ValueError`` for anything else."""
    pair = (size, size) if isinstance(size, int) else tuple(size)
    if len(pair) != 2:
        raise ValueError(f"size={size!r}: must be (height, width), or one number for both")
    height, width = (validation.integer("size", side, minimum=1) for side in pair)
    return height, width


def pixels(image: Any, channels: int | None, size: tuple[int, int] | None, what: str) -> np.ndarray:
    """A Pillow image as float32 [C, H, W] in [0, 1], of so many ``channels`` and stretched to ``size`` if given."""
    from PIL import Image

    found = channels_of(image, what)
    channels = channels or found
    try:
        image = image.convert("L" if channels == 1 else "RGB")
        if size is not None:
            image = image.resize(size[::-1], Image.Resampling.BILINEAR)
    except (OSError, SyntaxError) as error:
        raise ValueError(f"{what}: cannot be read as an image: {error}") from error
    array = np.asarray(image, dtype=np.float32) / 255
    return array[None] if channels == 1 else np.ascontiguousarray(array.transpose(2, 0, 1))


def channels_of(image: Any, what: str) -> int:
    """1 for grey, 3 for colour; ``ValueError`` for what has no 8 bits per channel."""
    if image.mode in _GREY:
        return 1
    if image.mode in _COLOUR:
        return 3
    raise ValueError(f"{what}: its pixels are of Pillow's mode {image.mode!r}, which has no 8 bits per channel")


def opened(file: Path) -> Any:
    """The image in a file, of which only the head is read so far; ``ValueError`` if it is none."""
    from PIL import Image, UnidentifiedImageError

    try:
        return Image.open(file)
    except (UnidentifiedImageError, OSError) as error:
        raise ValueError(f"{file}: cannot be read as an image: {error}") from error
