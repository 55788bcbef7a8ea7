"""The rules for notebooks: those for any notebook here, and those for chapters in :mod:`fedlab_course.lint.chapter`.

Whether every figure has a text alternative shows only in a run: ``tests/course/test_notebooks.py`` checks it.
"""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fedlab_course.chapters import outline
from fedlab_course.check import cells, registry
from fedlab_course.lint import chapter

MOST_LINES = 20
MOST_COLUMNS = 98  # the site shows no longer line without scrolling
_FENCED = re.compile(r"^(```|~~~).*?^\1", flags=re.DOTALL | re.MULTILINE)


def check(path: Path) -> list[str]:
    """List the faults of the notebook at ``path``, most with the id of their cell; empty if there is none.

    The rules for chapters apply to a notebook that has the name of a chapter.
    """
    import nbformat

    text = path.read_text(encoding="utf-8")
    notebook, ids = nbformat.reads(text, as_version=4), [cell.get("id", "") for cell in json.loads(text)["cells"]]
    found = [*_stored(notebook), *_headings(notebook)]
    found += [f"cell {id}: two cells have this id" for id in dict.fromkeys(ids) if ids.count(id) > 1]
    tagged = sum("parameters" in cell.metadata.get("tags", []) for cell in notebook.cells)
    if tagged != 1:
        found.append(f"{tagged} cells have the tag parameters; exactly one must have it")
    found += [f"cell {cell.get('id')}: {fault}" for cell in notebook.cells for fault in _code(cell)]
    renew = "(python -m fedlab_course.check writes it anew)"
    found += [f"{fault} {renew}" for fault in cells.drift(notebook, registry.of_chapter(path.stem))]
    named = outline.named(path.stem)
    return found + (list(chapter.faults(notebook, named)) if named else [])


def _stored(notebook: Any) -> Iterator[str]:
    if "widgets" in notebook.metadata:
        yield "the file holds widget state"
    for cell in notebook.cells:
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None):
            yield f"cell {cell.get('id')}: holds outputs or an execution count"


def _headings(notebook: Any) -> Iterator[str]:
    texts = [_FENCED.sub("", cell.source) for cell in notebook.cells if cell.cell_type == "markdown"]
    levels = [len(marks) for text in texts for marks in re.findall(r"^(#{1,6}) ", text, flags=re.MULTILINE)]
    if levels[:1] != [1] or levels.count(1) != 1:
        yield "the first heading must be the title, and the only one of level 1"
    for before, after in itertools.pairwise(levels):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def _code(cell: Any) -> Iterator[str]:
    if cell.cell_type != "code":
        return
    lines = cell.source.splitlines()
    if not cell.source.strip():
        yield "is empty"
    if len(lines) > MOST_LINES:
        yield f"has {len(lines)} lines; at most {MOST_LINES} are allowed"
    for line in lines:
        if len(line) > MOST_COLUMNS:
            yield f"has a line of {len(line)} columns; at most {MOST_COLUMNS} are allowed: {line.strip()[:40]}…"
