"""Data sets of Hugging Face's ``datasets`` and partitions of Flower's ``flwr-datasets``. Neither is imported."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.pytorch import Pairs, torch_dataset


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
    joined as features. ``options``: those of :func:`fedlab_core.read.torch_dataset`.
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
        users = None if user is None else train.with_format(None)[validation.choice("user", user, train.column_names)]
        return torch_dataset(pairs, held_out, users=users, name=name, **options)
    if user is not None or not clients:
        raise ValueError(
            f"user={user!r}: the data are split among {len(clients)} clients; must be None, with ≥ 1 client"
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
        return Pairs(((row[columns[0]], row[y]) for row in map(rows.__getitem__, range(len(rows)))), names)
    features = np.stack([np.asarray(rows[column], dtype=np.float32) for column in columns], axis=1)
    return Pairs(zip(features, rows[y], strict=True), names)
