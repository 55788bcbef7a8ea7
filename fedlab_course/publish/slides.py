"""Slides of a chapter from its own text: question, formulas, predictions, figures, answers, and what to remember."""

import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from fedlab_course.check import questions
from fedlab_course.publish import markdown, outputs

_HEADING = re.compile(r"^#{2,3} +(.+)$", flags=re.MULTILINE)
_FORMULA = re.compile(r"([^\n]+)\n\n(\$\$.*?\$\$)", flags=re.DOTALL)  # with the paragraph before it
ASKED = re.compile(r"questions\.predict\(\s*\"([^\"]+)\"")
_TOLD = re.compile(r"questions\.outcome\(\s*\"([^\"]+)\"")
_SEEN = re.compile(r"^\*\*What we see\.\*\*(.*?)(?:\n\n|\Z)", flags=re.MULTILINE | re.DOTALL)
_REMEMBER = re.compile(r"\A## What to remember\n(.*?)(?:^## |\Z)", flags=re.MULTILINE | re.DOTALL)
_SKIPPED = ("Exercise", "Explore", "Further reading", "How to use")


def of(notebook: Any, title: str, question: str, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make the slides of an executed notebook, each with ``title`` and ``parts`` in HTML; the first has ``question``.

    A section with formulas has a slide of them. A prediction has its own slide before its result, and another that
    answers it. A figure has a slide together with its interpretation.
    """
    slides: list[dict[str, Any]] = []

    def add(kind: str, heading: str, part: Markup) -> None:
        slides.append({"title": Markup(markdown.to_html(heading)).striptags(), "parts": [part], "kind": kind})

    add("opening", title, Markup("<p>{}</p>").format(question))
    heading = title
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = next(iter(_HEADING.findall(cell.source)[-1:]), heading)
            text = re.sub(r"<details>.*?</details>|\s*<!--.*?-->", "", cell.source, flags=re.DOTALL)
            seen, remember = _SEEN.search(text), _REMEMBER.match(text)
            figures = [slide for slide in slides if slide["kind"] == "figure"]
            if seen and figures and len(figures[-1]["parts"]) == 1:
                figures[-1]["parts"].append(_html(" ".join(_sentences(seen[1].strip())[:2]), names))
            if remember:
                add("remember", "What to remember", _html(remember[1], names))
            elif formulas := _FORMULA.findall(text):
                shown = [" ".join(_sentences(said)[-2:]) + f"\n\n{one}" for said, one in formulas]
                add("formula", heading, _html("\n\n".join(shown), names))
        elif cell.cell_type == "code" and not heading.startswith(_SKIPPED):
            for id in ASKED.findall(cell.source):
                add("predict", heading, _asked(id))
            for output in cell.get("outputs", []):
                if outputs.PLOTLY in output.get("data", {}):
                    add("figure", heading, outputs.figure({outputs.PLOTLY: output["data"][outputs.PLOTLY]}))
            for id in _TOLD.findall(cell.source):
                one = questions.prediction(id)
                add("outcome", heading, _html(f"**What happened:** {one.options[one.happened]}. {one.because}"))
    return slides


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+(?=[A-Z$])", text)


def _html(source: str, names: Sequence[str] = ()) -> Markup:
    return Markup(markdown.to_html(source, names))


def _asked(id: str) -> Markup:
    one = questions.prediction(id)
    options = Markup().join(Markup("<li>{}</li>").format(_html(text)) for text in one.options.values())
    asks = _html(one.asks)
    return Markup('<div class="asks"><p><b>Predict.</b></p>{}<ul>{}</ul></div>').format(asks, options)
