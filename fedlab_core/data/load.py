"""Data sets by name."""

import os
import shlex

from fedlab_core.data.dataset import Dataset, DatasetNotFound
from fedlab_core.data.digits import read_digits
from fedlab_core.data.disk.files import DatasetCorrupt, locate, search_roots
from fedlab_core.data.disk.readers import read_cifar10, read_idx_dataset
from fedlab_core.data.disk.sources import DATASETS, find_source
from fedlab_core.data.synthetic import synthetic
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
        return synthetic()
    source, roots = find_source(name), search_roots(root)
    location = locate(source, roots)
    arguments = name if root is None else f"{name} --root {shlex.quote(os.fspath(root))}"
    fetch = f"`python -m fedlab_core data fetch {arguments}`"
    if location is None or location.missing:
        where = f"it is not in {' nor in '.join(map(str, roots))}"
        if location is not None:
            where = f"{location.folder} lacks {', '.join(location.missing)}"
        raise DatasetNotFound(f"{name} is not on disk: {where}. Fetch it with {fetch}.")
    try:
        return _READERS[name](source, location.files)
    except DatasetCorrupt as error:
        verify = f"`python -m fedlab_core data verify {arguments}`"
        raise DatasetCorrupt(f"{error}. Check the set with {verify}; {fetch} replaces it.") from error
