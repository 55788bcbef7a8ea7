"""The tables of verdicts."""

import html
import re
import tomllib
from collections import Counter
from collections.abc import Sequence

import pandas as pd
from IPython.display import HTML, display

from fedlab_core import validation
from fedlab_core.plots.colours import PAGE
from fedlab_course.chapters.ch14_what_holds import dragged
from fedlab_course.evidence import configs, judging, shown
from fedlab_course.evidence.judging import OPEN, JudgedStatement
from fedlab_course.folders import RESULTS

_SENTENCE = re.compile(r"(?<=[.])\s")
_STYLE = f"""<style>
.fedlab-claims {{ border-left: 3px solid var(--line, {PAGE["line"][0]}); padding: 0.1em 0.8em }}
.fedlab-claims {{ margin: 0.7em 0 }}
.fedlab-claims p {{ margin: 0.2em 0 }}
</style>"""


def counts() -> pd.DataFrame:
    """Count the statements on the sources' claims by verdict, and those significant after Holm's
    correction.
    """
    every = judging.stored().values()
    count = Counter(judged.finding.verdict for judged in every)
    significant = Counter(judged.finding.verdict for judged in every if judged.finding.corrected)
    corrected = ["" if word in OPEN else str(significant[word]) for word in shown.WORDS]
    words = pd.Index(shown.WORDS.values(), name="verdict")
    return pd.DataFrame(
        {"statements": [count[word] for word in shown.WORDS], "after correction": corrected}, words
    )


def claims(source: str) -> pd.DataFrame:
    """List the claims of a ``source``, such as "002": what it says; the verdict, "in part" where
    another statement speaks against the leading one; what we find in one sentence; the leading
    statement, which has the axis; the verdicts on all statements; and all of what we find.

    Raises ``ValueError`` for an unknown one.
    """
    why = tomllib.loads((RESULTS / "reasons.toml").read_text(encoding="utf-8"))
    validation.choice("source", source, configs.SOURCES)
    every = judging.stored()
    rows = []
    for claim in configs.read():
        if configs.source_of(claim.id) == source:
            statements = [every[one.id] for one in claim.statements]
            lead = every[claim.lead or claim.statements[0].id]
            sentence, *more = _SENTENCE.split(why[claim.id]["why"], maxsplit=1)
            rest = [lead.statement.says, _tally(statements), " ".join(more)]
            rows.append((claim.id, claim.claim, _word(lead, statements), sentence, *rest))
    names = ["claim", "it says", "verdict", "we find", "on which axis", "all its statements"]
    return pd.DataFrame(rows, columns=[*names, "more"]).set_index("claim")


def _word(lead: JudgedStatement, statements: Sequence[JudgedStatement]) -> str:
    """The verdict on the ``lead`` of a claim, or "in part" if a statement is against it."""
    verdicts = [judged.finding.verdict for judged in statements]
    if dragged.holds_in_part(lead.finding.verdict, verdicts):
        return f"{dragged.IN_PART}, uncorrected" if _is_uncorrected(lead) else dragged.IN_PART
    return _verdict(lead)


def _verdict(judged: JudgedStatement) -> str:
    """The verdict, and "uncorrected" if it is not significant among all statements."""
    word = shown.WORDS[judged.finding.verdict]
    return f"{word}, uncorrected" if _is_uncorrected(judged) else word


def _is_uncorrected(judged: JudgedStatement) -> bool:
    return judged.finding.verdict not in OPEN and not judged.finding.corrected


def _tally(statements: Sequence[JudgedStatement]) -> str:
    """How often each verdict occurs, "3 holds, 1 of them uncorrected; 1 undecided"."""
    parts = []
    for verdict in judging.VERDICTS:
        mine = [judged for judged in statements if judged.finding.verdict == verdict]
        weak = sum(map(_is_uncorrected, mine))
        if mine:
            parts.append(
                f"{len(mine)} {verdict}" + (f", {weak} of them uncorrected" if weak else "")
            )
    return "; ".join(parts)


def browse(table: pd.DataFrame, *, folded: str = "") -> None:
    """Show the claims of a ``table`` as cards: claim, verdict and one sentence, and the rest in a
    fold; all of them below the summary ``folded``, if there is one, until it is opened.
    """
    page = "".join(_card(str(id), row) for id, row in table.iterrows())
    if folded:
        page = f"<details><summary>{html.escape(folded)}</summary>{page}</details>"
    display(HTML(_STYLE + page))


def _card(id: str, row: pd.Series) -> str:
    words = {name: html.escape(text) for name, text in row.items()}
    return f"""<div class="fedlab-claims"><p><strong>{words["verdict"]}</strong> · {id}:
 “{words["it says"]}”</p><p>{words["we find"]}</p><details><summary>The axis, and all statements
</summary><p>The leading statement: {words["on which axis"]}</p><p>All statements:
 {words["all its statements"]}.</p><p>{words["more"]}</p></details></div>"""
