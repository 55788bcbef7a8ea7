"""Which stored statements answer the same question.

The statements on a claim of a source answer one question, the claim. A chapter's own claims are
wider: there the statements that compare the same rows by different measures answer one question.
"""

from collections.abc import Collection

from fedlab_course.evidence import configs, judging
from fedlab_course.evidence.judging import JudgedStatement


def page(id: str) -> str:
    """The file with all statements on the question of a claim or statement."""
    if configs.is_course(id):
        return "results/COURSE.md"
    return f"results/claims/{configs.source_of(id)}.md"


def source_claim(id: str) -> str:
    """The claim of a source that a statement is about, or "" for a chapter's own statement."""
    claim = judging.every()[id].claim.id
    return "" if configs.is_course(claim) else claim


def left_out(shown: Collection[str]) -> dict[str, str]:
    """The statements on the questions of those ``shown`` that are not among them, and for each the
    first one shown of its question.
    """
    same_question = _same_question()
    missing: dict[str, str] = {}
    for id in shown:
        for other in same_question[id]:
            if other not in shown:
                missing.setdefault(other, id)
    return missing


def _same_question() -> dict[str, list[str]]:
    """Statement → all statements on its question."""
    groups: dict[object, list[str]] = {}
    for id, judged in judging.every().items():
        groups.setdefault(_question(judged), []).append(id)
    return {id: group for group in groups.values() for id in group}


def _question(judged: JudgedStatement) -> object:
    """What the statements on one question have in common."""
    claim = source_claim(judged.statement.id)
    if claim:
        return claim
    sides: dict[int, set[tuple[str, str]]] = {1: set(), -1: set()}
    for sign, table, row in judged.statement.rows():
        sides[sign].add((table, repr(sorted(row.items()))))
    return frozenset({frozenset(sides[1]), frozenset(sides[-1])})
