"""The static site: a start page and one page for each executed notebook, without requests to other
servers.
"""

import itertools
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import plotly
from markupsafe import Markup
from nbconvert.filters import Highlight2HTML
from pygments.formatters import HtmlFormatter

from fedlab_core import files, language
from fedlab_core.language import translator
from fedlab_core.plots import colours
from fedlab_course import outline, playground
from fedlab_course.evidence import shown
from fedlab_course.explore import grid
from fedlab_course.publish import (
    glossary,
    markdown,
    outputs,
    runs,
    slides,
    switch,
    symbols,
    verdicts,
)

_ = translator(__name__)
TEMPLATE = Path(__file__).parent / "template"
SCRIPTS = Path(__file__).parent / "scripts"
ASSETS = "assets"
# The pages that every header leads to, and those that only a site with chapters has.
_SLIDES = _("Slides")
_PLACES = {_("Playground"): "playground.html", _("Symbols"): "symbols.html"}
_PLACES_OF_CHAPTERS = _PLACES | {_("Evidence"): "evidence.html", _SLIDES: "slides.html"}
_ROWS = _("The notebooks were run once for each row. A claim that does not hold is also a result.")
_SYMBOLS = _(
    "The symbols of all chapters, each with its name in the code if it has one. The table lists a "
    "second use of a letter. A letter that only one section uses is explained there."
)
_ASKED = re.compile(r"questions\.predict\(\s*\"([^\"]+)\"")
# A cell of such calls alone: a page shows its output without its code.
_SPEAKS = re.compile(r"(\s*(questions\.\w+|claims\.stored)\([^()]*\))+\s*")


def build(
    pages: Sequence[dict[str, Any]],
    target: Path,
    profile: str,
    missing: Sequence[str] = (),
    assets: str | None = None,
) -> list[Path]:
    """Write ``target/index.html`` and each of ``pages``, which :func:`page` has made. Return all
    written files.

    ``missing``: the unfinished notebooks of a stopped run, which the start page lists. ``assets``:
    the folder of styles and scripts, relative to ``target``; without it they are written there.

    An earlier name of a chapter has a page that leads to the present one, so that old links work.
    No page lists it.
    """
    written = _write_assets(target) if assets is None else []
    folder = assets or ASSETS
    common = {"assets": folder, "profile": profile, "places": _PLACES_OF_CHAPTERS}
    for number, page in enumerate(pages):
        is_last = number + 1 == len(pages)
        links = {
            "previous": pages[number - 1] if number > 0 else None,
            "next": None if is_last else pages[number + 1],
        }
        deck = f"{page['name']}_slides.html"
        chapter = common | {"places": _PLACES_OF_CHAPTERS | {_SLIDES: deck}}
        written.append(
            _write(target / f"{page['name']}.html", "notebook", page=page, **links, **chapter)
        )
        written.append(_write(target / deck, "slides", page=page, **common))
        for old, end in itertools.product(page["was"], (".html", "_slides.html")):
            written.append(_write(target / f"{old}{end}", "moved", address=f"{page['name']}{end}"))
    written += _write_common(target, folder, _PLACES_OF_CHAPTERS)
    written.append(_write(target / "slides.html", "decks", pages=pages, **common))
    core = sorted((page for page in pages if page["lesson"]), key=lambda page: page["lesson"])
    lessons = itertools.groupby(core, key=lambda page: page["lesson"])
    values: dict[str, Any] = {"pages": pages, "lessons": lessons, "missing": missing}
    values["reference"] = _reference(target)
    written.append(_write(target / "index.html", "home", **values, **common))
    values = {"pages": pages, "words": shown.WORDS, "counted": verdicts.counted}
    written.append(_write(target / "evidence.html", "evidence", **values, **common))
    switch.connect(target)
    return written


def _reference(target: Path) -> str:
    """The address of the API reference, which is in English, or "" if there is none."""
    english = switch.root(target)
    page = english / "api" / "index.html"
    return os.path.relpath(page, target) if page.is_file() else ""


def write_rows(
    results: Sequence[Any], links: Sequence[str | None], target: Path, profile: str
) -> list[Path]:
    """Write ``target/index.html`` for a run over rows: a table of ``results``, each with the link
    to its own site.

    Return all written files.
    """
    written = [*_write_assets(target), *_write_common(target, ASSETS, _PLACES)]
    names = list(dict.fromkeys(name for result in results for name in result.parameters))
    head = [_("Row"), *names, _("Status"), _("Seconds"), _("Claims that hold")]
    lines = [head, ["---"] * len(head)]
    for row, link in zip(results, links, strict=True):
        values = [_text(row.parameters.get(name, "")) for name in names]
        held = ""
        if row.verdicts:
            number = sum(verdict["holds"] for verdict in row.verdicts)
            held = _("{number} of {all}").format(number=number, all=len(row.verdicts))
        name = f"[{_text(row.name)}]({link})" if link else _text(row.name)
        lines.append([name, *values, row.status, f"{row.seconds:.1f}" if row.seconds else "", held])
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    used = _("Profile: {profile}, unless a row sets another.").format(profile=profile)
    html = Markup(markdown.to_html(f"{_ROWS}\n\n{table}\n\n{used}"))
    content = {"title": _("Runs by rows of parameters"), "html": html}
    page = _write(target / "index.html", "text", assets=ASSETS, places=_PLACES, **content)
    return [*written, page]


def _text(value: Any) -> str:
    """A value as Markdown in a cell of a table."""
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return escape(text).replace("|", "&#124;")


