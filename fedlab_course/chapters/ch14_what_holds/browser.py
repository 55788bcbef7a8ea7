"""The tables of verdicts."""

import tomllib
from collections import Counter

import pandas as pd
from IPython.display import HTML, display

from fedlab_core import validation
from fedlab_course.evidence import configs, judging, shown
from fedlab_course.evidence.judging import OPEN, JudgedStatement
from fedlab_course.folders import RESULTS

_BOX = """<style>
.fedlab-verdicts table :is(th, td) { text-align: left; vertical-align: top; white-space: normal }
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
    """List the claims of a ``source``, such as "002": what it says, the verdict on the statement
    that speaks for it, and what we find.

    Raises ``ValueError`` for an unknown one.
    """
    why = tomllib.loads((RESULTS / "reasons.toml").read_text(encoding="utf-8"))
    validation.choice("source", source, configs.SOURCES)
    every = judging.stored()
    rows = []
    for claim in configs.read():
        if configs.source_of(claim.id) == source:
            lead = every[claim.lead or claim.statements[0].id]
            rows.append((claim.id, claim.claim, _verdict(lead), why[claim.id]["why"]))
    names = ["claim", "it says", "first statement", "we find"]
    return pd.DataFrame(rows, columns=names).set_index("claim")


def _verdict(judged: JudgedStatement) -> str:
    """The verdict, the statement with its axis, and whether it fails Holm's correction."""
    finding = judged.finding
    chance = ""
    if finding.verdict not in OPEN and not finding.corrected:
        chance = " Not significant after Holm correction."
    return f"{shown.WORDS[finding.verdict]}: {judged.statement.says}{chance}"


def browse(table: pd.DataFrame) -> None:
    """Show a ``table`` in a box that scrolls, with text that wraps."""
    with pd.option_context("display.max_colwidth", None):
        written = table.reset_index().to_html(index=False, border=0)
    display(HTML(f"{_BOX}{written}</div>"))
