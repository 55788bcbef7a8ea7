"""What was to be measured, as it was written down before the runs: claims, their statements, margins and seeds.

One TOML file per claim lies in ``results/configs``; each statement is a contrast of runs that one table holds.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_course.folders import RESULTS

CONFIGS = RESULTS / "configs"
GRIDS = CONFIGS / "grids"
COURSE = CONFIGS / "course"  # what the chapters say beyond the sources, by chapter
EXPECTED = ("positive", "zero")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One sentence that a number decides: the mean over seeds of Σ ``plus`` − Σ ``minus`` − ``constant``.

    ``plus`` and ``minus`` hold rows of a ``table``, each as the values of its columns, and ``measure`` is the column
    they are compared by; ``where`` holds for all of them, and a row may name a ``table`` of its own. ``expect``: the
    source says that the number is "positive", or that it is "zero"; less than ``margin`` δ counts as nothing.
    ``exact``: a number without chance, for which one row is enough.
    """

    id: str
    says: str
    measure: str
    margin: float
    plus: list[dict[str, Any]]
    minus: list[dict[str, Any]] = field(default_factory=list)
    constant: float = 0.0
    where: dict[str, Any] = field(default_factory=dict)
    table: str = ""
    expect: str = "positive"
    exact: bool = False

    def rows(self) -> list[tuple[int, str, dict[str, Any]]]:
        """Sign, table and column values of every row of the contrast."""
        signed = [(1, row) for row in self.plus] + [(-1, row) for row in self.minus]
        merged = [(sign, self.where | row) for sign, row in signed]
        return [(sign, row.pop("table", self.table), row) for sign, row in merged]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a source says, in its setting, and ``ours``: how it is measured here, and what was reduced."""

    id: str
    source: str
    claim: str
    expected: str
    setting: str
    ours: str
    statements: list[Statement]

    @property
    def tables(self) -> list[str]:
        """The tables that the statements rest on."""
        return sorted({table for statement in self.statements for _, table, _ in statement.rows()})


def read(folder: Path = CONFIGS) -> list[Claim]:
    """All claims, in the order of their names. Raises ``ValueError`` for a file that does not say one."""
    claims = [_claim(path) for path in sorted(folder.glob("*.toml"), key=_in_order)]
    names = [statement.id for claim in claims for statement in claim.statements]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{folder}: says twice {', '.join(sorted(twice))}")
    return claims


def _in_order(path: Path) -> list[tuple[bool, int, str]]:
    """Numbers in a name count as numbers: 004-2 comes before 004-10, and all of them before names."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in path.stem.split("-")]


def _claim(path: Path) -> Claim:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        common = given.pop("common", {})
        statements = [
            _made(Statement, common | one | {"id": f"{path.stem}{one.get('id', '')}"})
            for one in given.pop("statement", [])
        ]
        for statement in statements:
            validation.choice("expect", statement.expect, EXPECTED)
            validation.real("margin", statement.margin)
        return _made(Claim, given | {"id": path.stem, "statements": statements})
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def _made(kind: type[Any], given: Mapping[str, Any]) -> Any:
    """A dataclass from a table. Raises ``ValueError`` for a key that it lacks, or does not have, or a wrong type."""
    known = {one.name: one for one in fields(kind)}
    for name in given:
        validation.choice("key", name, known)
    for name, one in known.items():
        if name not in given and one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"{kind.__name__.lower()} {given.get('id', '')}: needs {name}")
    plain = {str: str, int: int, float: float, bool: bool}
    return kind(
        **{
            name: validation.typed(name, value, known[name].type) if known[name].type in plain else value
            for name, value in given.items()
        }
    )
