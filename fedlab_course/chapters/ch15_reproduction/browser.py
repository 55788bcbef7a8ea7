"""The table of verdicts, to be read and filtered."""

from collections import Counter

import pandas as pd

from fedlab_core import validation
from fedlab_core.progress import watched
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.judging import OPEN, VERDICTS

ALL = "all"
OUTCOMES = [ALL, *VERDICTS]
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


def table(source: str = ALL, verdict: str = ALL) -> pd.DataFrame:
    """List the statements, by claim; those without runs only under the ``verdict`` "not measured".

    ``source``: the beginning of a claim, such as "002". Raises ``ValueError`` for an unknown one or another verdict.
    """
    validation.choice("source", source, sources())
    validation.choice("verdict", verdict, OUTCOMES)
    rows = []
    for id, one in judging.stored().items():
        found = one.finding
        wanted = verdict == found.verdict or (verdict == ALL and found.n)
        if wanted and source in (ALL, id.partition("-")[0]):
            word = shown.WORDS[found.verdict] + (" *" if found.corrected else "")
            rows.append((id, one.statement.says, word, shown.interval(one), f"{found.margin:g}", found.n))
    columns = ["row", "statement", "verdict", "mean and 95 % interval", "δ", "seeds"]
    return pd.DataFrame(rows, columns=columns).set_index("row")


def sources() -> list[str]:
    """List the values of ``source``: the beginnings of the ids of claims."""
    return [ALL, *dict.fromkeys(id.partition("-")[0] for id in judging.stored())]


def as_html(source: str = ALL, verdict: str = ALL) -> str:
    """Write :func:`table` as HTML whose text wraps."""
    with pd.option_context("display.max_colwidth", None):
        return f"{_BOX}{table(source, verdict).reset_index().to_html(index=False, border=0)}</div>"


def browse() -> None:
    """Show :func:`table` with two lists to filter it by; all of it where no reader watches."""
    from IPython.display import HTML, display

    if not watched():
        display(HTML(as_html()))
        return
    import ipywidgets

    lists = {"source": sources(), "verdict": OUTCOMES}
    ipywidgets.interact(lambda source, verdict: display(HTML(as_html(source, verdict))), **lists)
