"""How verdicts look: one box for those on claims and those on exercises, on light pages and on dark ones."""

import html
import sys
from typing import Any

# The edge of a box has 3:1 on a white ground and on those of dark pages. No colour of text has 4.5:1 on both: the words
# take that of the page.
GOOD, MIXED, OPEN = "#009E73", "#D55E00", "#7A7A7A"


def publish(bundle: dict[str, Any]) -> None:
    """Display a MIME bundle in a notebook, and print its ``text/plain`` anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def box(kind: str, colour: str, verdict: str, text: str, below: str = "") -> str:
    """HTML of a verdict on a ``text``; ``below``, under it, is HTML already; ``kind``: the CSS class; ``colour``: the
    edge, one of ``GOOD``, ``MIXED`` and ``OPEN``.
    """
    return (
        f'<div class="{kind}" style="border-left: 4px solid {colour}; padding: .3em .8em; margin: .5em 0">'
        f"<strong>{verdict}</strong> · {html.escape(text)}{below}</div>"
    )
