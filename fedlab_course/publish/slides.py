"""Slides of a chapter from its own text and figures: question, predictions, results, and what to remember."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from fedlab_course.check import questions
from fedlab_course.publish import markdown, outputs

_HEADING = re.compile(r"^#{2,3} +(.+)$", flags=re.MULTILINE)
_ASKED = re.compile(r"questions\.predict\(\s*\"([^\"]+)\"")
_SEEN = re.compile(r"^\*\*What we see\.\*\*(.*?)(?:\n\n|\Z)", flags=re.MULTILINE | re.DOTALL)
_REMEMBER = re.compile(r"\A## What to remember\n(.*?)(?:^## |\Z)", flags=re.MULTILINE | re.DOTALL)
_SKIPPED = ("Exercise", "Explore", "Further reading", "How to use")


def of(notebook: Any, title: str, question: str, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make the slides of an executed notebook, each with ``title`` and ``parts`` in HTML; the first has ``question``.

    A prediction has its own slide before its result. A figure has a slide together with its interpretation.
    """
    opening = {"title": title, "parts": [Markup("<p>{}</p>").format(question)], "kind": "opening"}
    slides: list[dict[str, Any]] = [opening]

    def add(heading: str, part: Markup, kind: str) -> None:
        slides.append({"title": Markup(markdown.to_html(heading)).striptags(), "parts": [part], "kind": kind})

    heading = title
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = next(iter(_HEADING.findall(cell.source)[-1:]), heading)
            seen, remember = _SEEN.search(cell.source), _REMEMBER.match(cell.source)
            figures = [slide for slide in slides if slide["kind"] == "figure"]
            if seen and figures and len(figures[-1]["parts"]) == 1:
                plain = re.sub(r"\s*<!--.*?-->", "", seen[1], flags=re.DOTALL).strip()
                two = " ".join(re.split(r"(?<=[.!?])\s+(?=[A-Z$])", plain)[:2])
                figures[-1]["parts"].append(_html(two, names))
            if remember:
                add("What to remember", _html(remember[1], names), "remember")
        elif cell.cell_type == "code" and not heading.startswith(_SKIPPED):
            for id in _ASKED.findall(cell.source):
                add(heading, _asked(id), "predict")
            for output in cell.get("outputs", []):
                if outputs.PLOTLY in output.get("data", {}):
                    add(heading, outputs.figure({outputs.PLOTLY: output["data"][outputs.PLOTLY]}), "figure")
    return slides


def _html(source: str, names: Sequence[str] = ()) -> Markup:
    return Markup(markdown.to_html(source, names))


def _asked(id: str) -> Markup:
    one = questions.prediction(id)
    options = Markup().join(Markup("<li>{}</li>").format(_html(text)) for text in one.options.values())
    asks = _html(one.asks)
    return Markup('<div class="asks"><p><b>Predict.</b></p>{}<ul>{}</ul></div>').format(asks, options)
