"""Tables in Markdown, as GitHub, JupyterLab and pandoc read them."""

import re
from typing import Any

from fedlab_core.write.frames import Cell, grid

# What means something to Markdown, to HTML within it, or to formulas within that.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&#|~$])")


def markdown(frame: Any, *, digits: int = 3, best: str | None = None) -> str:
    """A frame of :mod:`fedlab_core.compare`, or any other, as a table in Markdown.

    Text cells, as those of ``compare.table``, stay as they are; floats get ``digits`` decimals; ``low`` and ``high`` of
    ``compare.summary`` become mean ± half-width. ``best``: "highest" or "lowest" sets the best mean of each column in
    bold, and with it those that are printed alike. Raises ``ValueError`` for anything that is not a frame, or a
    ``best`` for a frame of seeds × names.
    """
    table = grid(frame, digits, best)
    lines = [
        [_escaped(heading) for heading in table.headings],
        ["---:" if right else "---" for right in table.measured],
    ]
    lines += [[_text(cell) for cell in row] for row in table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _text(cell: Cell) -> str:
    text = _escaped(cell.text)
    text = f"**{text}**" if cell.best else text
    return text if cell.spread is None else f"{text} ± {cell.spread}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
