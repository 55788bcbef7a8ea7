"""Run an adapter on every task, and say what each of its answers is: right, a convention, wrong."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fedconform import guard
from fedconform.declared import Declared, declared_by
from fedconform.diagnosis import Run, agree, explain, reading, worst
from fedconform.entries import ENTRIES, Entry
from fedconform.mistakes.readings import readings_of
from fedconform.report import Report, Row
from fedconform.tasks.making import Setting
from fedconform.tasks.task import Task

LIMIT = 60.0  # seconds for one problem
Series = Iterable[np.ndarray]  # an array for each round; of "importance", one array
Adapter = Callable[[Task], Series | Mapping[str, Series]]
SHUFFLED = (
    "the other rows are right: does the implementation shuffle the samples? Then declare SHUFFLES "
    "in the adapter"
)


def check(
    adapter: Adapter,
    only: Sequence[str] | None = None,
    *,
    limit: float = LIMIT,
    declared: Declared | None = None,
) -> Report:
    """Check an implementation on small problems with known answers.

    ``adapter``: a function from a :class:`Task` to w [P] after every round, a list of arrays; or to
    a dictionary of such lists, "w" and, for SCAFFOLD, "c" [P] and "c_clients" [N, P], and for batch
    normalisation "buffers"; or, for "MAS", to {"importance": [P]}. It raises
    ``NotImplementedError`` with the reason for what the implementation does not offer.

    ``only``: names of algorithms. ``limit``: seconds for one problem. ``declared``: what the module
    of the adapter declares, by default what stands beside the function.
    """
    names = list(dict.fromkeys(entry.algorithm for entry in ENTRIES))
    for name in only or ():
        if name not in names:
            raise ValueError(f"only={name!r}: must be one of {', '.join(map(repr, names))}")
    if declared is None:
        declared = declared_by(getattr(adapter, "__globals__", {}))
    rows = list[Row]()
    mistakes = dict[str, tuple[tuple[str, ...], ...]]()
    for entry in ENTRIES:
        if only is None or entry.algorithm in only:
            examined = Examined(entry, adapter, limit, declared)
            rows += examined.rows()
            if examined.failed():
                mistakes[str(entry)] = examined.mistakes
    return Report(tuple(rows), mistakes, declared.changes)


class Examined:
    """The answers of an adapter to all tasks of one entry."""

    def __init__(self, entry: Entry, adapter: Adapter, limit: float, declared: Declared) -> None:
        self.entry = entry
        self.good = list[Run]()
        self.bad = list[Run]()
        self.found = [
            self._answered(setting, task, adapter, limit, declared)
            for setting, task in entry.tasks()
        ]
        self.reading = reading(entry, self.good, self.bad) if self.bad else ()
        self.mistakes: tuple[tuple[str, ...], ...] = ()
        if self.failed():
            self.mistakes = explain(entry, self.good, self.bad)

    def failed(self) -> bool:
        """Whether numbers are wrong that are no reading."""
        return bool(self.bad) and not self.reading

    def _answered(
        self,
        setting: Setting,
        task: Task,
        adapter: Adapter,
        limit: float,
        declared: Declared,
    ) -> Row:
        """The row of one task; its numbers go to ``good`` or ``bad``."""
        row = Row(str(self.entry), task.setting, task.kind, passed=None)
        if task.ordered and declared.shuffles:
            return replace(row, note=declared.shuffles)
        expected = self.entry.answer(task)  # before any code of others runs
        given = task.copy()
        try:
            got = guard.ask(adapter, given, expected, limit)
        except NotImplementedError as reason:
            return replace(row, note=str(reason))
        except guard.Failed as reason:
            failed = replace(row, passed=None if setting.single else False, note=str(reason))
            return self._not_asked(setting, given) or failed
        passed = agree(got, expected)
        if not passed and (untouched := self._not_asked(setting, given)):
            return untouched
        (self.good if passed else self.bad).append((task, got))
        value, right, mine = worst(got, expected)
        return replace(row, passed=passed, value=value, expected=right, got=mine)

    def _not_asked(self, setting: Setting, given: Task) -> Row | None:
        """The row of a task that the adapter does not know of, which is no fault."""
        if not setting.asks or setting.asks in given.used:
            return None
        asked = "the model and the loss" if setting.asks == "problem" else f"task.{setting.asks}"
        note = f"the adapter does not ask the task for {asked}"
        return Row(str(self.entry), setting.name, given.kind, None, note=note)

    def rows(self) -> list[Row]:
        """One row a property: of what failed, else of what passed; what is not offered for all of
        them once.
        """
        found = [self._judged(row) for row in self.found]
        result = list[Row]()
        for _, group in itertools.groupby(found, key=lambda row: row.property):
            result += _merged(list(group))
        if result and all(row.passed is None for row in result):
            first = result[0]
            return [Row(first.algorithm, "all", first.problem, None, note=first.note)]
        return result

    def _judged(self, row: Row) -> Row:
        if row.passed is not False or row.expected is None:
            return row
        if self.reading:
            whys = readings_of(self.entry.formula)
            note = " ".join(dict.fromkeys(whys[one] for one in self.reading))
            return replace(row, passed=True, reading=" AND ".join(self.reading), note=note)
        if not self.mistakes and all(task.ordered for task, _ in self.bad) and self.good:
            return replace(row, note=SHUFFLED)
        return row


def _merged(rows: list[Row]) -> list[Row]:
    """The rows of one property, joined by their outcome."""
    result = list[Row]()
    for outcome in ("FAIL", "convention", "pass", "–"):
        of_kind = [row for row in rows if row.mark() == outcome]
        if of_kind and not (outcome == "–" and len(of_kind) < len(rows)):
            problems = ", ".join(row.problem for row in of_kind)
            result.append(replace(of_kind[0], problem=problems))
    return result
