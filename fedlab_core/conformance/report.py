"""The report of a check: one row a property, and the mistakes that give the numbers of the failed ones."""

import itertools
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import pandas as pd

WIDTH = 118
_MARKS = {True: "pass", False: "FAIL", None: "–"}


@dataclass(frozen=True)
class Row:
    """A property of an algorithm, on one or more kinds of problems.

    ``expected`` and ``got``: the value ``value``, such as "w, round 2", where the two differ most; with ``passed``, of
    the last round. ``passed`` None: the implementation does not offer this, for the reason in ``note``.
    """

    algorithm: str
    property: str
    problem: str
    passed: bool | None
    value: str = ""
    expected: float | None = None
    got: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Report:
    """``rows``, and for each algorithm that fails the sets of mistakes (``mistakes``) that give all its numbers."""

    rows: tuple[Row, ...]
    mistakes: Mapping[str, tuple[tuple[str, ...], ...]]

    @property
    def passed(self) -> bool:
        """Whether something was checked and nothing failed."""
        return any(row.passed for row in self.rows) and not any(row.passed is False for row in self.rows)

    def frame(self) -> pd.DataFrame:
        """The rows as a table, with the mistakes of each algorithm that fails."""
        table = pd.DataFrame([asdict(row) for row in self.rows])
        table["passed"] = [_MARKS[row.passed] for row in self.rows]
        found = {name: " OR ".join(" AND ".join(one) for one in sets) for name, sets in self.mistakes.items()}
        table["mistake"] = [found.get(row.algorithm, "") if row.passed is False else "" for row in self.rows]
        return table

    def __str__(self) -> str:
        lines = [_line("property", "problem", "value", ("expected", "got"), "")]
        for name, rows in itertools.groupby(self.rows, key=lambda row: row.algorithm):
            lines.append(name)
            for row in rows:
                numbers = ["" if number is None else f"{number:.6g}" for number in (row.expected, row.got)]
                lines.append(_line(row.property, row.problem, row.value, numbers, _MARKS[row.passed]))
                if row.note:
                    lines.append(textwrap.fill(row.note, WIDTH, initial_indent="    ", subsequent_indent="    "))
            if name in self.mistakes:
                lines += _diagnosis(self.mistakes[name])
        count = [sum(row.passed is kind for row in self.rows) for kind in (True, False, None)]
        return "\n".join([*lines, "", f"{count[0]} passed, {count[1]} failed, {count[2]} not offered"])


def _line(name: str, problem: str, value: str, numbers: Sequence[str], mark: str) -> str:
    return f"  {name:<22} {problem:<26} {value:<21} {numbers[0]:>11} {numbers[1]:>11}  {mark}".rstrip()


def _diagnosis(sets: tuple[tuple[str, ...], ...]) -> list[str]:
    if not sets:
        return ["  No known mistake, alone or with two others, gives these numbers."]
    lines = ["  Exactly these numbers come out if"]
    for place, mistakes in enumerate(sets):
        text = ("or " if place else "") + "; and ".join(mistakes)
        lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="      ")
    return lines
