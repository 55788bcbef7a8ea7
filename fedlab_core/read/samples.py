"""Data sets of samples: PyTorch's, folders of images, Hugging Face's, and partitions of Flower.

All become pairs (x, y). Neither ``datasets`` nor ``flwr_datasets`` is imported.
"""

import io
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch.utils.data import Dataset as TorchDataset
from tqdm.auto import tqdm

from fedlab_core import validation
from fedlab_core.aliases import Column
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.data.dataset import as_tensor, describe
from fedlab_core.progress import watched
from fedlab_core.read.federation import Label, Samples, assembled, checked_users

_GREY = ("1", "L", "LA")
_COLOUR = ("P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV")
# Pillow would run Ghostscript on an EPS named .png
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


# a label, or the targets of a regression
Target: TypeAlias = Label | Sequence[float] | np.ndarray | torch.Tensor


class Pairs(list[tuple[object, Target]]):
    """Pairs (x, y) as a data set; ``classes``: the names of the labels 0, 1, …, or None."""

    def __init__(
        self, pairs: Iterable[tuple[object, Target]], classes: Sequence[str] | None = None
    ) -> None:
        super().__init__(pairs)
        self.classes = classes


def torch_dataset(
    train: TorchDataset[Any] | Pairs,
    test: TorchDataset[Any] | Pairs | float = 0.2,
    *,
    users: Column | None = None,
    size: int | tuple[int, int] | None = None,
    channels: int | None = None,
    name: str | None = None,
    **options: Any,
) -> FederatedDataset | Dataset:
    """Read a map-style PyTorch data set of pairs (x, y), each sample once and through its
    transforms.

    ``users``: the user of each sample of ``train`` [n]; without users, the result is a data set.
    ``x``: tensors or arrays of one shape. Floats become float32 and integers int64; bytes in three
    axes and Pillow images become float32 [C, H, W] in [0, 1]. ``size``: (height, width), or one
    number for both, to which Pillow images are stretched (bilinear). ``channels`` of Pillow images:
    1 for grey, 3 for colour. ``y``: a label, or floats for a regression. ``test``: another data
    set, or the held-out fraction. ``name``: by default the name of the class. ``options``:
    ``min_samples``, ``seed``, ``task``, ``classes`` and ``standardize`` as in
    :func:`fedlab_core.read.frame`.

    Raises ``ValueError``, naming the sample, for an item that is not a pair or differs in shape
    from the first one.
    """
    validation.choice("channels", channels, (None, 1, 3))
    sides = size if size is None or isinstance(size, tuple) else (size, size)
    for side in sides or ():
        validation.integer("size", side, minimum=1)
    title = name or type(train).__name__
    samples = _read("train", train, title, sides, channels)
    if users is not None:
        samples = samples._replace(users=checked_users("users", users, len(samples.y)))
    held_out: Samples | float
    if isinstance(test, Real):
        held_out = test
    else:
        held_out = _read("test", test, f"{title}, test", sides, channels)
    names = _class_names(train)
    return assembled(title, "y", samples, held_out, names=names, **options)


def _class_names(data: TorchDataset[Any] | Pairs) -> Sequence[str] | None:
    """The names of the labels 0, 1, …, if the data set has texts as names."""
    names = getattr(data, "classes", None)
    if isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names):
        return names
    return None


def image_folder(
    path: str | Path,
    *,
    users: bool = False,
    test: float | str | Path = 0.2,
    name: str | None = None,
    **options: Any,
) -> FederatedDataset | Dataset:
    """Read ``path``/class/image.png as a data set, or with ``users`` ``path``/user/class/image.png
    as a federation.

    ``x`` float32 [n, C, H, W] in [0, 1]. Transparency is dropped. ``test``: the held-out fraction
    of the images, or another folder of the same form. ``options``: ``size``, ``channels`` and the
    others of :func:`fedlab_core.read.torch_dataset`; without ``size`` and ``channels``, all images
    must be alike. Hidden files and files with other suffixes are ignored. ``ValueError`` names an
    image that is damaged or differs.
    """
    files = _images(Path(path), users)
    held_out = _labelled(_images(Path(test), users)) if isinstance(test, (str, Path)) else test
    owners = [file.parent.parent.name for file in files] if users else None
    title = name or Path(path).resolve().name
    return torch_dataset(_labelled(files), held_out, users=owners, name=title, **options)


def hugging_face(
    train: Any,
    test: Any = None,
    *,
    x: str | Sequence[str],
    y: str,
    user: str | None = None,
    name: str = "hugging face",
    **options: Any,
) -> FederatedDataset | Dataset:
    """Read the columns ``x`` and ``y`` of a data set of Hugging Face.

    ``train``: a ``datasets.Dataset``; a ``DatasetDict`` with a split "train"; a list of data sets,
    one per client; or a partitioner of ``flwr_datasets``, whose partitions are the clients. A
    single data set becomes a federation if ``user`` names the column of users. ``test``: a data
    set, or the held-out fraction; by default the split "test" of a ``DatasetDict``, or else 0.2.
    ``x``: a column of images or of numbers of one shape; or several columns of numbers, joined as
    features. ``options``: those of :func:`fedlab_core.read.torch_dataset`.
    """
    if isinstance(train, Mapping):
        test = train.get("test") if test is None else test
        train = train[validation.choice("split", "train", train)]
    test = 0.2 if test is None else test
    held_out = _pairs("test", test, x, y) if hasattr(test, "__len__") else test
    if hasattr(train, "num_partitions"):
        natural = getattr(train, "partition_id_to_natural_id", None) or {}
        clients = {natural.get(k, k): train.load_partition(k) for k in range(train.num_partitions)}
    elif isinstance(train, (list, tuple)):
        clients = dict(enumerate(train))
    else:
        pairs = _pairs("train", train, x, y)
        users = None
        if user is not None:
            validation.choice("user", user, train.column_names)
            users = train.with_format(None)[user]
        return torch_dataset(pairs, held_out, users=users, name=name, **options)
    if user is not None or not clients:
        raise ValueError(
            f"user={user!r}: the data are split among {len(clients)} clients; must be None, with ≥ "
            "1 client"
        )
    read = [_pairs(f"train[{client!r}]", source, x, y) for client, source in clients.items()]
    users = [client for client, pairs in zip(clients, read, strict=True) for _ in pairs]
    together = Pairs((pair for pairs in read for pair in pairs), read[0].classes)
    return torch_dataset(together, held_out, users=users, name=name, **options)


