"""The static site: a start page and one page for each executed notebook, without requests to other servers."""

import ast
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import plotly
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from nbconvert.filters import Highlight2HTML
from pygments.formatters import HtmlFormatter

from fedlab_core import files
from fedlab_course.chapters import outline
from fedlab_course.evidence import shown
from fedlab_course.explore import grid, shows
from fedlab_course.publish import glossary, markdown, outputs, runs, slides, symbols

TEMPLATE, SCRIPTS = Path(__file__).parent / "template", Path(__file__).parent / "scripts"
ASSETS = "assets"
REFERENCE = "api/index.html"
PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def build(
    pages: Sequence[dict[str, Any]], target: Path, profile: str, missing: Sequence[str] = (), assets: str | None = None
) -> None:
    """Write ``target/index.html`` and each of ``pages``, which :func:`page` has made.

    ``missing``: the unfinished notebooks of a stopped run, which the start page lists. ``assets``: the folder of styles
    and scripts, relative to ``target``; without it they are written there.
    """
    if assets is None:
        write_assets(target)
    templates = environment(assets or ASSETS)
    for number, page in enumerate(pages):
        before, after = pages[max(0, number - 1) : number], pages[number + 1 : number + 2]
        links = {"previous": before[0] if before else None, "next": after[0] if after else None}
        html = templates.get_template("notebook.html.j2").render(page=page, profile=profile, **links)
        (target / f"{page['name']}.html").write_text(html, encoding="utf-8")
        deck = templates.get_template("slides.html.j2").render(page=page)
        (target / slides_name(page["name"])).write_text(deck, encoding="utf-8")
    write_symbols(templates, target)
    home = templates.get_template("home.html.j2").render(
        pages=pages,
        tracks=_tracks(pages),
        profile=profile,
        missing=missing,
        show=Markup(shows.one_round().html),
        moving=_moving(pages),
        words=shown.WORDS,
        unmeasured=shown.UNMEASURED,
        reference=(target / REFERENCE).is_file(),
    )
    (target / "index.html").write_text(home, encoding="utf-8")


def write_rows(results: Sequence[Any], links: Sequence[str | None], target: Path, profile: str) -> None:
    """Write ``target/index.html`` for a run over rows: a table of ``results``, each with the link to its own site."""
    write_assets(target)
    templates = environment(ASSETS)
    write_symbols(templates, target)
    names = list(dict.fromkeys(name for result in results for name in result.parameters))
    rows = [
        {
            "result": result,
            "link": link,
            "values": [_text(result.parameters.get(name, "")) for name in names],
            "held": sum(verdict["holds"] for verdict in result.verdicts),
        }
        for result, link in zip(results, links, strict=True)
    ]
    html = templates.get_template("rows.html.j2").render(names=names, rows=rows, profile=profile)
    with files.replacing(target / "index.html") as file:
        file.write(html.encode())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def slides_name(name: str) -> str:
    """The name of the file with the slides of a notebook."""
    return f"{name}_slides.html"


def write_symbols(templates: Environment, target: Path) -> None:
    """Write ``target/symbols.html``, the symbols and the glossary."""
    tables = {"symbols": symbols.table(), "glossary": glossary.table()}
    html = templates.get_template("symbols.html.j2").render(
        {name: Markup(markdown.to_html(table)) for name, table in tables.items()}
    )
    (target / "symbols.html").write_text(html, encoding="utf-8")


