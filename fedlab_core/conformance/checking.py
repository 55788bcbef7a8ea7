"""Run an adapter on every task, compare its numbers with the formulas, and look for the mistakes that give them."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.conformance.averaging import Answer
from fedlab_core.conformance.entries import ENTRIES, Entry
from fedlab_core.conformance.report import Report, Row
from fedlab_core.conformance.task import Task

TOLERANCE = 2e-5  # of the largest number, which single precision keeps
MOST_MISTAKES = 3
Adapter = Callable[[Task], Any]
Run = tuple[Task, list[Answer]]


def check(adapter: Adapter, only: Sequence[str] | None = None) -> Report:
    """Check an implementation on small problems with known answers.

    ``adapter``: a function from a :class:`Task` to w [P] after every round, a list of arrays; or to a dictionary of
    such lists, "w" and, for SCAFFOLD, "c" [P] and "c_clients" [N, P]; or, for "MAS", to {"importance": [P]}. It raises
    ``NotImplementedError`` with the reason for what the implementation does not offer. ``only``: names of algorithms.
    """
    names = list(dict.fromkeys(entry.algorithm for entry in ENTRIES))
    chosen = names if only is None else [validation.choice("only", name, names) for name in only]
    rows, mistakes = list[Row](), dict[str, tuple[tuple[str, ...], ...]]()
    for entry in ENTRIES:
        if entry.algorithm in chosen:
            found, good, bad = _examine(entry, adapter)
            rows += found
            if bad:
                mistakes[str(entry)] = explain(entry, bad + good)
    return Report(tuple(rows), mistakes)


def _examine(entry: Entry, adapter: Adapter) -> tuple[list[Row], list[Run], list[Run]]:
    """The rows of an entry, and the numbers of the implementation, right ones and wrong ones."""
    rows, good, bad = list[Row](), list[Run](), list[Run]()
    for task in entry.tasks():
        where = (str(entry), task.setting, task.kind)
        try:
            got = _answer(adapter(task), task)
        except NotImplementedError as reason:
            rows.append(Row(*where, passed=None, note=str(reason)))
            continue
        except Exception as error:  # whatever an implementation raises is its result
            rows.append(Row(*where, passed=False, note=f"{type(error).__name__}: {error}"))
            continue
        expected = entry.answer(task)
        passed = agree(got, expected)
        (good if passed else bad).append((task, got))
        rows.append(Row(*where, passed, *_worst(got, expected)))
    return _merged(rows), good, bad


def _answer(value: Any, task: Task) -> list[Answer]:
    """The answer of an adapter, one dictionary a round. Raises ``ValueError`` for other shapes than promised."""
    series = value if isinstance(value, Mapping) else {"w": value}
    needed = "importance" if task.algorithm == "MAS" else "w"
    if needed not in series:
        raise ValueError(f"the adapter must return {needed!r}, got {sorted(series)}")
    shapes = {"c_clients": (task.num_clients, len(task.start))}
    answers = [Answer() for _ in task.cohorts[: 1 if needed == "importance" else None]]
    for name, values in series.items():
        values, shape = [values] if name == "importance" else list(values), shapes.get(name, task.start.shape)
        if len(values) != len(answers):
            raise ValueError(f"{name}: one array a round is needed, {len(answers)} in all, got {len(values)}")
        for answer, array in zip(answers, values, strict=True):
            answer[name] = np.asarray(array, dtype=np.float64)
            if answer[name].shape != shape:
                raise ValueError(f"{name}: must have the shape {shape}, got {answer[name].shape}")
    return answers


def agree(got: Sequence[Answer], expected: Sequence[Answer]) -> bool:
    """Whether all numbers that the implementation gives are the expected ones."""
    return all(_gap(mine[name], right[name]) <= 1 for mine, right in zip(got, expected, strict=True) for name in mine)


def _gap(got: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, in units of what is allowed."""
    gap = float(np.abs(got - expected).max() / (TOLERANCE * max(1.0, float(np.abs(expected).max()))))
    return gap if np.isfinite(gap) else np.inf


def _worst(got: Sequence[Answer], expected: Sequence[Answer]) -> tuple[str, float, float]:
    """The value that is most wrong in the first wrong round, or in the last one: its name, as expected, as given."""
    wrong = [place for place in range(len(got)) if not agree(got[place : place + 1], expected[place : place + 1])]
    last = wrong[0] if wrong else len(got) - 1
    mine, right = got[last], expected[last]
    name = max(mine, key=lambda one: _gap(mine[one], right[one]))
    place = np.unravel_index(np.abs(mine[name] - right[name]).argmax(), mine[name].shape)
    return f"{name}, round {last + 1}", float(right[name][place]), float(mine[name][place])


def _merged(rows: Sequence[Row]) -> list[Row]:
    """One row a property: of what failed, else of what passed; what is not offered for all of them once."""
    result = list[Row]()
    for _, group in itertools.groupby(rows, key=lambda row: row.property):
        same = list(group)
        for outcome in (False, True, None):
            of_kind = [row for row in same if row.passed is outcome]
            if of_kind and not (outcome is None and len(of_kind) < len(same)):
                problems = ", ".join(row.problem for row in of_kind)
                result.append(Row(**(vars(of_kind[0]) | {"problem": problems})))
    if result and all(row.passed is None for row in result):
        return [Row(result[0].algorithm, "all", result[0].problem, None, note=result[0].note)]
    return result


def explain(entry: Entry, runs: Sequence[Run]) -> tuple[tuple[str, ...], ...]:
    """The smallest sets of known mistakes, at most three together, that give all the numbers of ``runs``."""

    def gives_all(mistakes: tuple[str, ...]) -> bool:
        return all(agree(got, entry.answer(task, mistakes)) for task, got in runs)

    return smallest_sets(entry.mistakes, MOST_MISTAKES, gives_all)


def smallest_sets(
    mistakes: Sequence[str], most: int, gives_all: Callable[[tuple[str, ...]], bool]
) -> tuple[tuple[str, ...], ...]:
    """All sets of ``mistakes`` of the smallest size, at most ``most``, for which ``gives_all`` is true; or none."""
    for size in range(1, most + 1):
        found = tuple(filter(gives_all, itertools.combinations(mistakes, size)))
        if found:
            return found
    return ()
