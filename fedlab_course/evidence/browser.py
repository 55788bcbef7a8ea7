"""The table of verdicts, to be read and filtered."""

import html
from collections import Counter

import pandas as pd

from fedlab_core import validation
from fedlab_core.progress import watched
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.verdicts import VERDICTS

_NAME = "Table of verdicts"
ALL = "all"


def counts(family: str = "sources") -> pd.DataFrame:
    """How many statements have each verdict, and how many of those stand among all that were examined.

    ``family``: "sources", what the sources say, or "course", what the chapters say beyond them. Raises ``ValueError``
    for another one.
    """
    families = {"sources": judging.stored, "course": judging.course}
    every = families[validation.choice("family", family, families)]().values()
    words = Counter(shown.word(one) for one in every)
    stand = Counter(shown.word(one) for one in every if one.verdict.n and one.verdict.corrected)
    rows = [
        {
            "verdict": word,
            "statements": words[word],
            "after correction": "" if word in (shown.WORDS["undecided"], shown.UNMEASURED) else str(stand[word]),
        }
        for word in (*shown.WORDS.values(), shown.UNMEASURED)
    ]
    return pd.DataFrame(rows).set_index("verdict")


def table(source: str = ALL, verdict: str = ALL) -> pd.DataFrame:
    """A row for each statement, by claim; statements without runs are left out unless a ``verdict`` of "none" asks.

    ``source``: the beginning of a claim, such as "002"; ``verdict``: one of the four. Raises ``ValueError``
    for others.
    """
    every = judging.stored()
    validation.choice("source", source, sources())
    validation.choice("verdict", verdict, [ALL, *VERDICTS, "none"])
    rows = [
        {
            "row": id,
            "statement": one.statement.says,
            "verdict": shown.word(one) + (" *" if one.verdict.corrected and one.verdict.verdict != "undecided" else ""),
            "mean and 95 % interval": shown.interval(one),
            "δ": f"{one.statement.margin:g}",
            "seeds": one.verdict.n,
        }
        for id, one in every.items()
        if (verdict == "none") == (one.verdict.n == 0)
        and source in (ALL, _source(id))
        and verdict in (ALL, "none", one.verdict.verdict)
    ]
    columns = ["row", "statement", "verdict", "mean and 95 % interval", "δ", "seeds"]
    return pd.DataFrame(rows, columns=columns).set_index("row")


def sources() -> list[str]:
    """What ``source`` may be: the beginnings of the ids of claims."""
    return [ALL, *dict.fromkeys(_source(id) for id in judging.stored())]


def _source(id: str) -> str:
    return id.partition("-")[0]


def as_html(source: str = ALL, verdict: str = ALL) -> str:
    """:func:`table` as HTML whose text wraps. Raises as it does."""
    left = "text-align: left; vertical-align: top; white-space: normal; padding: .2em .6em .2em 0"
    rows = table(source, verdict).reset_index()
    head = "".join(f'<th scope="col" style="{left}">{name}</th>' for name in ("row", "statement", "verdict", "numbers"))
    body = "".join(
        f'<tr><td style="{left}; white-space: nowrap">{id}</td><td style="{left}">{html.escape(says)}</td>'
        f'<td style="{left}">{word}</td>'
        f'<td style="{left}">{numbers}, δ&nbsp;=&nbsp;{margin}, n&nbsp;=&nbsp;{n}</td></tr>'
        for id, says, word, numbers, margin, n in rows.itertuples(index=False)
    )
    whole = f'<table style="width: 100%"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return (
        f'<div style="max-height: 32em; overflow-y: auto" tabindex="0" role="region" aria-label="{_NAME}">{whole}</div>'
    )


def browse() -> None:
    """Show :func:`table`, live with two lists to filter it by; where nobody watches, all of it."""
    from IPython.display import HTML, display

    if not watched():
        display(HTML(as_html()))
        return
    import ipywidgets

    output = ipywidgets.Output()
    lists = [
        ipywidgets.Dropdown(options=sources(), description="Source"),
        ipywidgets.Dropdown(options=[ALL, *VERDICTS, "none"], description="Verdict"),
    ]

    def redraw(_: object = None) -> None:
        output.clear_output(wait=True)
        with output:
            display(HTML(as_html(*(one.value for one in lists))))

    for one in lists:
        one.observe(redraw, names="value")
    redraw()
    display(ipywidgets.VBox([ipywidgets.HBox(lists), output]))
