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
    """A statement with its verdict, and the claim that it belongs to."""

    claim: Claim
    statement: Statement
    verdict: Verdict


def judge(claims: Sequence[Claim], folder: Path = tables.TABLES) -> dict[str, Judged]:
    """Statement id → what became of it, in the order of the claims; corrected for how many there are."""
    found = {statement.id: (claim, statement) for claim in claims for statement in claim.statements}
    judged = {id: _verdict(statement, folder) for id, (_, statement) in found.items()}
    final = verdicts.corrected(judged)
    return {id: Judged(claim, statement, final[id]) for id, (claim, statement) in found.items()}


@lru_cache(maxsize=1)
def stored() -> dict[str, Judged]:
    """The verdicts on all claims of ``results/configs``."""
    return judge(configs.read())


def _verdict(statement: Statement, folder: Path) -> Verdict:
    values = list(tables.numbers(statement, folder).values())
    planned = 1 if statement.exact else min(seeds(table) for _, table, _ in statement.rows())
    return verdicts.judge(
        statement.id, values, statement.margin, expect=statement.expect, planned=planned, exact=statement.exact
    )
