"""Data sets by name."""

import os
import shlex

from fedlab_core.data.dataset import Dataset, DatasetNotFound
from fedlab_core.data.digits import read_digits
from fedlab_core.data.disk.cifar10 import read_cifar10
from fedlab_core.data.disk.files import DatasetCorrupt, Location, locate, search_roots
from fedlab_core.data.disk.idx import read_idx_dataset
from fedlab_core.data.disk.sources import DATASETS, Source, find_source
from fedlab_core.validation import choice

_READERS = {"mnist": read_idx_dataset, "fashion-mnist": read_idx_dataset, "cifar10": read_cifar10}


def load_dataset(name: str, root: str | os.PathLike[str] | None = None) -> Dataset:
    """The data set ``name``: digits, mnist, fashion-mnist, cifar10 or synthetic.

    ``root``: the data folder; by default ``$FEDLAB_DATA``, then the user cache folder. It is only read.
    ``digits`` and ``synthetic`` need no files.

    Raises ``ValueError`` for an unknown name; ``DatasetNotFound`` if the set is not on disk (nothing is downloaded
    unasked); ``DatasetCorrupt`` if a file is damaged.
    """
    choice("name", name, DATASETS)
    if name == "digits":
        return read_digits()
    if name == "synthetic":
        from fedlab_core.data.synthetic import synthetic

        return synthetic()
    source = find_source(name)
    location = locate(source, search_roots(root))
    if location is None or location.missing:
        raise DatasetNotFound(_not_found(source, location, root))
    try:
        return _READERS[name](source, location.files)
    except DatasetCorrupt as error:
        option = _root_option(root)
        raise DatasetCorrupt(
            f"{error}. Check the set with `python -m fedlab_core data verify {name}{option}`; "
            f"`python -m fedlab_core data fetch {name}{option}` replaces it."
        ) from error


def _not_found(source: Source, location: Location | None, root: str | os.PathLike[str] | None) -> str:
    if location is None:
        where = "it is not in " + " nor in ".join(str(folder) for folder in search_roots(root))
    else:
        where = f"{location.folder} lacks {', '.join(location.missing)}"
    option = _root_option(root)
    return (
        f"{source.name} is not on disk: {where}. "
        f"Fetch it with `python -m fedlab_core data fetch {source.name}{option}`."
    )


def _root_option(root: str | os.PathLike[str] | None) -> str:
    return "" if root is None else f" --root {shlex.quote(os.fspath(root))}"
