"""From samples with their targets and users to a data set, or a federation: what every reader ends with."""

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import torch

from fedlab_core import validation
from fedlab_core.data import Dataset, FederatedDataset, Split
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import stream
from fedlab_core.read.labels import Encoding, in_order

SplitBy = Literal["user", "all"]


@dataclass(frozen=True)
class Samples:
    """Samples ``x`` [n, …], their targets ``y`` [n, …] as found, and who holds each, ``users`` [n] or None."""

    x: torch.Tensor
    y: np.ndarray
    users: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, chosen: np.ndarray) -> "Samples":
        index = torch.from_numpy(chosen)
        return Samples(self.x[index], self.y[chosen], None if self.users is None else self.users[chosen])


@dataclass(frozen=True)
class Plan:
    """What is done with samples besides reading them.

    ``test``: the share of them that becomes the test set, in [0, 1), drawn with ``seed``: of each user's samples, who
    keeps at least one (``split_by="user"``), or of all together ("all"). ``min_samples``: users with fewer are left
    out, of the test set too. ``standardize``: every feature is given mean 0 and standard deviation 1 over the training
    samples; those of the test set are treated alike.
    """

    test: float = 0.0
    split_by: SplitBy = "user"
    min_samples: int = 1
    seed: int = 0
    standardize: bool = False

    def __post_init__(self) -> None:
        validation.real("test", self.test, below=1)
        validation.choice("split_by", self.split_by, get_args(SplitBy))
        validation.integer("min_samples", self.min_samples, minimum=1)
        validation.seed(self.seed)


class Users(Partition):
    """The samples of each user; ``names`` says who they are, in the order of the clients."""

    def __init__(self, parts: list[np.ndarray], names: list[str]) -> None:
        super().__init__(parts, {"law": "given"})
        self.names = tuple(names)


def is_share(test: Any) -> bool:
    """Whether ``test`` says how much is held out; otherwise it is the test data."""
    return isinstance(test, (int, float)) and not isinstance(test, bool)


def plan_of(test: Any, **given: Any) -> Plan:
    """A plan in which ``test`` is a share, or, if test data are given, none."""
    return Plan(test=test if is_share(test) else 0.0, **given)


def assembled(
    name: str, what: str, train: Samples, test: Samples | None, plan: Plan, encoding: Encoding
) -> FederatedDataset | Dataset:
    """A federation whose clients are the users of ``train``; a data set if it names none.

    ``what``: the targets, for messages. Without ``test`` samples the plan says how many of ``train`` are held out.
    """
    if not len(train):
        raise ValueError(f"{name}: holds no samples")
    train = _without_small_users(train, plan.min_samples)
    targets = encoding.targets(what, train.y, train.y[:0] if test is None else test.y)
    train = replace(train, y=targets.train)
    if test is None:
        held_out = _held_out(train, plan)
        train, test = train[np.flatnonzero(~held_out)], train[np.flatnonzero(held_out)]
    else:
        test = replace(test, y=targets.test)
    x, x_test = _standardized(train.x, test.x) if plan.standardize else (train.x, test.x)
    splits = Split(x, torch.from_numpy(train.y)), Split(x_test, torch.from_numpy(test.y))
    dataset = Dataset(name, *splits, targets.num_classes, targets.classes)
    if train.users is None:
        return dataset
    parts = Users(_grouped(train.users), [str(user) for user in in_order(train.users)])
    return FederatedDataset(replace(dataset, users=list(parts)), parts)


def of_users(x: torch.Tensor, y: np.ndarray, users: Any, what: str) -> Samples:
    """Samples that belong to ``users``, a sequence [n]; ``ValueError`` for another length or missing ones."""
    if users is None:
        return Samples(x, y)
    array = np.asarray(users)
    array = array.astype(object) if array.dtype.kind in "US" else array
    if array.shape != (len(y),):
        raise ValueError(f"{what}: must name one user per sample, {len(y)} in all, got shape {list(array.shape)}")
    if missing := int(pd.isna(array).sum()):
        raise ValueError(f"{what}: {missing} of {len(array)} values are missing; leave these rows out")
    return Samples(x, y, array)


def _without_small_users(samples: Samples, min_samples: int) -> Samples:
    if samples.users is None:
        if min_samples > 1:
            raise ValueError(f"min_samples={min_samples}: needs users, but none are given")
        return samples
    _, numbers, sizes = np.unique(pd.factorize(samples.users)[0], return_inverse=True, return_counts=True)
    if sizes.max() < min_samples:
        raise ValueError(f"min_samples={min_samples}: no user has so many; the largest of them has {sizes.max()}")
    return samples if sizes.min() >= min_samples else samples[np.flatnonzero(sizes[numbers] >= min_samples)]


def _grouped(users: np.ndarray) -> list[np.ndarray]:
    """The samples of each user, ascending; users as :func:`in_order` has them."""
    numbers = pd.Index(in_order(users)).get_indexer(pd.Index(users))
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(np.bincount(numbers))[:-1])


def _held_out(samples: Samples, plan: Plan) -> np.ndarray:
    """Which samples are for the test, a bool array [n]."""
    held_out = np.zeros(len(samples), dtype=bool)
    groups = [np.arange(len(samples))]
    if samples.users is not None and plan.split_by == "user":
        groups = _grouped(samples.users)
    rng = stream(plan.seed, "test")
    for group in groups:
        count = min(round(plan.test * len(group)), len(group) - 1)
        held_out[rng.choice(group, count, replace=False)] = True
    return held_out


def _standardized(train: torch.Tensor, test: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both on the scale of the first; a feature that is the same everywhere becomes 0."""
    if not train.is_floating_point():
        raise ValueError("standardize=True: the samples are token ids, not numbers")
    mean, deviation = train.double().mean(0), train.double().std(0, correction=0)
    deviation = torch.where(train.amax(0) > train.amin(0), deviation, 1.0)
    first, second = (((x.double() - mean) / deviation).to(x.dtype) for x in (train, test))
    return first, second
