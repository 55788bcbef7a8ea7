"""The tables of verdicts."""

from collections import Counter

import pandas as pd
from IPython.display import HTML, display

from fedlab_core import validation
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.judging import OPEN

_BOX = """<style>.fedlab-verdicts :is(th, td) { text-align: left; vertical-align: top; white-space: normal }</style>
<div class="fedlab-verdicts" style="max-height: 32em; overflow-y: auto" tabindex="0" role="region"
 aria-label="Table of verdicts">"""


def counts(family: str = "sources") -> pd.DataFrame:
    """Count the statements by verdict, and those that are significant after Holm's correction.

    ``family``: "sources", the claims of the sources, or "course", what the chapters say beyond them. Raises
    ``ValueError`` for another family.
    """
    families = {"sources": judging.stored, "course": judging.course}
    every = families[validation.choice("family", family, families)]().values()
    count = Counter(one.finding.verdict for one in every)
    significant = Counter(one.finding.verdict for one in every if one.finding.corrected)
    corrected = ["" if word in OPEN else str(significant[word]) for word in shown.WORDS]
    words = pd.Index(shown.WORDS.values(), name="verdict")
    return pd.DataFrame({"statements": [count[word] for word in shown.WORDS], "after correction": corrected}, words)


def table(source: str) -> pd.DataFrame:
    """List the statements with runs on the claims of a ``source``, the beginning of their ids, such as "002".

    Raises ``ValueError`` for an unknown one.
    """
    validation.choice("source", source, dict.fromkeys(id.partition("-")[0] for id in judging.stored()))
    rows = []
    for id, one in judging.stored().items():
        if one.finding.n and id.partition("-")[0] == source:
            word = shown.WORDS[one.finding.verdict] + (" *" if one.finding.corrected else "")
            rows.append((id, one.statement.says, word, shown.interval(one), f"{one.finding.margin:g}", one.finding.n))
    columns = ["row", "statement", "verdict", "mean and 95 % interval", "δ", "seeds"]
    return pd.DataFrame(rows, columns=columns).set_index("row")


def browse(source: str) -> None:
    """Show :func:`table` in a box that scrolls, with text that wraps."""
    with pd.option_context("display.max_colwidth", None):
        written = table(source).reset_index().to_html(index=False, border=0)
    display(HTML(f"{_BOX}{written}</div>"))
