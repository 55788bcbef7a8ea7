"""The verdicts on all statements, from the tables as they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from fedlab_course.evidence import configs, tables, verdicts
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.planned import seeds
from fedlab_course.evidence.verdicts import Verdict


@dataclass(frozen=True)
class Judged:
    """A statement with its verdict, the claim that it belongs to, and how many were ``examined`` with it."""

    claim: Claim
    statement: Statement
    verdict: Verdict
    examined: int

    @property
    def report(self) -> str:
        """The file in ``results`` that has the statement."""
        return "COURSE.md" if self.claim.id.isdecimal() else "REPRODUCTION.md"


def judge(claims: Sequence[Claim], folder: Path = tables.TABLES) -> dict[str, Judged]:
    """Statement id → what became of it, in the order of the claims; corrected for how many there are."""
    found = {statement.id: (claim, statement) for claim in claims for statement in claim.statements}
    judged = {id: _verdict(statement, folder) for id, (_, statement) in found.items()}
    final = verdicts.corrected(judged)
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
    """Judge anew when asked next: the tables have changed."""
    stored.cache_clear()
    course.cache_clear()


def _verdict(statement: Statement, folder: Path) -> Verdict:
    values = list(tables.numbers(statement, folder).values())
    planned = 1 if statement.exact else min(seeds(table) for _, table, _ in statement.rows())
    return verdicts.judge(
        statement.id, values, statement.margin, expect=statement.expect, planned=planned, exact=statement.exact
    )
