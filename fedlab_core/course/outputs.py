"""Outputs of notebook cells as HTML."""

import json
from collections.abc import Callable
from typing import Any

from markupsafe import Markup
from nbconvert.filters import ansi2html

from fedlab_core.course import markdown

PLOTLY = "application/vnd.plotly.v1+json"
_DEFAULT_HEIGHT = 450


def render(output: Any) -> Markup:
    """One output of a cell: a stream, an error with its traceback, or the richest form of its data that is known."""
    if output["output_type"] == "stream":
        return Markup('<pre class="stream {}">{}</pre>').format(output["name"], _ansi(output["text"]))
    if output["output_type"] == "error":
        return Markup('<pre class="error">{}</pre>').format(_ansi("\n".join(output["traceback"])))
    data = output["data"]
    for mime, renderer in _RENDERERS.items():
        if mime in data:
            return renderer(data[mime])
    return Markup()


def figure(spec: dict[str, Any]) -> Markup:
    """A Plotly figure: its JSON, drawn by site.js, with ``layout.meta["alt"]`` (or its title) as text alternative."""
    layout = spec.get("layout", {})
    title = Markup(layout.get("title", {}).get("text") or "").striptags()
    alt = (layout.get("meta") or {}).get("alt") or (f"Figure: {title}" if title else "Figure")
    safe = json.dumps(spec, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    return Markup(
        '<figure class="plot"><div class="canvas" role="img" aria-label="{}" style="min-height: {}px"></div>'
        '<script type="application/json">{}</script>'
        "<details><summary>Description and data</summary><p>{}</p></details></figure>"
    ).format(alt, layout.get("height") or _DEFAULT_HEIGHT, Markup(safe), alt)


def _ansi(text: str | list[str]) -> Markup:
    return Markup(ansi2html("".join(text)))


def _html(html: str | list[str]) -> Markup:
    return Markup('<div class="html">{}</div>').format(Markup("".join(html)))


def _markdown(source: str | list[str]) -> Markup:
    try:
        return _html(markdown.to_html("".join(source)))
    except ValueError:  # a formula that is not known: its source is readable too
        return _plain(source)


def _plain(text: str | list[str]) -> Markup:
    return Markup("<pre>{}</pre>").format("".join(text))


def _image(mime: str) -> Callable[[str], Markup]:
    return lambda data: Markup('<img alt="Picture made by the cell above" src="data:{};base64,{}">').format(mime, data)


_RENDERERS: dict[str, Callable[[Any], Markup]] = {
    PLOTLY: figure,
    "text/html": _html,
    "text/markdown": _markdown,
    "image/svg+xml": _html,
    "image/png": _image("image/png"),
    "image/jpeg": _image("image/jpeg"),
    "text/latex": _markdown,
    "text/plain": _plain,
}
