"""Targets: labels of any kind as classes 0 … C − 1, the same in training and test; numbers for regression."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from fedlab_core import validation

Task = Literal["auto", "classification", "regression"]
_SHOWN = 5  # values that a message lists


@dataclass(frozen=True)
class Targets:
    """Targets ``train`` and ``test``: int64 [n] in 0 … ``num_classes`` − 1, or float32 [n, …] with None of them."""

    train: np.ndarray
    test: np.ndarray
    num_classes: int | None
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Encoding:
    """How targets are read. ``task``: "auto" makes floats a regression and everything else classes.

    ``classes``: every label that there may be, in the order of their numbers; by default those of the training data,
    sorted. ``names``: what the labels 0, 1, … are called, where the data know.
    """

    task: Task = "auto"
    classes: Sequence[Any] | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        validation.choice("task", self.task, get_args(Task))
        if self.classes is None:
            return
        if isinstance(self.classes, str) or len(set(self.classes)) < len(list(self.classes)) or not len(self.classes):
            raise ValueError(f"classes={self.classes!r}: must be a list of different labels")
        if self.task == "regression":
            raise ValueError(f"classes={self.classes!r}: there are none in a regression")

    def targets(self, what: str, train: Any, test: Any) -> Targets:
        """The targets of ``what``, an array [n] of anything, or of numbers [n, …], for training and one for test.

        Raises ``ValueError`` for missing ones, and for labels that are not among the classes.
        """
        train, test = _checked(what, train), _checked(f"{what} of the test data", test)
        if self.task == "regression" or (self.task == "auto" and train.dtype.kind == "f" and self.classes is None):
            return Targets(_numbers(what, train), _numbers(what, test), None, ())
        if train.ndim > 1:
            raise ValueError(f"{what}: classes need one label per sample, got an array of shape {list(train.shape)}")
        train, test = _as_labels(what, train), _as_labels(what, test)
        labels = list(self.classes) if self.classes is not None else self._labels(train)
        train, test = _numbered(what, train, labels), _numbered(f"{what} of the test data", test, labels)
        is_named = self.names is not None and self.classes is None
        classes = tuple(self.names or ()) if is_named else tuple(map(str, labels))
        return Targets(train, test, len(labels), classes)

    def _labels(self, train: np.ndarray) -> list[Any]:
        return list(range(len(self.names))) if self.names is not None else in_order(train)


def in_order(values: Iterable[Any]) -> list[Any]:
    """The different ``values``, sorted: numbers, and texts that are whole numbers, by their size; others as texts."""
    different = pd.unique(np.asarray(values)).tolist()
    if different and all(isinstance(value, str) for value in different):
        if all(value.isdecimal() for value in different):
            return sorted(different, key=lambda text: (int(text), text))
        return sorted(different)
    return sorted(different, key=(str if any(isinstance(value, str) for value in different) else None))


def _checked(what: str, values: Any) -> np.ndarray:
    """``values`` as an array without missing ones."""
    array = np.asarray(values)
    missing = int(pd.isna(array).reshape(len(array), -1).any(1).sum()) if array.size else 0
    if missing:
        raise ValueError(f"{what}: {missing} of {len(array)} values are missing; leave these rows out")
    return array


def _numbers(what: str, values: np.ndarray) -> np.ndarray:
    if values.size and values.dtype.kind not in "fiub":
        raise ValueError(f"{what}: regression needs numbers, got values such as {values.reshape(-1)[0]!r}")
    return values.astype(np.float32)


def _as_labels(what: str, values: np.ndarray) -> np.ndarray:
    """Labels that pandas can look up; floats must be whole numbers."""
    if values.dtype.kind == "f":
        if (wrong := values[values != np.floor(values)]).size:
            raise ValueError(f"{what}: {wrong[0]} is no class; task='regression' takes such targets as they are")
        return values.astype(np.int64)
    return values.astype(object) if values.dtype.kind in "US" else values


def _numbered(what: str, values: np.ndarray, labels: list[Any]) -> np.ndarray:
    """The place of each value among the ``labels``."""
    numbers = np.asarray(pd.Index(labels).get_indexer(pd.Index(values)), dtype=np.int64)
    unknown = numbers < 0
    if unknown.any():
        found = in_order(values[unknown])
        listed = ", ".join(map(repr, found[:_SHOWN])) + (", …" if len(found) > _SHOWN else "")
        raise ValueError(
            f"{what}: {int(unknown.sum())} of {len(values)} labels are not among the {len(labels)} classes of the "
            f"training data: {listed}. Name all that there may be: classes=[…]"
        )
    return numbers
