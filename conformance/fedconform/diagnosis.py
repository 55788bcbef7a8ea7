"""Compare numbers, and look for the known mistakes or the readings that give them."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from fedconform.entries import Entry
from fedconform.formulas.local_training import Answer
from fedconform.mistakes.readings import readings_of
from fedconform.mistakes.replacing import Mistake
from fedconform.tasks.task import Task

TOLERANCE = 2e-5  # of the largest number, which single precision keeps
MOST_MISTAKES = 3
FIRST = 2  # of the shortest wrong runs, the one that fewest mistakes change comes first
Sentence = TypeVar("Sentence", bound=str)
Run = tuple[Task, list[Answer]]  # a task, and what an implementation gave


def agree(got: Iterable[Answer], expected: Iterable[Answer]) -> bool:
    """Whether all numbers that the implementation gives are the expected ones."""
    for mine, right in zip(got, expected, strict=True):
        if any(gap(mine[name], right[name]) > 1 for name in mine):
            return False
    return True


def gap(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, in units of what is allowed. A mistake may give numbers that are not
    finite: these must be the same.
    """
    is_finite = np.isfinite(expected)
    if not np.array_equal(got[~is_finite], expected[~is_finite], equal_nan=True):
        return np.inf
    if not is_finite.any():
        return 0.0
    allowed = TOLERANCE * max(1.0, float(np.abs(expected[is_finite]).max()))
    largest = float(np.abs(got[is_finite] - expected[is_finite]).max() / allowed)
    return largest if np.isfinite(largest) else np.inf


def worst(got: Sequence[Answer], expected: Sequence[Answer]) -> tuple[str, float, float]:
    """The most wrong value of the first wrong round, or of the last round.

    Its name, as expected, as given.
    """
    agreed = [agree([mine], [right]) for mine, right in zip(got, expected, strict=True)]
    last = agreed.index(False) if False in agreed else len(got) - 1
    mine = got[last]
    right = expected[last]
    name = max(mine, key=lambda quantity: gap(mine[quantity], right[quantity]))
    place = np.unravel_index(np.abs(mine[name] - right[name]).argmax(), mine[name].shape)
    return f"{name}, round {last + 1}", float(right[name][place]), float(mine[name][place])


def reading(entry: Entry, good: Sequence[Run], bad: Sequence[Run]) -> tuple[Mistake, ...]:
    """The smallest set of readings that gives all numbers of an implementation; or none."""
    readings = tuple(readings_of(entry.formula))
    sets = smallest_sets(readings, MOST_MISTAKES, Search(entry, readings, good, bad).gives_all)
    return sets[0] if sets else ()


def explain(
    entry: Entry, good: Sequence[Run], bad: Sequence[Run]
) -> tuple[tuple[Mistake, ...], ...]:
    """The smallest sets of known mistakes, at most three together, that give all numbers of an
    implementation: those that are right, and those that are wrong.
    """
    search = Search(entry, entry.mistakes, good, bad)
    return smallest_sets(entry.mistakes, MOST_MISTAKES, search.gives_all)


class Search:
    """Whether mistakes give the numbers of an implementation, computed once for all sets that
    differ only in mistakes without an effect on a run.
    """

    def __init__(
        self, entry: Entry, mistakes: Sequence[Mistake], good: Sequence[Run], bad: Sequence[Run]
    ) -> None:
        self.entry = entry
        self.given: dict[tuple[int, frozenset[Mistake]], bool] = {}
        self.is_good = {id(run): False for run in bad} | {id(run): True for run in good}
        by_cost = sorted(bad, key=lambda run: sum(run[0].steps) * len(run[0].start))
        first = sorted(by_cost[:FIRST], key=lambda run: len(self.effective(run, mistakes)))
        self.runs = [*first, *by_cost[FIRST:], *good]

    def gives_all(self, mistakes: tuple[Mistake, ...]) -> bool:
        return all(self.gives(run, mistakes) for run in self.runs)

    def gives(self, run: Run, mistakes: tuple[Mistake, ...]) -> bool:
        """Whether the mistakes give the numbers of one run."""
        effective = self.effective(run, mistakes)
        if not effective:
            return self.is_good[id(run)]
        key = (id(run), frozenset(effective))
        if key not in self.given:
            with np.errstate(all="ignore"):
                self.given[key] = agree(run[1], self.entry.rounds(run[0], effective))
        return self.given[key]

    def effective(self, run: Run, mistakes: Sequence[Mistake]) -> list[Mistake]:
        """Those of the mistakes that change the numbers of a run."""
        task, got = run
        names = tuple(got[0])
        return [mistake for mistake in mistakes if changes(self.entry, task, names, mistake)]


_CHANGES: dict[tuple[str, ...], bool] = {}  # the tasks are always the same


def changes(entry: Entry, task: Task, names: tuple[str, ...], mistake: Mistake) -> bool:
    """Whether a mistake changes a quantity of ``names`` in a task of the entry."""
    key = (str(entry), task.setting, task.kind, mistake, *names)
    if key not in _CHANGES:
        with np.errstate(all="ignore"):
            pairs = zip(entry.rounds(task, [mistake]), entry.rounds(task), strict=True)
            _CHANGES[key] = any(
                gap(wrong[name], right[name]) > 1 for wrong, right in pairs for name in names
            )
    return _CHANGES[key]


def smallest_sets(
    mistakes: Sequence[Sentence], most: int, gives_all: Callable[[tuple[Sentence, ...]], bool]
) -> tuple[tuple[Sentence, ...], ...]:
    """All smallest sets of at most ``most`` mistakes for which ``gives_all`` is true; or none."""
    for size in range(1, most + 1):
        sets = tuple(filter(gives_all, itertools.combinations(mistakes, size)))
        if sets:
            return sets
    return ()
