"""The report of a check: one row a property, and the mistakes that give the numbers of the failed
ones.
"""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 118
_MARKS = {True: "pass", False: "FAIL", None: "–"}


@dataclass(frozen=True)
class Row:
    """A property of an algorithm, on one or more kinds of problems.

    ``expected`` and ``got``: the value ``value``, such as "w, round 2", where the two differ most;
    with ``passed``, of the last round. ``passed`` None: the implementation does not offer this, for
    the reason in ``note``. ``reading``: the convention that gives the numbers, where a paper leaves
    something open; ``note`` says what.
    """

    algorithm: str
    property: str
    problem: str
    passed: bool | None
    value: str = ""
    expected: float | None = None
    got: float | None = None
    note: str = ""
    reading: str = ""

    def mark(self) -> str:
        """pass, convention, FAIL, or – for what is not offered."""
        return "convention" if self.passed and self.reading else _MARKS[self.passed]


@dataclass(frozen=True)
class Report:
    """``rows``, and for each algorithm that fails the sets of mistakes (``mistakes``) that give all
    its numbers. ``changes``: what the adapter had to change from the defaults, as it says.
    """

    rows: tuple[Row, ...]
    mistakes: Mapping[str, tuple[tuple[str, ...], ...]]
    changes: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether something was checked and nothing failed. A convention is no failure."""
        outcomes = {row.passed for row in self.rows}
        return True in outcomes and False not in outcomes

    def table(self) -> list[dict[str, object]]:
        """The rows as dictionaries, with the mistakes of each algorithm that fails."""
        return [
            asdict(row) | {"passed": row.mark(), "mistake": self.mistake(row)} for row in self.rows
        ]

    def frame(self) -> pd.DataFrame:
        """The rows as a table of pandas."""
        import pandas as pd

        return pd.DataFrame(self.table())

    def mistake(self, row: Row) -> str:
        """The known mistakes that give the numbers of a row that fails."""
        if row.passed is not False:
            return ""
        sets = self.mistakes.get(row.algorithm, ())
        return " OR ".join(" AND ".join(mistakes) for mistakes in sets)

    def count(self) -> dict[str, int]:
        """The number of rows of each mark."""
        marks = [row.mark() for row in self.rows]
        return {mark: marks.count(mark) for mark in ("pass", "convention", "FAIL", "–")}

    def __str__(self) -> str:
        lines = [_line("property", "problem", "value", ("expected", "got"), "")]
        for name, rows in itertools.groupby(self.rows, key=lambda row: row.algorithm):
            lines.append(name)
            for row in rows:
                lines += _lines_of(row)
            if name in self.mistakes:
                lines += _diagnosis(self.mistakes[name])
        if self.changes:
            lines += ["", "The adapter changed these defaults of the implementation:"]
        for name, sentence in self.changes.items():
            lines += _wrapped(f"{name}: {sentence}")
        return "\n".join([*lines, "", self.summary()])

    def summary(self) -> str:
        """The counts in words."""
        count = self.count()
        conventions = f"{count['convention']} by a convention, " if count["convention"] else ""
        return (
            f"{count['pass']} passed, {conventions}{count['FAIL']} failed, {count['–']} not offered"
        )


def _lines_of(row: Row) -> list[str]:
    """A row as a line of the table, with its reading and its note below it."""
    numbers = ["" if number is None else f"{number:.6g}" for number in (row.expected, row.got)]
    lines = [_line(row.property, row.problem, row.value, numbers, row.mark())]
    for text in (row.reading, row.note):
        lines += _wrapped(text) if text else []
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _line(name: str, problem: str, value: str, numbers: Sequence[str], mark: str) -> str:
    return (
        f"  {name:<22} {problem:<26} {value:<21} {numbers[0]:>11} {numbers[1]:>11}  {mark}".rstrip()
    )


def _diagnosis(sets: tuple[tuple[str, ...], ...]) -> list[str]:
    if not sets:
        return ["  No known mistake, alone or with two others, gives these numbers."]
    lines = ["  Exactly these numbers come out if"]
    for place, mistakes in enumerate(sets):
        text = ("or " if place else "") + "; and ".join(mistakes)
        lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="      ")
    return lines
