"""What the cells of a notebook define, for tests of the code that a reader sees."""

from collections.abc import Mapping
from typing import Any

import nbformat

from fedlab_course import folders


def defined(
    notebook: str,
    *cells: str,
    names: Mapping[str, Any] | None = None,
    without: tuple[str, ...] = (),
) -> dict[str, Any]:
    """The names after running these cells, by id and in this order, of the notebook with this file
    name.

    ``names``: what is there before; lines that begin with one of ``without`` are left out.
    """
    sources = {
        cell.id: cell.source
        for cell in nbformat.read(folders.NOTEBOOKS / notebook, as_version=4).cells
    }
    known: dict[str, Any] = dict(names or {})
    for cell in cells:
        lines = [
            line for line in sources[cell].splitlines() if not line.startswith(without or ("\0",))
        ]
        exec(compile("\n".join(lines), f"{notebook}: {cell}", "exec"), known)
    return known


def text_of(notebook: str) -> str:
    """The Markdown of the notebook with this file name."""
    cells = nbformat.read(folders.NOTEBOOKS / notebook, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
