"""What was planned before the runs: claims, their statements and margins, and the seeds of every table."""

import json
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from fedlab_core import validation
from fedlab_core.reproduce.description import digest
from fedlab_course.folders import RESULTS

CONFIGS = RESULTS / "configs"
GRIDS = CONFIGS / "grids"
COURSE = CONFIGS / "course"  # what the chapters say beyond the sources, by chapter
SOURCES = ("000", "001", "002", "004", "others")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that a number decides: the mean over seeds of Σ ``plus`` − Σ ``minus`` − ``constant``.

    ``plus`` and ``minus`` hold rows of a ``table``, each as column → value, and ``measure`` is the column that is
    compared; ``where`` applies to all rows, and a row may name a ``table`` of its own. ``expect``: the source says that
    the number is "positive", "zero" or "nonzero". Less than ``margin`` δ is no difference. ``exact``: a number
    without chance, for which one row is enough. ``untested``: why the runs cannot test the statement, if they cannot;
    ``changed``: why the plan was changed after the data, if it was. ``told``: whether a chapter tells it; all that were
    examined count in the correction.
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
    untested: str = ""
    changed: str = ""
    told: bool = True

    def __post_init__(self) -> None:
        validation.choice("expect", self.expect, ("positive", "zero", "nonzero"))
        validation.real("margin", self.margin)

    def rows(self) -> list[tuple[int, str, dict[str, Any]]]:
        """Sign, table and column values of every row of the contrast."""
        merged = [(1, self.where | row) for row in self.plus] + [(-1, self.where | row) for row in self.minus]
        return [(sign, row.pop("table", self.table), row) for sign, row in merged]

    @property
    def plan(self) -> str:
        """The digest of what has to be fixed before the runs: contrast, measure, margin, seeds and settings."""
        numbers = (float(self.margin), float(self.constant))
        about = {table: [planned(table), _settings(table)] for _, table, _ in self.rows()}
        what = (self.rows(), self.measure, numbers, self.expect, self.exact, about)
        return digest(json.dumps(what, sort_keys=True).encode())


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a source, in its setting; ``ours``: how it is measured here, and what was reduced.

    ``distance``: the same in a few words; ``lead``: the id of the statement that speaks for it, by default the first.
    """

    id: str
    source: str
    claim: str
    expected: str
    setting: str
    ours: str
    distance: str = ""
    lead: str = ""
    statements: list[Statement]

    @property
    def tables(self) -> list[str]:
        """The tables that the statements rest on."""
        return sorted({table for statement in self.statements for _, table, _ in statement.rows()})


def read(folder: Path = CONFIGS) -> list[Claim]:
    """Read all claims in ``folder``, in the order of their names. Raises ``ValueError`` for a file with a fault."""
    claims = [_claim(path) for path in sorted(folder.glob("*.toml"), key=_in_order)]
    names = [statement.id for claim in claims for statement in claim.statements]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{folder}: two statements are called {', '.join(sorted(twice))}; rename one")
    return claims


def told(claims: Sequence[Claim], wanted: bool = True) -> list[Claim]:
    """The ``claims`` with those of their statements that a chapter tells, or with the others."""
    kept = [replace(one, statements=[each for each in one.statements if each.told is wanted]) for one in claims]
    return [one for one in kept if one.statements]


def source_of(id: str) -> str:
    """The source of a claim or statement, one of ``SOURCES``."""
    return id[:3] if id[:3] in SOURCES else "others"


def is_course(id: str) -> bool:
    """Whether a claim or statement belongs to a chapter: its id begins with two digits and no third."""
    return re.match(r"\d\d(-|$)", id) is not None


def experiment_of(table: str) -> str:
    """The experiment that makes ``table``, whose name it begins with. Raises ``ValueError`` if there is none."""
    found = [name for name in _toml("seeds") if table.startswith(name)]
    if not found:
        raise ValueError(f"table={table!r}: is neither a grid nor made by an experiment")
    return max(found, key=len)


def seeds(table: str) -> list[int]:
    """List the seeds of ``table``: the planned ones and those that the rule for undecided statements added."""
    first = planned(table)
    own = table if _grid(table) else experiment_of(table)
    return [*range(first[0], first[0] + further[own])] if own in (further := _toml("further_seeds")) else first


def planned(table: str) -> list[int]:
    """List the planned seeds of ``table``, from its grid or its experiment. Raises as :func:`experiment_of`."""
    if grid := _grid(table):
        given = grid.get("seed", 0)
        return given if isinstance(given, list) else [given]
    first, last = _toml("seeds")[experiment_of(table)]
    return list(range(first, last + 1))


def _settings(table: str) -> dict[str, Any]:
    """The settings of a grid: all but its seeds, its algorithms, which rows name, and where its code is."""
    return {key: value for key, value in _grid(table).items() if key not in ("seed", "algorithm", "modules")}


@lru_cache(maxsize=64)
def _grid(table: str) -> dict[str, Any]:
    path = GRIDS / f"{table}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@lru_cache(maxsize=2)
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((CONFIGS / "experiments" / f"{name}.toml").read_text(encoding="utf-8"))


def _in_order(path: Path) -> list[tuple[float, str]]:
    """Numbers in a name count as numbers: 004-2 comes before 004-10, and all of them before names."""
    return [(int(part) if part.isdecimal() else math.inf, part) for part in path.stem.split("-")]


def _claim(path: Path) -> Claim:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        common, listed = given.pop("common", {}), given.pop("statement", [])
        statements = [Statement(**common | one | {"id": f"{path.stem}{one.get('id', '')}"}) for one in listed]
        return Claim(id=path.stem, statements=statements, **given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
