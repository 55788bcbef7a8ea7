"""The verdicts on all statements, from the stored tables."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fedlab_course.evidence import configs, tables, verdicts
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.verdicts import Finding


@dataclass(frozen=True)
class Judged:
    """A statement, its claim, what was found, and how many statements were ``examined`` together."""

    claim: Claim
    statement: Statement
    finding: Finding
    examined: int


def judge(claims: Sequence[Claim], folder: Path = tables.TABLES) -> dict[str, Judged]:
    """Judge all statements of ``claims``: id → result, in their order, corrected for how many there are."""
    found = {statement.id: (claim, statement) for claim in claims for statement in claim.statements}
    final = verdicts.corrected({id: _finding(statement, folder) for id, (_, statement) in found.items()})
    return {id: Judged(claim, statement, final[id], len(found)) for id, (claim, statement) in found.items()}


@lru_cache(maxsize=1)
def stored() -> dict[str, Judged]:
    """The verdicts on the claims of the sources, in ``results/configs``."""
    return judge(configs.read())


@lru_cache(maxsize=1)
def course() -> dict[str, Judged]:
    """The verdicts on what the chapters say beyond the sources, a family of its own, in ``results/configs/course``."""
    return judge(configs.read(configs.COURSE))


def every() -> dict[str, Judged]:
    """Both families: :func:`stored` and :func:`course`."""
    return stored() | course()


def forget() -> None:
    """Judge again at the next call: the tables have changed."""
    tables.forget()
    stored.cache_clear()
    course.cache_clear()


def _finding(one: Statement, folder: Path) -> Finding:
    values = list(tables.numbers(one, folder).values())
    planned = 1 if one.exact else min(len(configs.seeds(table)) for _, table, _ in one.rows())
    return verdicts.judge(one.id, values, one.margin, expect=one.expect, planned=planned, exact=one.exact)
