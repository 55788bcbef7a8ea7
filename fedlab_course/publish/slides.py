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
# with the paragraph before it
_FORMULA = re.compile(r"([^\n]+(?:\n[^\n]+)*)\n\n(\$\$.*?\$\$)", flags=re.DOTALL)
_QUESTION = re.compile(r'<fedlab-(predict|outcome) data-id="([^"]+)"')
_FLAGS = re.MULTILINE | re.DOTALL
_FOLD = re.compile(r"<details>.*?</details>", flags=re.DOTALL)
_COMMENT = re.compile(r"\s*<!--.*?-->", flags=re.DOTALL)
# Comments around a text that has a slide, such as a list of steps.
MARKS = ("slide", "end of slide")
_MARKED = re.compile(r"<!-- {} -->(.*?)<!-- {} -->".format(*MARKS), flags=re.DOTALL)
_WHAT_WE_SEE = _("**What we see.**")
_SEEN = re.compile(rf"^{re.escape(_WHAT_WE_SEE)}(.*?)(?:\n\n|\Z)", _FLAGS)
_REMEMBER = re.compile(rf"\A## {re.escape(_REMEMBERED)}\n(.*?)(?:^## |\Z)", _FLAGS)
_SCENE = 'class="fedlab-scene"'  # an animation
_EXERCISE = _("Exercise")
_ASIDE = (_("Explore"), _("Further reading"))


def of(notebook: Any, title: str, question: str, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make the slides of an executed notebook, each with ``title`` and ``parts`` in HTML; the first
    has ``question``.

    A section with formulas has a slide of them, and so has a text between two ``MARKS``. Questions,
    figures and answers follow in the order of the notebook, so that no slide answers a question
    before another asks it. A figure has a slide together with its interpretation.

    An exercise has no slide of its own. What follows it belongs to the section around it.
    """
    slides = [_slide("opening", title, Markup("<p>{}</p>").format(question))]
    heading = title
    section = title
    for cell in at_headings(notebook.cells):
        if cell.cell_type == "markdown":
            heading = next(iter(_HEADING.findall(cell.source)), heading)
            if not heading.startswith((_EXERCISE, *_ASIDE)):
                section = heading
            text = _FOLD.sub("", cell.source)
            _interpret(slides, text, names)
            slides += _of_text(text, section, names)
        elif not heading.startswith(_ASIDE) and not cell.get("id", "").startswith("ex-"):
            slides += _of_outputs(cell, section)
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


def _interpret(slides: Sequence[dict[str, Any]], text: str, names: Sequence[str]) -> None:
    """Add the first two sentences of "What we see" to the last figure or, if a prediction came
    after it, to the answer.
    """
    seen = _SEEN.search(_COMMENT.sub("", text))
    kinds = ("figure", "outcome")
    asked = max(
        (place for place, slide in enumerate(slides) if slide["kind"] == "predict"), default=0
    )
    found = [slide for slide in slides[asked:] if slide["kind"] in kinds]
    if not seen or not found:
        return
    target = next((slide for slide in reversed(found) if slide["kind"] == "figure"), found[-1])
    if len(target["parts"]) == 1:
        sentences = _sentences(seen[1].strip())
        target["parts"].append(_html(" ".join(sentences[:2]), names))


def _of_text(text: str, section: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Make the slides of a text: what to remember, or what is marked, and its formulas."""
    plain = _COMMENT.sub("", _MARKED.sub("", text))
    remember = _REMEMBER.match(plain)
    if remember:
        yield _slide("remember", _REMEMBERED, _html(remember[1], names))
        return
    for marked in _MARKED.findall(text):
        yield _slide("formula", section, _html(_COMMENT.sub("", marked), names))
    parts = []
    for paragraph, formula in _FORMULA.findall(plain):
        introduction = " ".join(_sentences(paragraph)[-2:])
        parts.append(f"{introduction}\n\n{formula}")
    if parts:
        yield _slide("formula", section, _html("\n\n".join(parts), names))


def _of_outputs(cell: Any, section: str) -> Iterator[dict[str, Any]]:
    """Make a slide of each question, figure and answer that a code cell shows, in their order."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        html = "".join(data.get("text/html", ""))
        question = _QUESTION.search(html)
        if outputs.PLOTLY in data:
            figure = outputs.figure({outputs.PLOTLY: data[outputs.PLOTLY]})
            yield _slide("figure", section, figure)
        elif _SCENE in html:
            yield _slide("figure", section, Markup(html))
        elif question:
            kind, id = question.groups()
            yield _slide(kind, section, _asked(id) if kind == "predict" else _told(id))


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
        prediction.head, asks, options
    )


def _told(id: str) -> Markup:
    prediction = questions.prediction(id)
    happened = prediction.options[prediction.happened]
    words = _("**What happened:** {happened}. {because}")
    return _html(words.format(happened=happened, because=prediction.because))