def environment(assets: str) -> Environment:
    """The templates of pages that load styles and scripts from the folder ``assets``."""
    templates = Environment(
        loader=PackageLoader("fedlab_course.publish", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["assets"] = assets
    return templates


def write_assets(target: Path) -> None:
    """Write the styles and scripts of a site into the folder ``target``."""
    folder = target / ASSETS
    folder.mkdir(parents=True, exist_ok=True)
    for path in (TEMPLATE / "site.css", *SCRIPTS.glob("*.js")):
        shutil.copyfile(path, folder / path.name)
    with (folder / "site.css").open("a", encoding="utf-8") as css:
        css.write(_code_style("xcode") + "\n")
        css.write(f"@media screen and (prefers-color-scheme: dark) {{\n{_code_style('github-dark')}\n}}\n")
    shutil.copyfile(PLOTLY_JS, folder / "plotly.min.js")


def _code_style(style: str) -> str:
    return str(HtmlFormatter(style=style).get_style_defs(".highlight"))


def page(result: dict[str, Any], notebooks: Path, names: Sequence[str], cache: Path) -> dict[str, Any]:
    """Prepare one executed notebook for the templates; ``result`` is its entry in summary.json.

    ``notebooks``: the folder of executed notebooks. ``names``: the notebooks that have a page and so can be linked to.
    Runs of its explorers are read from ``cache``, or trained and stored there.
    """
    notebook = nbformat.read(notebooks / f"{result['name']}.ipynb", as_version=4)
    title, lead = heading(notebook)
    chapter = outline.named(result["name"])
    question = chapter.question if chapter else ""
    found = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    for data in found:
        if grid.RUNS in data:
            data |= runs.stored(data[grid.RUNS], cache)
    grids = [data for data in found if grid.MIME in data]
    cells = [_cell(cell, names) for cell in notebook.cells]
    return {
        **result,
        "number": result["name"].partition("_")[0],
        "title": title or result["name"],
        "question": question,
        "lead": Markup(markdown.to_html(lead, names)),
        "cells": cells,
        "contents": markdown.contents(cell["html"] for cell in cells if cell["kind"] == "markdown"),
        "slides": slides.of(notebook, title or result["name"], question, names),
        "plots": any(mime in data for data in found for mime in (outputs.PLOTLY, grid.MIME)),
        "moving": next((data for data in grids if grid.RUNS in data), next(iter(grids), None)),
    }


def _tracks(pages: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Group the pages by the heading of their track; other notebooks have no heading."""
    of = {chapter.stem: chapter.track for chapter in outline.CHAPTERS}
    headings = {"core": "The core track", "further": "Further chapters", "": ""}
    found = {track: [page for page in pages if of.get(page["name"], "") == track] for track in headings}
    return [(heading, found[track]) for track, heading in headings.items() if found[track]]


def _moving(pages: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Choose the interactive figure of the start page, a grid of runs if a page has one, with its page."""
    having = [page for page in pages if page["moving"]]
    page = next((page for page in having if grid.RUNS in page["moving"]), next(iter(having), None))
    if page is None:
        return None
    spec, stored = page["moving"][outputs.PLOTLY], page["moving"][grid.MIME]
    html = outputs.figure(spec, outputs.controls(stored), "plot small")
    return {"html": html, "page": page}


def heading(notebook: Any) -> tuple[str, str]:
    """The title of a notebook (the first ``# heading``) and its first plain paragraph, as Markdown."""
    first = next((cell.source for cell in notebook.cells if cell.cell_type == "markdown"), "")
    blocks = [block.strip() for block in first.split("\n\n")]
    title = next((block.splitlines()[0][2:].strip() for block in blocks if block.startswith("# ")), "")
    rest = [block.split("\n", 1)[1].strip() if block.startswith("# ") and "\n" in block else block for block in blocks]
    return title, next((block for block in rest if block and not block.startswith(("#", "-", "*", "<", "|", ">"))), "")


def _cell(cell: Any, names: Sequence[str]) -> dict[str, Any]:
    if cell.cell_type == "markdown":
        return {"kind": "markdown", "html": Markup(markdown.to_html(cell.source, names))}
    if cell.cell_type != "code" or not cell.source.strip():
        return {"kind": "none"}
    given = "injected-parameters" in cell.metadata.get("tags", [])
    return {
        "kind": "given" if given else "spoken" if _only_speaks(cell.source) else "code",
        "source": [line for line in cell.source.splitlines() if not line.startswith("#")],
        "html": Markup(Highlight2HTML(pygments_lexer="python3")(cell.source)),
        "folded": cell.metadata.get("jupyter", {}).get("source_hidden", False),
        "outputs": [outputs.render(output) for output in cell.outputs],
    }


def _only_speaks(source: str) -> bool:
    """Whether a cell only asks questions and shows stored verdicts; a page then shows its output without its code."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:
        return False
    calls = [one.value.func for one in statements if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    named = [(getattr(call.value, "id", ""), call.attr) for call in calls if isinstance(call, ast.Attribute)]
    return len(named) == len(statements) and all(
        module == "questions" or (module, name) == ("claims", "stored") for module, name in named
    )
