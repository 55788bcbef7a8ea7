"""Folders of images, one folder for each class."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.federation import Samples, SplitBy, assembled, of_users, plan_of
from fedlab_core.read.labels import Encoding, in_order
from fedlab_core.read.pixels import Size, channels_of, check_pillow, checked_size, opened, pixels
from fedlab_core.read.samples import stacked

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


@dataclass(frozen=True)
class _Found:
    """The image files of a folder, with the class and, if there are any, the user of each."""

    files: list[Path]
    labels: list[str]
    users: list[str] | None


def image_folder(
    path: str | Path,
    *,
    users: bool = False,
    size: Size | None = None,
    channels: int | None = None,
    test: float | str | Path = 0.2,
    split_by: SplitBy = "user",
    min_samples: int = 1,
    seed: int = 0,
    classes: Sequence[str] | None = None,
    name: str | None = None,
) -> FederatedDataset | Dataset:
    """Images in ``path``/class/image.png: a data set; with ``users``, in ``path``/user/class/image.png: a federation.

    ``x`` float32 [n, C, H, W] in [0, 1]. ``size``: (height, width), or one number for both, to which every image is
    stretched (bilinear); by default all must have one size. ``channels``: 1 for grey, 3 for colour; by default what the
    images have, if it is the same of all. Transparency is dropped. ``classes``: the names of the folders in the order
    of their numbers, sorted by default. ``test``: a share of the images, or another folder of the same form. The rest
    is as in :func:`fedlab_core.read.frame`. Files that are no images, by their suffix, and hidden ones are left alone.

    Sizes and kinds of all images are looked at before the first is read. Raises ``ValueError``, naming the file, for
    images that are damaged or differ; ``ImportError`` without Pillow.
    """
    check_pillow()
    plan = plan_of(test, split_by=split_by, min_samples=min_samples, seed=seed)
    wanted = None if size is None else checked_size(size)
    if channels is not None:
        validation.choice("channels", channels, (1, 3))
    folders = [Path(path)] + ([Path(test)] if isinstance(test, (str, Path)) else [])
    found = [_found(folder, users) for folder in folders]
    kept = channels or 3
    if wanted is None or channels is None:
        kept = _check_alike([file for one in found for file in one.files], wanted is None, channels)
    title = name or folders[0].resolve().name

    def samples(one: _Found, whose: list[str] | None) -> Samples:
        values = (pixels(opened(file), kept, wanted, str(file)) for file in one.files)
        x = stacked(values, len(one.files), "image", title)
        return of_users(x, np.array(one.labels, dtype=object), whose, "users")

    train = samples(found[0], found[0].users)
    held_out = samples(found[1], None) if len(found) > 1 else None
    order = list(classes) if classes is not None else in_order(found[0].labels)
    return assembled(title, "class", train, held_out, plan, Encoding(classes=order))


def _found(folder: Path, users: bool) -> _Found:
    """All images, user after user, class after class, in the order of their names."""
    if not folder.is_dir():
        raise ValueError(f"{folder}: is no folder")
    if not users:
        return _Found(*_of_classes(folder, "path/class/image.png; with users=True, path/user/class/image.png"), None)
    files, labels, owners = list[Path](), list[str](), list[str]()
    for user in _folders(folder):
        own, classes = _of_classes(user, "path/user/class/image.png; with users=False, path/class/image.png")
        files, labels, owners = files + own, labels + classes, owners + [user.name] * len(own)
    if not files:
        raise ValueError(f"{folder}: holds no user's folder; images lie in path/user/class/image.png")
    return _Found(files, labels, owners)


def _of_classes(folder: Path, form: str) -> tuple[list[Path], list[str]]:
    files, labels = list[Path](), list[str]()
    for of_class in _folders(folder):
        own = [file for file in sorted(of_class.iterdir()) if _is_image(file)]
        files, labels = files + own, labels + [of_class.name] * len(own)
    if not files:
        raise ValueError(f"{folder}: no images in its folders ({', '.join(SUFFIXES)}); they lie in {form}")
    return files, labels


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()


def _check_alike(files: list[Path], of_one_size: bool, channels: int | None) -> int:
    """The channels of all ``files``; ``ValueError`` if they differ, or their sizes. Only their first bytes are read."""
    first: tuple[int, tuple[int, int]] | None = None
    for file in files:
        with opened(file) as image:
            mine = channels or channels_of(image, str(file)), image.size
        first = first or mine
        if of_one_size and mine[1] != first[1]:
            sizes = [f"{width} × {height}" for width, height in (mine[1], first[1])]
            raise ValueError(
                f"{file}: is {sizes[0]} pixels, but {files[0]} is {sizes[1]}; size=(height, width) stretches all"
            )
        if mine[0] != first[0]:
            kinds = ["grey" if count == 1 else "colour" for count in (mine[0], first[0])]
            raise ValueError(f"{file}: is {kinds[0]}, but {files[0]} is {kinds[1]}; channels=1 or 3 makes them alike")
    assert first is not None, "there is at least one file"
    return first[0]
