"""Slides of a chapter from its own text: question, formulas, predictions, figures, answers, and
what to remember.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup
from nbformat.v4 import new_markdown_cell

from fedlab_core.language import translator
from fedlab_course.check import questions
from fedlab_course.publish import markdown, outputs

_ = translator(__name__)
_REMEMBERED = _("What to remember")
_HEADING = re.compile(r"^#{2,3} +(.+)$", flags=re.MULTILINE)
_FORMULA = re.compile(r"([^\n]+)\n\n(\$\$.*?\$\$)", flags=re.DOTALL)  # with the paragraph before it
ASKED = re.compile(r"questions\.predict\(\s*\"([^\"]+)\"")
_TOLD = re.compile(r"questions\.outcome\(\s*\"([^\"]+)\"")
_FLAGS = re.MULTILINE | re.DOTALL
_WHAT_WE_SEE = _("**What we see.**")
_SEEN = re.compile(rf"^{re.escape(_WHAT_WE_SEE)}(.*?)(?:\n\n|\Z)", _FLAGS)
_REMEMBER = re.compile(rf"\A## {re.escape(_REMEMBERED)}\n(.*?)(?:^## |\Z)", _FLAGS)
_SCENE = 'class="fedlab-scene"'  # an animation
_SKIPPED = (_("Exercise"), _("Explore"), _("Further reading"), _("How to use"))


def of(notebook: Any, title: str, question: str, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make the slides of an executed notebook, each with ``title`` and ``parts`` in HTML; the first
    has ``question``.

    A section with formulas has a slide of them. A prediction has its own slide before its result,
    and another that answers it. A figure has a slide together with its interpretation.
    """
    slides = [_slide("opening", title, Markup("<p>{}</p>").format(question))]
    heading = title
    for cell in at_headings(notebook.cells):
        if cell.cell_type == "markdown":
            heading = next(iter(_HEADING.findall(cell.source)), heading)
            text = re.sub(r"<details>.*?</details>|\s*<!--.*?-->", "", cell.source, flags=re.DOTALL)
            _interpret_figure(slides, text, names)
            slides += _of_text(text, heading, names)
        elif cell.cell_type == "code" and not heading.startswith(_SKIPPED):
            slides += _of_code(cell, heading)
    return slides


def at_headings(cells: Sequence[Any]) -> Iterator[Any]:
    """The cells, with a text cut before each heading inside it: what a heading begins waits for no
    earlier prediction, and has slides of its own.
    """
    for cell in cells:
        if cell.cell_type == "markdown":
            yield from map(new_markdown_cell, re.split(r"\n(?=##+ )", cell.source))
        else:
            yield cell


def _slide(kind: str, heading: str, part: Markup) -> dict[str, Any]:
    title = Markup(markdown.to_html(heading)).striptags()
    return {"title": title, "parts": [part], "kind": kind}


def _interpret_figure(slides: Sequence[dict[str, Any]], text: str, names: Sequence[str]) -> None:
    """Add the first two sentences of "What we see" to the last figure, if it has none yet."""
    seen = _SEEN.search(text)
    figures = [slide for slide in slides if slide["kind"] == "figure"]
    if seen and figures and len(figures[-1]["parts"]) == 1:
        sentences = _sentences(seen[1].strip())
        figures[-1]["parts"].append(_html(" ".join(sentences[:2]), names))


def _of_text(text: str, heading: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Make the slide of a text: what to remember, or its formulas."""
    remember = _REMEMBER.match(text)
    if remember:
        return [_slide("remember", _REMEMBERED, _html(remember[1], names))]
    formulas = _FORMULA.findall(text)
    if not formulas:
        return []
    parts = []
    for paragraph, formula in formulas:
        introduction = " ".join(_sentences(paragraph)[-2:])
        parts.append(f"{introduction}\n\n{formula}")
    return [_slide("formula", heading, _html("\n\n".join(parts), names))]


def _of_code(cell: Any, heading: str) -> list[dict[str, Any]]:
    """Make the slides of a code cell: predictions, figures, and what happened."""
    slides = [_slide("predict", heading, _asked(id)) for id in ASKED.findall(cell.source)]
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if outputs.PLOTLY in data:
            figure = outputs.figure({outputs.PLOTLY: data[outputs.PLOTLY]})
            slides.append(_slide("figure", heading, figure))
        elif _SCENE in (html := "".join(data.get("text/html", ""))):
            slides.append(_slide("figure", heading, Markup(html)))
    for id in _TOLD.findall(cell.source):
        prediction = questions.prediction(id)
        happened = prediction.options[prediction.happened]
        words = _("**What happened:** {happened}. {because}")
        answer = _html(words.format(happened=happened, because=prediction.because))
        slides.append(_slide("outcome", heading, answer))
    return slides


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z$])|(?<=[。！？])\s*", text)


def _html(source: str, names: Sequence[str] = ()) -> Markup:
    return Markup(markdown.to_html(source, names))


def _asked(id: str) -> Markup:
    prediction = questions.prediction(id)
    options = Markup().join(
        Markup("<li>{}</li>").format(_html(text)) for text in prediction.options.values()
    )
    asks = _html(prediction.asks)
    return Markup('<div class="asks"><p><b>{}</b></p>{}<ul>{}</ul></div>').format(
        _("Predict."), asks, options
    )
