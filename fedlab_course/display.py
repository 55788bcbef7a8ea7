"""How a verdict looks, on a claim, a stored statement or an exercise: as a box, as text and as
data.
"""

import html
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from fedlab_core.language import translator
from fedlab_core.plots.colours import VERDICTS

_ = translator(__name__)


def publish(bundle: dict[str, Any]) -> None:
    """Display a MIME bundle in a notebook, and print its ``text/plain`` anywhere else."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(bundle, raw=True)
    else:
        print(bundle["text/plain"])


def edge(word: str) -> str:
    """The CSS class of a verdict's edge: "good", "mixed" or "open"."""
    return {"✓": "good", "✗": "mixed"}.get(word[0], "open")


def coded(line: str) -> str:
    """``line`` as HTML, with what is in backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(line))


def sentences(*parts: str) -> str:
    """Sentences one after the other, without those that are empty."""
    said = ""
    for part in filter(None, parts):
        said = _("{said} {next}").format(said=said, next=part) if said else part
    return said


def remark(line: str) -> dict[str, Any]:
    """The MIME bundle of a sentence with `code` in backticks."""
    return {"text/html": f"<p>{coded(line)}</p>", "text/plain": line}


def verdict(
    kind: str,
    word: str,
    text: str,
    lines: Iterable[str] = (),
    data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The MIME bundle of a verdict of the CSS class ``kind``. The sign of ``word``, "✓ holds",
    decides the colour.

    ``lines``: what it rests on, with `code` in backticks.
    """
    lines = list(lines)
    said = _("{word}: {text}").format(word=word, text=text)
    if lines and not text.endswith(("?", "!", ".", "？", "！", "。")):
        said = _("{sentence}.").format(sentence=said)
    below = "".join(f'<div style="font-size: .9em">{coded(line)}</div>' for line in lines)
    style = f"border-left: 4px solid {VERDICTS[edge(word)]}; padding: .3em .8em; margin: .5em 0"
    shown = (
        f'<div class="{kind}" style="{style}"><strong>{word}</strong> · '
        f"{html.escape(text)}{below}</div>"
    )
    return {
        **(data or {}),
        "text/html": shown,
        "text/plain": sentences(said, *lines),
    }
