"""From samples, targets and users to a data set or a federation: the last step of every reader."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
import torch

from fedlab_core import validation
from fedlab_core.aliases import Column
from fedlab_core.clients import members_of
from fedlab_core.data import Dataset, FederatedDataset, Split
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import stream
from fedlab_core.read.consistency import check_classes, check_regression, check_users

Task = Literal["auto", "classification", "regression"]
Label: TypeAlias = str | int | float  # of a class, as it is in the data


class Samples(NamedTuple):
    """Samples ``x`` [n, …], their targets ``y`` [n, …], and the user of each, [n] or None."""

    x: torch.Tensor
    y: np.ndarray
    users: np.ndarray | None = None


def assembled(
    name: str,
    what: str,
    train: Samples,
    test: Samples | float,
    *,
    names: Sequence[str] | None = None,
    min_samples: int = 1,
    seed: int = 0,
    task: Task = "auto",
    classes: Sequence[Label] | None = None,
    standardize: bool = False,
) -> FederatedDataset | Dataset:
    """Build a federation of the users of ``train``, or a data set if there are no users.

    ``what``: the targets, for messages. ``test``: the test samples, or the fraction of each user's
    samples to hold out, but never all. ``names``: the names of the labels 0, 1, …, if the data
    define them. :func:`fedlab_core.read.frame` explains the options.
    """
    x, y, users = train
    validation.integer("min_samples", min_samples, minimum=1)
    validation.choice("task", task, get_args(Task))
    if users is None and min_samples > 1:
        raise ValueError(f"min_samples={min_samples}: needs users, but the data have none")
    user_names, owner = _owners(users, len(y))
    groups = _large(owner, min_samples)
    rows = np.sort(np.concatenate(groups))
    labels = _labels(what, _complete(what, y[rows]), task, classes, names)
    if not isinstance(test, Samples):
        held_out = _drawn(groups, validation.real("test", test, below=1), seed)
        rows = np.setdiff1d(rows, held_out)
        test = Samples(x[torch.from_numpy(held_out)], y[held_out])
    x_train = x[torch.from_numpy(rows)]
    x_test = test.x
    if standardize:
        x_train, x_test = _standardized(x_train, x_test)
    train_split = Split(x_train, _targets(what, y[rows], labels))
    test_split = Split(x_test, _targets(f"{what} of test", test.y, labels))
    num_classes = None if labels is None else len(labels)
    class_names = names if names and classes is None else labels or ()
    dataset = Dataset(name, train_split, test_split, num_classes, tuple(map(str, class_names)))
    if users is None:
        return dataset
    clients = members_of(owner[rows])
    parts = Partition(clients.values(), {"law": "given"})
    vars(parts)["names"] = tuple(str(user_names[client]) for client in clients)
    return FederatedDataset(replace(dataset, users=list(parts)), parts)


def _owners(users: np.ndarray | None, count: int) -> tuple[list[Any], np.ndarray]:
    """The different users, and the place of each sample's user among them, [n]."""
    if users is None:
        return [""], np.zeros(count, dtype=int)
    names = _in_order(users)
    return names, pd.Index(names).get_indexer(pd.Index(users))


def _large(owner: np.ndarray, min_samples: int) -> list[np.ndarray]:
    """The samples of each user with at least ``min_samples``."""
    groups = list(members_of(owner).values())
    large = [group for group in groups if len(group) >= min_samples]
    if not large:
        raise ValueError(
            f"min_samples={min_samples}: the largest user has {max(map(len, groups))} samples"
        )
    return large


def _drawn(groups: list[np.ndarray], fraction: float, seed: int) -> np.ndarray:
    """The test samples: a fraction of each user's samples, but never all of them."""
    rng = stream(validation.seed(seed), "test")
    drawn = []
    for group in groups:
        count = min(round(fraction * len(group)), len(group) - 1)
        drawn.append(rng.choice(group, count, replace=False))
    return np.sort(np.concatenate(drawn))


def checked_users(what: str, users: Column | pd.Series, count: int) -> np.ndarray:
    """``users`` as an object array [count].

    Raises ``ValueError`` for another length, missing values, or one user in several spellings.
    """
    array = np.array(users, dtype=object)
    if array.shape != (count,):
        raise ValueError(
            f"{what}: has shape {list(array.shape)}, must name one user per sample, {count} in all"
        )
    check_users(what, _complete(what, array))
    return array


def _complete(what: str, values: np.ndarray) -> np.ndarray:
    missing = int(pd.isna(values).reshape(len(values), -1).any(1).sum()) if len(values) else 0
    if missing:
        raise ValueError(
            f"{what}: {missing} of {len(values)} values are missing; leave these samples out"
        )
    return values


def _in_order(values: np.ndarray) -> list[Any]:
    """The different values in order.

    Numbers, and texts that are all whole numbers, are in order by size; everything else as texts.
    """
    different = pd.unique(values).tolist()
    if all(isinstance(value, str) and value.isdecimal() for value in different):
        return sorted(different, key=lambda text: (int(text), text))
    if any(isinstance(value, str) for value in different):
        return sorted(different, key=str)
    return sorted(different)


def _labels(
    what: str,
    y: np.ndarray,
    task: Task,
    classes: Sequence[Label] | None,
    names: Sequence[str] | None,
) -> list[Label] | None:
    """All labels in the order of their numbers; None for a regression."""
    if classes is not None:
        is_list_of_different = not isinstance(classes, str) and len({*classes}) == len(classes)
        if not is_list_of_different or task == "regression":
            raise ValueError(
                f"classes={classes!r}: must be a list of different labels, and for classes only"
            )
    if task == "regression":
        return None
    if task == "auto" and y.dtype.kind == "f" and classes is None:
        check_regression(what, y)
        return None
    if classes or names:
        return list(classes or range(len(names or ())))
    labels = _in_order(y)
    check_classes(what, labels)
    return labels


def _targets(what: str, y: np.ndarray, labels: list[Label] | None) -> torch.Tensor:
    """Targets as float32 numbers, or as int64 positions in ``labels``."""
    if labels is None:
        return torch.from_numpy(_complete(what, y).astype(np.float32))
    numbers = pd.Index(labels).get_indexer(pd.Index(_complete(what, y)))
    unknown = y[numbers < 0]
    if len(unknown):
        raise ValueError(
            f"{what}: {len(unknown)} of {len(y)} labels are not among the {len(labels)} classes of "
            f"the training data, for example {_in_order(unknown)[:5]}. List all classes: "
            "classes=[…]"
        )
    return torch.from_numpy(numbers.astype(np.int64))


def _standardized(train: torch.Tensor, test: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale both by mean and deviation of ``train``.

    Features that are constant in ``train`` are only centred.
    """
    if not train.is_floating_point():
        raise ValueError("standardize=True: needs samples of floats, got integers (token ids)")
    mean = train.double().mean(0)
    deviation = train.double().std(0, correction=0)
    deviation = torch.where(train.amax(0) > train.amin(0), deviation, 1.0)
    scaled_train = (train.double() - mean) / deviation
    scaled_test = (test.double() - mean) / deviation
    return scaled_train.to(train.dtype), scaled_test.to(test.dtype)
