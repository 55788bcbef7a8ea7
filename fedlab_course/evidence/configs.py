"""What was planned before the runs: claims, their statements and margins, and the seeds of every
table.
"""

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
from fedlab_core.description import digest
from fedlab_core.language import translator
from fedlab_course.folders import RESULTS

CONFIGS = RESULTS / "configs"
GRIDS = CONFIGS / "grids"
COURSE = CONFIGS / "course"  # what the chapters say beyond the sources, by chapter
_ = translator("results")
SOURCES = ("000", "001", "002", "004", "others")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that a number decides: the mean over seeds of Σ ``plus`` − Σ ``minus`` −
    ``constant``.

    ``plus`` and ``minus`` hold rows of a ``table``, each as column → value, and ``measure`` is the
    column that is compared; ``where`` applies to all rows, and a row may name a ``table`` of its
    own. ``expect``: the source says that the number is "positive", "zero" or "nonzero". Less than
    ``margin`` δ is no difference. ``exact``: a number without chance, for which one row is enough.
    ``untested``: why the runs cannot test the statement, if they cannot; ``argmin``: where the
    curves are whose optimum the ``measure`` is (:mod:`fedlab_course.evidence.optima`);
    ``changed``: why the plan was changed after the data, if it was. ``told``: whether a chapter
    tells it; all that were examined count in the correction.
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
    argmin: dict[str, str] = field(default_factory=dict)
    changed: str = ""
    told: bool = True

    def __post_init__(self) -> None:
        validation.choice("expect", self.expect, ("positive", "zero", "nonzero"))
        validation.real("margin", self.margin)
        for key in self.argmin:
            validation.choice("argmin", key, ("table", "along", "least"))

    @property
    def sentence(self) -> str:
        """What it ``says``, in the language of the process."""
        return _(self.says)

    def rows(self) -> list[tuple[int, str, dict[str, Any]]]:
        """Sign, table and column values of every row of the contrast."""
        plus = [(1, self.where | row) for row in self.plus]
        minus = [(-1, self.where | row) for row in self.minus]
        merged = plus + minus
        return [(sign, row.pop("table", self.table), row) for sign, row in merged]

    @property
    def plan(self) -> str:
        """The digest of what has to be fixed before the runs: contrast, measure, margin, seeds and
        settings.
        """
        numbers = (float(self.margin), float(self.constant))
        rows = [(sign, registered_as(table), row) for sign, table, row in self.rows()]
        tables = {table for _, table, _ in self.rows()}
        about = {registered_as(table): [planned(table), _settings(table)] for table in tables}
        fixed = (rows, self.measure, numbers, self.expect, self.exact, about)
        return digest(json.dumps(fixed, sort_keys=True).encode())


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a source, in its setting; ``ours``: how it is measured here, and what was reduced.

    ``distance``: the same in a few words; ``lead``: the id of the statement that speaks for it, by
    default the first.
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
    """Read all claims in ``folder``, in the order of their names. Raises ``ValueError`` for a file
    with a fault.
    """
    claims = [_claim(path) for path in sorted(folder.glob("*.toml"), key=_in_order)]
    names = [statement.id for claim in claims for statement in claim.statements]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(
            f"{folder}: two statements are called {', '.join(sorted(twice))}; rename one"
        )
    return claims


def told(claims: Sequence[Claim], wanted: bool = True) -> list[Claim]:
    """The ``claims`` with those of their statements that a chapter tells, or with the others."""
    kept = [
        replace(claim, statements=[each for each in claim.statements if each.told is wanted])
        for claim in claims
    ]
    return [claim for claim in kept if claim.statements]


def source_of(id: str) -> str:
    """The source of a claim or statement, one of ``SOURCES``."""
    return id[:3] if id[:3] in SOURCES else "others"


def is_course(id: str) -> bool:
    """Whether a claim or statement belongs to a chapter: its id begins with two digits and no
    third.
    """
    return re.match(r"\d\d(-|$)", id) is not None


def registered_as(table: str) -> str:
    """The name that ``table`` had when the plans that use it were registered."""
    return _toml("renamed").get(table, table)


def experiment_of(table: str) -> str:
    """The experiment that makes ``table``, whose name it begins with. Raises ``ValueError`` if
    there is none.
    """
    names = [name for name in _toml("seeds") if table.startswith(name)]
    if not names:
        raise ValueError(f"table={table!r}: is neither a grid nor made by an experiment")
    return max(names, key=len)


def seeds(table: str) -> list[int]:
    """List the seeds of ``table``: the planned ones and those that the rule for undecided
    statements added.
    """
    first = planned(table)
    own = table if _grid(table) else experiment_of(table)
    numbers = _toml("further_seeds")  # own → how many seeds in all
    if own in numbers:
        return list(range(first[0], first[0] + numbers[own]))
    return first


def planned(table: str) -> list[int]:
    """List the planned seeds of ``table``, from its grid or its experiment. Raises as
    :func:`experiment_of`.
    """
    if grid := _grid(table):
        given = grid.get("seed", 0)
        return given if isinstance(given, list) else [given]
    first, last = _toml("seeds")[experiment_of(table)]
    return list(range(first, last + 1))


def _settings(table: str) -> dict[str, Any]:
    """The settings of a grid: all but its seeds, its algorithms, which rows name, and where its
    code is.
    """
    return {
        key: value
        for key, value in _grid(table).items()
        if key not in ("seed", "algorithm", "modules")
    }


@lru_cache(maxsize=64)
def _grid(table: str) -> dict[str, Any]:
    path = GRIDS / f"{table}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@lru_cache(maxsize=4)
def _toml(name: str) -> dict[str, Any]:
    return tomllib.loads((CONFIGS / "experiments" / f"{name}.toml").read_text(encoding="utf-8"))


def _in_order(path: Path) -> list[tuple[float, str]]:
    """Numbers in a name count as numbers: 004-2 comes before
    004-10, and all of them before names.
    """
    return [(int(part) if part.isdecimal() else math.inf, part) for part in path.stem.split("-")]


def _claim(path: Path) -> Claim:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        common = given.pop("common", {})
        listed = given.pop("statement", [])
        statements = [
            Statement(**common | fields | {"id": f"{path.stem}{fields.get('id', '')}"})
            for fields in listed
        ]
        return Claim(id=path.stem, statements=statements, **given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
