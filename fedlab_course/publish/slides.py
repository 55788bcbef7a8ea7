"""Slides of a chapter from its own text and figures: question, predictions, results, and what to remember."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from fedlab_course.check import bank
from fedlab_course.publish import markdown, outputs

_HEADING = re.compile(r"^#{2,3} +(.+)$", flags=re.MULTILINE)
_ASKED = re.compile(r"questions\.predict\(\s*\"([^\"]+)\"")
_SEEN = "**What we see.**"
_SKIPPED = ("Exercise", "Explore", "Further reading", "How to use")


def of(notebook: Any, title: str, question: str, names: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Make the slides of an executed notebook, each with ``title`` and ``parts`` in HTML; the first has ``question``.

    A prediction has its own slide before its result. A figure has a slide together with its interpretation.
    """
    slides = [{"title": title, "parts": [Markup("<p>{}</p>").format(question)], "kind": "opening"}]
    heading, pending = title, None
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = next(iter(_HEADING.findall(cell.source)[-1:]), heading)
            said = _said(cell.source)
            if said and pending is not None:
                pending["parts"].append(Markup(markdown.to_html(said, names)))
                pending = None
            if cell.source.startswith("## What to remember"):
                own = re.split(r"^## ", cell.source, flags=re.MULTILINE)[1].partition("\n")[2]
                slides.append(_slide("What to remember", Markup(markdown.to_html(own, names)), "remember"))
            continue
        if cell.cell_type != "code" or heading.startswith(_SKIPPED):
            continue
        slides += [_slide(heading, asked, "predict") for asked in _asked(cell.source)]
        for figure in _figures(cell):
            pending = _slide(heading, figure, "figure")
            slides.append(pending)
    return slides


def _slide(title: str, part: Markup, kind: str) -> dict[str, Any]:
    return {"title": Markup(markdown.to_html(title)).striptags(), "parts": [part], "kind": kind}


def _said(source: str) -> str:
    """The first two sentences of the cell's "What we see", in Markdown; "" if it has none."""
    paragraph = next((one for one in source.split("\n\n") if one.startswith(_SEEN)), "")
    plain = re.sub(r"\s*<!--.*?-->", "", paragraph.removeprefix(_SEEN), flags=re.DOTALL).strip()
    return " ".join(re.split(r"(?<=[.!?])\s+(?=[A-Z$])", plain)[:2])


def _asked(source: str) -> Iterator[Markup]:
    for id in _ASKED.findall(source):
        one = bank.prediction(id)
        options = Markup().join(
            Markup("<li>{}</li>").format(Markup(markdown.to_html(text))) for text in one.options.values()
        )
        asks = Markup(markdown.to_html(one.asks))
        yield Markup('<div class="asks"><p><b>Predict.</b></p>{}<ul>{}</ul></div>').format(asks, options)


def _figures(cell: Any) -> Iterator[Markup]:
    for output in cell.get("outputs", []):
        spec = output.get("data", {}).get(outputs.PLOTLY)
        if spec is not None:
            yield outputs.figure(spec)
