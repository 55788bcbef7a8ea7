"""Data sets of Hugging Face's ``datasets``, and the partitions of Flower's ``flwr-datasets``.

Neither library is imported: what they give is used by its methods.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset
from fedlab_core.read.federation import Samples, SplitBy, assembled, is_share, of_users, plan_of
from fedlab_core.read.labels import Encoding, Task
from fedlab_core.read.pixels import Size, checked_size, pixels
from fedlab_core.read.samples import stacked


def hugging_face(
    train: Any,
    test: Any = None,
    *,
    x: str | Sequence[str],
    y: str,
    user: str | None = None,
    size: Size | None = None,
    channels: int | None = None,
    split_by: SplitBy = "user",
    min_samples: int = 1,
    seed: int = 0,
    task: Task = "auto",
    classes: Sequence[Any] | None = None,
    standardize: bool = False,
    name: str = "hugging face",
) -> FederatedDataset | Dataset:
    """Columns ``x`` and ``y`` of a data set of Hugging Face.

    ``train`` a ``datasets.Dataset``; a ``DatasetDict`` with a "train", whose "test" is taken if no other is given; a
    list of data sets, one for each client; or a ``FederatedDataset`` or partitioner of ``flwr_datasets``, whose
    partitions are the clients. A single data set makes a federation if the column ``user`` names who holds a sample.
    ``test`` a data set, or the share of ``train`` to be held out; by default 0.2 where there is no "test".

    ``x`` a column of images (float32 [n, C, H, W] in [0, 1], stretched to ``size`` and of so many ``channels`` if
    given) or of numbers of one shape; or several columns of numbers, which become features side by side. ``y``: a
    ``ClassLabel`` keeps its names and its order. The rest is as in :func:`fedlab_core.read.frame`.

    Raises ``ValueError`` for columns that are not there, hold texts or lack values, naming the sample.
    """
    clients, names, own_test = _found(train)
    test = test if test is not None else own_test if own_test is not None else 0.2
    plan = plan_of(test, split_by=split_by, min_samples=min_samples, seed=seed, standardize=standardize)
    columns = [x] if isinstance(x, str) else list(x)
    sources = clients if is_share(test) else [*clients, test]
    for source in sources:
        _check(source, columns, y)
    if user is not None:
        if names is not None:
            raise ValueError(f"user={user!r}: these data are dealt out already, into {len(clients)} partitions")
        validation.choice("user", user, clients[0].column_names)
    encoding = Encoding(task, classes, getattr(clients[0].features[y], "names", None))
    wanted = None if size is None else checked_size(size)

    def samples(sources: list[Any], users: Any, title: str) -> Samples:
        found = [_inputs(source, columns, channels, wanted, title) for source in sources]
        _check_same(found)
        targets = np.concatenate([_column(source, y) for source in sources])
        return of_users(torch.cat(found), targets, users, f"user {user!r}")

    if names is not None:
        users: Any = np.repeat(np.array(names, dtype=object), [len(client) for client in clients])
    else:
        users = None if user is None else np.array(list(clients[0][user]), dtype=object)
    held_out = None if is_share(test) else samples([test], None, f"{name}, test")
    return assembled(name, f"y {y!r}", samples(clients, users, name), held_out, plan, encoding)


def _found(train: Any) -> tuple[list[Any], list[Any] | None, Any]:
    """The data sets of ``train``, who holds each if that is said, and the test set that comes with them."""
    if hasattr(train, "load_partition"):  # of flwr_datasets: a federated data set, or a partitioner
        partitioner, test = train, None
        if hasattr(train, "partitioners"):
            split = "train" if "train" in train.partitioners else next(iter(train.partitioners))
            train.load_partition(0, split)  # before it nothing is prepared
            partitioner = train.partitioners[split]
            test = _test_of(train)
        clients = [partitioner.load_partition(k) for k in range(partitioner.num_partitions)]
        natural = getattr(partitioner, "partition_id_to_natural_id", None) or {}
        return clients, [natural.get(k, k) for k in range(len(clients))], test
    if isinstance(train, Mapping):
        return [train[validation.choice("split", "train", train)]], None, train.get("test")
    if isinstance(train, (list, tuple)):
        if not train:
            raise ValueError("train=[]: must hold at least one data set")
        return list(train), list(range(len(train))), None
    return [train], None, None


def _test_of(federated: Any) -> Any:
    """The split "test" of a federated data set of flwr_datasets; None if there is none."""
    try:
        return federated.load_split("test")
    except (KeyError, ValueError):
        return None


def _check(source: Any, columns: Sequence[str], y: str) -> None:
    if not hasattr(source, "column_names") or not hasattr(source, "features"):
        raise ValueError(f"data: must be a datasets.Dataset with columns, got {type(source).__name__}")
    if not len(source):
        raise ValueError("data: a data set, or a partition, holds no samples")
    for where, column in (*(("x", column) for column in columns), ("y", y)):
        validation.choice(where, column, source.column_names)
        if where == "x" and getattr(source.features[column], "dtype", "") in ("string", "large_string"):
            raise ValueError(f"x={column!r}: holds texts; make numbers of them first, such as token ids of one length")


def _inputs(
    source: Any, columns: Sequence[str], channels: int | None, size: tuple[int, int] | None, title: str
) -> torch.Tensor:
    """The samples [n, …] of one data set."""
    if len(columns) == 1:
        return stacked(_values(source, columns[0], channels, size), len(source), f"x {columns[0]!r}", title)
    numbers = []
    for column in columns:
        values = _column(source, column)
        if values.dtype.kind not in "fiub":
            raise ValueError(f"x={column!r}: holds {values.dtype}, not numbers")
        if missing := int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0:
            raise ValueError(f"x={column!r}: {missing} of {len(values)} values are missing")
        numbers.append(values.astype(np.float32).reshape(len(values), -1))
    return torch.from_numpy(np.concatenate(numbers, axis=1))


def _values(source: Any, column: str, channels: int | None, size: tuple[int, int] | None) -> Iterator[Any]:
    for i, row in enumerate(source.with_format(None).select_columns([column])):
        value = row[column]
        if value is None:
            raise ValueError(f"x={column!r}: sample {i} is missing")
        is_image = hasattr(value, "convert") and hasattr(value, "mode")
        yield pixels(value, channels, size, f"x {column!r}[{i}]") if is_image else value


def _column(source: Any, column: str) -> np.ndarray:
    return np.asarray(list(source.with_format(None)[column]))


def _check_same(tensors: list[torch.Tensor]) -> None:
    kinds = [(tensor.dtype, tensor.shape[1:]) for tensor in tensors]
    for k, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise ValueError(
                f"partition {k}: x is {kind[0]} {list(kind[1])}, that of partition 0 {kinds[0][0]} {list(kinds[0][1])}"
            )