def _write(path: Path, template: str, **values: Any) -> Path:
    return _save(path, outputs.TEMPLATES.get_template(f"{template}.html.j2").render(**values))


def _save(path: Path, html: str) -> Path:
    with files.replacing(path) as file:
        file.write(html.encode())
    return path


def _write_common(target: Path, assets: str, places: Mapping[str, str]) -> list[Path]:
    """Write the pages that every site has: the playground, symbols and glossary. Return their
    files.

    ``places``: word → address of the links in the header.
    """
    play = _save(target / "playground.html", playground.html(site=True))
    tables = {_("Symbols"): f"{_SYMBOLS}\n\n{symbols.table()}", _("Glossary"): glossary.table()}
    source = "\n\n".join(f"## {title}\n\n{table}" for title, table in tables.items())
    html = Markup(markdown.to_html(source))
    values = {"title": _("Symbols and glossary"), "html": html}
    return [play, _write(target / "symbols.html", "text", assets=assets, places=places, **values)]


def _write_assets(target: Path) -> list[Path]:
    """Write the styles and scripts of a site into the folder ``target``. Return their files."""
    folder = target / ASSETS
    folder.mkdir(parents=True, exist_ok=True)
    plotly_js = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
    shutil.copyfile(plotly_js, folder / plotly_js.name)
    scripts = sorted(SCRIPTS.glob("*.js"))
    for path in scripts:
        source = language.in_script(path.read_text(encoding="utf-8"), __name__)
        (folder / path.name).write_text(source, encoding="utf-8")
    light, dark = (
        HtmlFormatter(style=name).get_style_defs(".highlight") for name in ("xcode", "github-dark")
    )
    sheets = [
        (TEMPLATE / f"{name}.css").read_text(encoding="utf-8") for name in ("site", "layouts")
    ]
    css = colours.page_variables() + "".join(sheets)
    css += f"{light}\n@media screen and (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    (folder / "site.css").write_text(css, encoding="utf-8")
    return [folder / "site.css", *(folder / path.name for path in (plotly_js, *scripts))]


def page(
    result: dict[str, Any], notebooks: Path, names: Sequence[str], cache: Path
) -> dict[str, Any]:
    """Prepare one executed notebook for the templates; ``result`` is its entry in summary.json.

    ``notebooks``: the folder of executed notebooks. ``names``: the notebooks that have a page.
    ``cache``: the folder of the runs of its explorers.
    """
    notebook = nbformat.read(notebooks / f"{result['name']}.ipynb", as_version=4)
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    heading = re.search(r"^# +(.+)$", first, flags=re.MULTILINE)
    title = heading[1].strip() if heading else result["name"]
    chapter = outline.named(result["name"])
    data_of_outputs = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    for data in data_of_outputs:
        if grid.RUNS in data:
            data |= runs.stored(data[grid.RUNS], cache)
    parts = list(slides.at_headings(notebook.cells))
    cells = [_cell(part, names) for part in parts]
    return {
        **result,
        "number": result["name"].partition("_")[0],
        "title": title,
        "question": chapter.question if chapter else "",
        "track": chapter.track if chapter else "",
        "lesson": chapter.lesson if chapter else 0,
        "was": chapter.was if chapter else (),
        "place": chapter.place if chapter else "",
        "card": Markup(chapter.card) if chapter else "",
        "cells": cells,
        "groups": _groups(parts, cells),
        "contents": markdown.contents(cell["html"] for cell in cells if cell["kind"] == "markdown"),
        "slides": slides.of(notebook, title, chapter.question if chapter else "", names),
        "plots": any(outputs.PLOTLY in data for data in data_of_outputs),
    }


def _groups(
    sources: Sequence[Any], cells: Sequence[dict[str, Any]]
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Group neighbouring cells that wait for the same prediction, or for none: (its id, cells)."""
    pairs = zip(_waits(sources), cells, strict=True)
    groups = itertools.groupby(pairs, key=lambda pair: pair[0])
    return [(id, [cell for _, cell in group]) for id, group in groups]


def _waits(cells: Sequence[Any]) -> Iterator[str]:
    """For each cell the id of the prediction that it waits for, or "": from a cell that asks, the
    last prediction that it asks for, to the next heading.
    """
    id = ""
    for cell in cells:
        if cell.cell_type == "markdown" and cell.source.startswith("#"):
            id = ""
        yield id
        if cell.cell_type == "code":
            id = [id, *_ASKED.findall(cell.source)][-1]


def _cell(cell: Any, names: Sequence[str]) -> dict[str, Any]:
    if cell.cell_type == "markdown":
        source = markdown.for_a_page(cell.source)
        return {"kind": "markdown", "html": Markup(markdown.to_html(source, names))}
    if cell.cell_type != "code" or not cell.source.strip():
        return {"kind": "none"}
    return {
        "kind": _kind(cell),
        "source": [line for line in cell.source.splitlines() if not line.startswith("#")],
        "html": Markup(Highlight2HTML(pygments_lexer="python3")(cell.source)),
        "folded": cell.metadata.get("jupyter", {}).get("source_hidden", False),
        "outputs": [outputs.render(output) for output in cell.outputs],
    }


def _kind(cell: Any) -> str:
    """Return how a page shows a code cell: "given" for parameters of the command line, "spoken" for
    a call that only shows text, "code" otherwise.
    """
    if "injected-parameters" in cell.metadata.get("tags", []):
        return "given"
    if _SPEAKS.fullmatch(cell.source):
        return "spoken"
    return "code"
