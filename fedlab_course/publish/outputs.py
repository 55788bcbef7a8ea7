"""Outputs of notebook cells as HTML."""

import json
import re
from collections.abc import Callable
from typing import Any

from markupsafe import Markup
from nbconvert.filters import ansi2html

from fedlab_course.explore import grid
from fedlab_course.publish import markdown

PLOTLY = grid.PLOTLY
_DEFAULT_HEIGHT = 450


def render(output: Any) -> Markup:
    """Render one output of a cell: a stream, an error with its traceback, or the richest known form of its data."""
    if output["output_type"] == "stream":
        return Markup('<pre class="stream {}">{}</pre>').format(output["name"], _ansi(output["text"]))
    if output["output_type"] == "error":
        return Markup('<pre class="error">{}</pre>').format(_ansi("\n".join(output["traceback"])))
    data = output["data"]
    if PLOTLY in data and grid.MIME in data:
        return figure(data[PLOTLY], controls(data[grid.MIME]))
    if PLOTLY in data and grid.STILL in data:
        return figure(data[PLOTLY], Markup('<p class="facts">{}</p>').format(data[grid.STILL]))
    for mime, renderer in _RENDERERS.items():
        if mime in data:
            return renderer(data[mime])
    return Markup()


def figure(spec: dict[str, Any], above: Markup | str = "", kind: str = "plot") -> Markup:
    """Render a Plotly figure: its JSON for figures.js, and its text alternative in words and as a table.

    The words are ``layout.meta["alt"]`` or the title, the table is ``layout.meta["table"]`` (``columns`` and
    ``rows``). ``above``: HTML above the figure; ``kind``: its CSS classes.
    """
    layout = spec.get("layout", {})
    meta = layout.get("meta") or {}
    title = Markup(layout.get("title", {}).get("text") or "").striptags()
    alt = meta.get("alt") or (f"Figure: {title}" if title else "Figure")
    table = _table(meta.get("table"))
    return Markup(
        '<figure class="{}">{}<div class="canvas" role="img" aria-label="{}" style="min-height: {}px"></div>'
        '<script type="application/json">{}</script><noscript><p>{}</p>{}</noscript>'
        '<details class="words"><summary>Description and data</summary><p>{}</p>{}</details></figure>'
    ).format(kind, above, alt, layout.get("height") or _DEFAULT_HEIGHT, as_json(spec), alt, table, alt, table)


def controls(stored: dict[str, Any]) -> Markup:
    """Render the stored figures of a grid for grid.js, with their number and size."""
    pictures = f"{len(stored['cells'])} stored pictures, {max(1, round(grid.size(stored) / 1000))} kB compressed."
    return Markup(
        '<div class="grid" hidden><p class="facts">{}{}</p><script type="application/json">{}</script></div>'
    ).format(pictures, f" {stored['note']}" if "note" in stored else "", as_json(stored))


def as_json(value: Any) -> Markup:
    """``value`` as JSON that is safe inside a script element."""
    return Markup(json.dumps(value, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"))


def _table(table: dict[str, Any] | None) -> Markup:
    if not table:
        return Markup()
    head = Markup().join(
        Markup('<th scope="col">{}</th>' if name else "<td></td>").format(name) for name in table["columns"]
    )
    body = Markup().join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            _short(row[0]), Markup().join(Markup("<td>{}</td>").format(_short(value)) for value in row[1:])
        )
        for row in table["rows"]
    )
    return Markup(
        '<div class="table" tabindex="0" role="group" aria-label="Data of the figure">'
        "<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(head, body)


def _short(value: Any) -> str:
    """A number with five digits, a dash for a missing value, other values unchanged."""
    if value is None or value != value:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _ansi(text: str | list[str]) -> Markup:
    return Markup(ansi2html("".join(text)))


def _html(html: str | list[str]) -> Markup:
    """HTML from a cell; the empty corner of a pandas table becomes an ordinary cell."""
    text = re.sub(r"<th[^>]*>(\s|&nbsp;)*</th>", "<td></td>", "".join(html))
    return Markup('<div class="html">{}</div>').format(Markup(text))


def _markdown(source: str | list[str]) -> Markup:
    try:
        return _html(markdown.to_html("".join(source)))
    except ValueError:  # show the source of an unknown formula
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
