"""How a verdict looks, on a claim, a stored statement or an exercise: as a box, as text and as data."""

import html
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

# The edge of a box has 3:1 on a white ground and on those of dark pages. No colour of text has 4.5:1 on both: the words
# take that of the page.
GOOD, MIXED, OPEN = "#009E73", "#D55E00", "#7A7A7A"
_EDGES = {"✓": GOOD, "✗": MIXED}


def publish(bundle: dict[str, Any]) -> None:
    """Display a MIME bundle in a notebook, and print its ``text/plain`` anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def verdict(
    kind: str,
    word: str,
    text: str,
    lines: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
    *,
    beside: str | None = None,
) -> dict[str, Any]:
    """The MIME bundle of a verdict of the CSS class ``kind``. The sign of ``word``, "✓ holds", decides the colour.

    ``lines``: what it rests on, with `code` in backticks; with ``beside``, a text behind ``text``, they lie in a fold.
    """
    lines = list(lines)
    head = f"<strong>{word}</strong> · {html.escape(text)}"
    coded = (re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(line)) for line in lines)
    below = "".join(f'<div style="font-size: .9em">{line}</div>' for line in coded)
    edge = f'class="{kind}" style="border-left: 4px solid {_EDGES.get(word[0], OPEN)}; '
    if beside is None:
        shown = f'<div {edge}padding: .3em .8em; margin: .5em 0">{head}{below}</div>'
    else:
        head += f' <span style="font-size: .9em">{html.escape(beside)}</span>'
        shown = f'<details {edge}padding: 0 .8em; margin: .2em 0"><summary>{head}</summary>{below}</details>'
    stop = "" if not lines or text.endswith(("?", "!", ".")) else "."
    return {**(data or {}), "text/html": shown, "text/plain": " ".join([f"{word}: {text}{stop}", *lines])}
