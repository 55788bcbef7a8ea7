"""Outputs of notebook cells as HTML."""

import re
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.filters import ansi2html

from fedlab_core import language
from fedlab_core.language import translator
from fedlab_course.explore import grid
from fedlab_course.publish import markdown

_ = translator(__name__)
PLOTLY = grid.PLOTLY
TEMPLATES = Environment(
    loader=PackageLoader("fedlab_course.publish", "template"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals.update(
    _=_, code=language.current, language=lambda: language.tag(language.current())
)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}


def render(output: Any) -> Markup:
    """Render one output of a cell: a stream, an error with its traceback, or the richest known form
    of its data.
    """
    if output["output_type"] == "stream":
        text = Markup(ansi2html("".join(output["text"])))
        return Markup('<pre class="stream {}">{}</pre>').format(output["name"], text)
    if output["output_type"] == "error":
        return Markup('<pre class="error">{}</pre>').format(
            Markup(ansi2html("\n".join(output["traceback"])))
        )
    data = output["data"]
    if PLOTLY in data:
        return figure(data)
    if "text/html" in data:
        return _html("".join(data["text/html"]))
    if "text/markdown" in data:
        source = "".join(data["text/markdown"])
        try:
            return _html(markdown.to_html(source))
        except ValueError:  # show the source of an unknown formula
            return _plain(source)
    if "image/png" in data:
        picture = Markup('<img alt="{}" src="data:image/png;base64,{}">')
        return picture.format(_("Picture made by the cell above"), data["image/png"])
    return _plain("".join(data.get("text/plain", "")))


def figure(data: dict[str, Any]) -> Markup:
    """Render the Plotly figure of a MIME bundle ``data``, with sliders if it has stored pictures,
    words and a table.

    The words are ``layout.meta["alt"]`` or the title, the table is ``layout.meta["table"]``.
    """
    layout = data[PLOTLY].get("layout", {})
    stored = data.get(grid.MIME)
    meta = layout.get("meta") or {}
    title = Markup(layout.get("title", {}).get("text") or "").striptags()
    html = TEMPLATES.get_template("figure.html.j2").render(
        spec=data[PLOTLY],
        stored=stored,
        note=data.get(grid.STILL, ""),
        alt=meta.get("alt") or (_("Figure: {title}").format(title=title) if title else _("Figure")),
        table=meta.get("table"),
        height=layout.get("height") or 450,
    )
    return Markup(html)


def _short(value: Any) -> str:
    """A number with five digits, a dash for a missing value, other values unchanged."""
    if value is None or value != value:
        return "–"
    return f"{value:.5g}" if isinstance(value, float) else str(value)


TEMPLATES.filters["short"] = _short


def _html(html: str) -> Markup:
    """HTML from a cell; the empty corner of a pandas table becomes an ordinary cell."""
    return Markup('<div class="html">{}</div>').format(
        Markup(re.sub(r"<th[^>]*>(\s|&nbsp;)*</th>", "<td></td>", html))
    )


def _plain(text: str) -> Markup:
    return Markup("<pre>{}</pre>").format(text)
