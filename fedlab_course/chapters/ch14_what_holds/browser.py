"""The tables of verdicts."""

import tomllib
from collections import Counter

import pandas as pd
from IPython.display import HTML, display

from fedlab_core import validation
from fedlab_course.evidence import configs, judging, shown
from fedlab_course.evidence.judging import OPEN
from fedlab_course.folders import RESULTS

_BOX = """<style>
.fedlab-verdicts table :is(th, td) { text-align: left; vertical-align: top; white-space: normal }
</style>
<div class="fedlab-verdicts" style="max-height: 32em; overflow-y: auto" tabindex="0" role="region"
 aria-label="Table of verdicts">"""


def counts() -> pd.DataFrame:
    """Count the statements on the sources' claims by verdict, and those significant after Holm's correction."""
    every = judging.stored().values()
    count = Counter(one.finding.verdict for one in every)
    significant = Counter(one.finding.verdict for one in every if one.finding.corrected)
    corrected = ["" if word in OPEN else str(significant[word]) for word in shown.WORDS]
    words = pd.Index(shown.WORDS.values(), name="verdict")
    return pd.DataFrame({"statements": [count[word] for word in shown.WORDS], "after correction": corrected}, words)


def claims(source: str) -> pd.DataFrame:
    """List the claims of a ``source``, such as "002": what it says, and what we find, in a sentence each.

    Raises ``ValueError`` for an unknown one.
    """
    why = tomllib.loads((RESULTS / "reasons.toml").read_text(encoding="utf-8"))
    found = [one for one in configs.read() if configs.source_of(one.id) == source]
    validation.choice("source", source, configs.SOURCES)
    rows = [(one.id, one.claim, why[one.id]["why"].partition(". ")[0].rstrip(".") + ".") for one in found]
    return pd.DataFrame(rows, columns=["claim", "it says", "we find"]).set_index("claim")


def browse(table: pd.DataFrame) -> None:
    """Show a ``table`` in a box that scrolls, with text that wraps."""
    with pd.option_context("display.max_colwidth", None):
        written = table.reset_index().to_html(index=False, border=0)
    display(HTML(f"{_BOX}{written}</div>"))