def _pairs(what: str, source: Any, x: str | Sequence[str], y: str) -> Pairs:
    if not hasattr(source, "select_columns"):
        raise ValueError(f"{what}: must be a datasets.Dataset, got {type(source).__name__}")
    columns = [x] if isinstance(x, str) else list(x)
    for column in (*columns, y):
        validation.choice("y" if column == y else "x", column, source.column_names)
    rows = source.with_format(None).select_columns([*{*columns, y}])
    names = getattr(source.features[y], "names", None)
    if len(columns) == 1:
        samples = (rows[i] for i in range(len(rows)))
        return Pairs(((sample[columns[0]], sample[y]) for sample in samples), names)
    features = np.stack([np.asarray(rows[column], dtype=np.float32) for column in columns], axis=1)
    return Pairs(zip(features, rows[y], strict=True), names)


def _labelled(files: Sequence[Path]) -> Pairs:
    """Each image with the name of its folder, its class."""
    return Pairs((file, file.parent.name) for file in files)


def _images(folder: Path, users: bool) -> list[Path]:
    """The image files, sorted by path."""
    form = "user/class/image" if users else "class/image"
    pattern = "[!.]*/[!.]*/[!.]*" if users else "[!.]*/[!.]*"
    files = sorted(file for file in folder.glob(pattern) if file.suffix.lower() in _SUFFIXES)
    if not files:
        raise ValueError(
            f"{folder}: must be a folder with images as {form} ({', '.join(_SUFFIXES)}) if "
            f"users={users}"
        )
    return files


def _read(
    what: str,
    data: Any,
    title: str,
    size: tuple[int, int] | None,
    channels: int | None,
) -> Samples:
    """Read every x into one tensor and every y into an array.

    ``data``: what a person gives as a data set. ``size``, ``channels``: the form of images.
    """
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")) or not len(data):
        raise ValueError(
            f"{what}: must be a map-style data set, with samples by number and a length > 0, got "
            f"{type(data).__name__}"
        )
    x = torch.empty(0)
    y = list[object]()
    for i in tqdm(range(len(data)), desc=title, unit="sample", disable=not watched()):
        pair = data[i]
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"{what}[{i}]: must be a pair (x, y), got {pair!r:.100}")
        where = str(pair[0]) if isinstance(pair[0], Path) else f"{what}[{i}]"
        sample = as_sample(pair[0], where, size, channels)
        x = x if y else sample.new_empty(len(data), *sample.shape)
        if sample.shape != x.shape[1:] or sample.dtype != x.dtype:
            advice = (
                "crop, resize or pad them; images also take size=(height, width) and "
                "channels=1 or 3"
            )
            raise ValueError(
                f"{where}: is {describe(sample[None])}, but the first sample is {describe(x)}; "
                f"{advice}"
            )
        x[i] = sample
        target = pair[1].detach().cpu() if isinstance(pair[1], torch.Tensor) else pair[1]
        y.append(np.asarray(target).tolist())
    return Samples(x, np.asarray(y))


def as_sample(
    value: Any, what: str, size: tuple[int, ...] | None = None, channels: int | None = None
) -> torch.Tensor:
    """A sample as a tensor: floats as float32, images in [0, 1], everything else as int64.

    Images are those of Pillow, and bytes in three axes.
    """
    if isinstance(value, Path) or (hasattr(value, "convert") and hasattr(value, "mode")):
        return _pixels(value, what, size, channels)
    array = value if isinstance(value, torch.Tensor) else np.asanyarray(value)
    tensor = as_tensor(what, array[None])[0].cpu()
    if tensor.is_floating_point():
        return tensor.float()
    is_image = tensor.dtype == torch.uint8 and tensor.ndim == 3
    return tensor.float() / 255 if is_image else tensor.to(torch.int64)


def _pixels(
    image: Any, what: str, size: tuple[int, ...] | None, channels: int | None
) -> torch.Tensor:
    """A Pillow image, or the path of one, as float32 [C, H, W] in [0, 1]."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("images need Pillow: pip install pillow") from error
    try:
        if isinstance(image, Path):
            image = Image.open(io.BytesIO(image.read_bytes()), formats=_FORMATS)
        if image.mode not in _GREY + _COLOUR:
            raise ValueError(f"Pillow's mode {image.mode!r} does not have 8 bits per channel")
        is_grey = image.mode in _GREY if channels is None else channels == 1
        image = image.convert("L" if is_grey else "RGB")
        if size is not None:
            image = image.resize(size[::-1], Image.Resampling.BILINEAR)
    # damaged files raise OSError, SyntaxError, ValueError, DecompressionBombError, …
    except Exception as error:
        raise ValueError(f"{what}: cannot be read as an image: {error}") from error
    array = np.asarray(image, dtype=np.float32) / 255
    return torch.from_numpy(array[None] if is_grey else array.transpose(2, 0, 1))
