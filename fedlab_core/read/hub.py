"""Data sets of Hugging Face's ``datasets`` and partitions of Flower's ``flwr-datasets``. Neither is imported."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import torch
from torch.utils.data import ConcatDataset

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.pytorch import as_sample, torch_dataset


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

    ``train``: a ``datasets.Dataset``; a ``DatasetDict`` with a split "train"; a list of data sets, one per client; or a
    partitioner of ``flwr_datasets``, whose partitions are the clients. A single data set becomes a federation if
    ``user`` names the column of users. ``test``: a data set, or the held-out fraction; by default the split "test" of a
    ``DatasetDict``, or else 0.2. ``x``: a column of images or of numbers of one shape; or several columns of numbers,
    joined as features. ``y``: a ``ClassLabel`` keeps its names and their order. ``options``: those of
    :func:`fedlab_core.read.torch_dataset`.

    Raises ``ValueError`` for columns that do not exist, and, naming the sample, for texts and missing values.
    """
    sources, owners = [train], None
    if isinstance(train, Mapping):
        sources, test = [train[validation.choice("split", "train", train)]], train.get("test") if test is None else test
    elif isinstance(train, (list, tuple)):
        sources, owners = list(train), list(range(len(train)))
    elif hasattr(train, "num_partitions"):
        sources = [train.load_partition(k) for k in range(train.num_partitions)]
        natural = getattr(train, "partition_id_to_natural_id", None) or {}
        owners = [natural.get(k, k) for k in range(len(sources))]
    columns, test = [x] if isinstance(x, str) else list(x), 0.2 if test is None else test
    rows = _Rows("train", sources, columns, y)
    users = None if user is None else list(sources[0].with_format(None)[validation.choice("user", user, rows.columns)])
    if owners is not None:
        if user is not None:
            raise ValueError(f"user={user!r}: the data are already split among {len(owners)} clients; leave user out")
        users = [owner for owner, source in zip(owners, sources, strict=True) for _ in range(len(source))]
    held_out = test if isinstance(test, Real) else _Rows("test", [test], columns, y)
    return torch_dataset(rows, held_out, users=users, name=name, **options)  # type: ignore[arg-type]


class _Rows(ConcatDataset[Any]):
    """The pairs (x, y) of all ``sources``, one source after another. ``classes``: the names of a ``ClassLabel``."""

    def __init__(self, what: str, sources: list[Any], x: list[str], y: str) -> None:
        if not sources or not all(
            hasattr(source, "column_names") and hasattr(source, "features") for source in sources
        ):
            found = ", ".join(type(source).__name__ for source in sources)
            raise ValueError(f"{what}: must be a datasets.Dataset, or at least one in a list, got [{found}]")
        for source in sources:
            for column in (*x, y):
                validation.choice("y" if column == y else "x", column, source.column_names)
        super().__init__([source.with_format(None).select_columns([*{*x, y}]) for source in sources])
        self.x, self.y, self.columns = x, y, sources[0].column_names
        self.classes = getattr(sources[0].features[y], "names", None)

    def __getitem__(self, i: int) -> tuple[Any, Any]:
        row = super().__getitem__(i)
        values = [row[column] for column in self.x]
        if len(values) > 1:
            values = [torch.cat([as_sample(v, f"{self.x}, sample {i}").float().flatten() for v in values])]
        return values[0], row[self.y]
