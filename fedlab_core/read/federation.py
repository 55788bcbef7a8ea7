"""From samples, targets and users to a data set or a federation: the last step of every reader."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import torch

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset, Split
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import stream

Task = Literal["auto", "classification", "regression"]


class Samples(NamedTuple):
    """Samples ``x`` [n, …], their targets ``y`` [n, …] as found, and the user of each sample, [n] or None."""

    x: torch.Tensor
    y: np.ndarray
    users: np.ndarray | None = None


@dataclass(frozen=True)
class Options:
    """The checked options of all readers. :func:`fedlab_core.read.frame` explains them."""

    test: Any = 0.2
    min_samples: int = 1
    seed: int = 0
    task: Task = "auto"
    classes: Sequence[Any] | None = None
    standardize: bool = False

    def __post_init__(self) -> None:
        if self.is_fraction:
            validation.real("test", self.test, below=1)
        validation.integer("min_samples", self.min_samples, minimum=1)
        validation.seed(self.seed)
        validation.choice("task", self.task, get_args(Task))
        if self.classes is not None:
            different = len({*self.classes}) == len(self.classes) and not isinstance(self.classes, str)
            if not different or self.task == "regression":
                raise ValueError(f"classes={self.classes!r}: must be a list of different labels, and for classes only")

    @property
    def is_fraction(self) -> bool:
        """Whether ``test`` is the held-out fraction. Otherwise it is the test data."""
        return isinstance(self.test, Real)


def assembled(
    name: str, what: str, train: Samples, test: Samples | None, options: Options, names: Sequence[str] | None = None
) -> FederatedDataset | Dataset:
    """Build a federation of the users of ``train``, or a data set if there are no users.

    ``what``: the targets, for messages. Without ``test``, a fraction of each user's samples is held out, but never all.
    ``names``: the names of the labels 0, 1, …, if the data define them.
    """
    x, y, users = train
    if users is None and options.min_samples > 1:
        raise ValueError(f"min_samples={options.min_samples}: needs users, but the data have none")
    groups = [np.arange(len(y))] if users is None else list(_grouped(users).values())
    large = [group for group in groups if len(group) >= options.min_samples]
    if not large:
        raise ValueError(f"min_samples={options.min_samples}: the largest user has {max(map(len, groups))} samples")
    labels = _labels(what, y[np.sort(np.concatenate(large))], options, names)
    rng, fraction = stream(options.seed, "test"), options.test if options.is_fraction else 0.0
    drawn = [rng.choice(group, min(round(fraction * len(group)), len(group) - 1), replace=False) for group in large]
    held_out = np.sort(np.concatenate(drawn))
    rows = np.setdiff1d(np.concatenate(large), held_out)
    test = test or Samples(x[torch.from_numpy(held_out)], y[held_out])
    x, x_test = x[torch.from_numpy(rows)], test.x
    if options.standardize:
        x, x_test = _standardized(x, x_test)
    splits = Split(x, _encoded(what, y[rows], labels)), Split(x_test, _encoded(f"{what} of test", test.y, labels))
    classes = tuple(map(str, names if names and options.classes is None else labels or ()))
    dataset = Dataset(name, *splits, None if labels is None else len(labels), classes)
    if users is None:
        return dataset
    clients = _grouped(users[rows])
    parts = Partition(clients.values(), {"law": "given"})
    vars(parts)["names"] = tuple(map(str, clients))
    return FederatedDataset(replace(dataset, users=list(parts)), parts)


def checked_users(what: str, users: Any, count: int) -> np.ndarray:
    """``users`` as an object array [count]; ``ValueError`` for another length or missing values."""
    array = np.array(users, dtype=object)
    array[np.ma.getmask(users)] = None
    if array.shape != (count,):
        raise ValueError(f"{what}: has shape {list(array.shape)}, must name one user per sample, {count} in all")
    return _complete(what, array)


def _complete(what: str, values: np.ndarray) -> np.ndarray:
    missing = int(pd.isna(values).reshape(len(values), -1).any(1).sum()) if len(values) else 0
    if missing:
        raise ValueError(f"{what}: {missing} of {len(values)} values are missing; leave these samples out")
    return values


def _grouped(users: np.ndarray) -> dict[Any, np.ndarray]:
    """The samples of each user, ascending, and the users in their fixed order."""
    groups = pd.Series(users).groupby(users, sort=False).indices
    return {user: groups[user] for user in _in_order(list(groups))}


def _in_order(different: list[Any]) -> list[Any]:
    """Sort numbers, and texts that are all whole numbers, by size; sort everything else as texts."""
    texts = [isinstance(value, str) for value in different]
    if all(texts) and all(value.isdecimal() for value in different):
        return sorted(different, key=lambda text: (int(text), text))
    return sorted(different, key=str if any(texts) else None)


def _labels(what: str, y: np.ndarray, options: Options, names: Sequence[str] | None) -> list[Any] | None:
    """All labels in the order of their numbers; None for a regression."""
    _complete(what, y)
    is_number = options.task == "auto" and y.dtype.kind == "f" and options.classes is None
    if options.task == "regression" or is_number:
        return None
    if options.classes is not None:
        return list(options.classes)
    return list(range(len(names))) if names else _in_order(pd.unique(_as_labels(what, y)).tolist())


def _as_labels(what: str, y: np.ndarray) -> np.ndarray:
    if y.ndim > 1 or y.dtype.kind == "c":
        raise ValueError(f"{what}: {y.dtype} {list(y.shape)}: classes need one label per sample, not complex")
    if y.dtype.kind == "f" and (wrong := y[y != np.floor(y)]).size:
        raise ValueError(f"{what}: {wrong[0]} is not a class; task='regression' keeps such targets as numbers")
    return y.astype(np.int64) if y.dtype.kind == "f" else y.astype(object) if y.dtype.kind in "US" else y


def _encoded(what: str, y: np.ndarray, labels: list[Any] | None) -> torch.Tensor:
    """Targets as float32 numbers, or as int64 positions in ``labels``."""
    _complete(what, y)
    if labels is None:
        if len(y) and y.dtype.kind not in "fiub":
            raise ValueError(f"{what}: has values of type {y.dtype}, but a regression needs real numbers")
        return torch.from_numpy(y.astype(np.float32))
    y = _as_labels(what, y)
    numbers = np.asarray(pd.Index(labels).get_indexer(pd.Index(y)), dtype=np.int64)
    if unknown := pd.unique(y[numbers < 0]).tolist():
        raise ValueError(
            f"{what}: {int((numbers < 0).sum())} of {len(y)} labels are not among the {len(labels)} classes of the "
            f"training data, for example {_in_order(unknown)[:5]}. List all classes: classes=[…]"
        )
    return torch.from_numpy(numbers)


def _standardized(train: torch.Tensor, test: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale both by mean and deviation of ``train``. Features that are constant in ``train`` are only centred."""
    if not train.is_floating_point():
        raise ValueError("standardize=True: needs samples of floats, got integers (token ids)")
    mean, deviation = train.double().mean(0), train.double().std(0, correction=0)
    deviation = torch.where(train.amax(0) > train.amin(0), deviation, 1.0)
    first, second = (((x.double() - mean) / deviation).to(x.dtype) for x in (train, test))
    return first, second
