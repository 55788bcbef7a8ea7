"""Folders of images with one folder per class."""

from pathlib import Path
from typing import Any

from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.pytorch import Pairs, torch_dataset

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


def image_folder(
    path: str | Path, *, users: bool = False, test: float | str | Path = 0.2, name: str | None = None, **options: Any
) -> FederatedDataset | Dataset:
    """Read ``path``/class/image.png as a data set, or with ``users`` ``path``/user/class/image.png as a federation.

    ``x`` float32 [n, C, H, W] in [0, 1]. Transparency is dropped. ``test``: the held-out fraction of the images, or
    another folder of the same form. ``options``: ``size``, ``channels`` and the others of
    :func:`fedlab_core.read.torch_dataset`; without ``size`` and ``channels``, all images must be alike. Hidden files
    and files with other suffixes are ignored. ``ValueError`` names an image that is damaged or differs.
    """
    train = _images(Path(path), users)
    held_out = _images(Path(test), users) if isinstance(test, (str, Path)) else test
    owners = [file.parts[-3] for file, _ in train] if users else None
    return torch_dataset(train, held_out, users=owners, name=name or Path(path).resolve().name, **options)


def _images(folder: Path, users: bool) -> Pairs:
    """The image files, sorted by path, each with the name of its folder."""
    form, pattern = ("user/class/image", "[!.]*/[!.]*/[!.]*") if users else ("class/image", "[!.]*/[!.]*")
    files = sorted(file for file in folder.glob(pattern) if file.suffix.lower() in _SUFFIXES)
    if not files:
        raise ValueError(f"{folder}: must be a folder with images as {form} ({', '.join(_SUFFIXES)}) if users={users}")
    return Pairs((file, file.parent.name) for file in files)
