"""The tables of verdicts."""

import html
import tomllib
from collections import Counter
from collections.abc import Sequence

import pandas as pd
from IPython.display import HTML, display

from fedlab_core import validation
from fedlab_course.evidence import configs, judging, shown
from fedlab_course.evidence.judging import OPEN, JudgedStatement
from fedlab_course.folders import RESULTS

_BOX = """<style>
.fedlab-verdicts table :is(th, td) { text-align: left; vertical-align: top; white-space: normal }
.fedlab-verdicts td:last-child { min-width: 22em }
</style>
<div class="fedlab-verdicts" style="max-height: 32em; overflow-y: auto" tabindex="0" role="region"
 aria-label="Table of verdicts">"""


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
    """List the claims of a ``source``, such as "002": what it says; the verdict on the statement
    that speaks for it, with that statement, which has the axis; the verdicts on all its
    statements; and all of what we find, with its hedges.

    Raises ``ValueError`` for an unknown one.
    """
    why = tomllib.loads((RESULTS / "reasons.toml").read_text(encoding="utf-8"))
    validation.choice("source", source, configs.SOURCES)
    every = judging.stored()
    rows = []
    for claim in configs.read():
        if configs.source_of(claim.id) == source:
            lead = every[claim.lead or claim.statements[0].id]
            all_verdicts = _tally([every[one.id] for one in claim.statements])
            says = (_verdict(lead), lead.statement.says, all_verdicts)
            rows.append((claim.id, claim.claim, *says, why[claim.id]["why"]))
    names = ["claim", "it says", "verdict", "on which axis", "all its statements", "we find"]
    return pd.DataFrame(rows, columns=names).set_index("claim")


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
    """Show a ``table`` in a box that scrolls, with text that wraps; below the summary ``folded``,
    if there is one, until it is opened.
    """
    with pd.option_context("display.max_colwidth", None):
        written = table.reset_index().to_html(index=False, border=0)
    box = f"{_BOX}{written}</div>"
    if folded:
        box = f"<details><summary>{html.escape(folded)}</summary>{box}</details>"
    display(HTML(box))
