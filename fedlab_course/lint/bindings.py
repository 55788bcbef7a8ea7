"""Bindings: a comment behind a sentence names what the sentence rests on, in whatever language it is written.

``<!-- 001-1f equivalent, 001-2a holds -->`` names stored statements, each with the verdict that the sentence states;
``<!-- live -->`` means a check in the notebook itself, ``<!-- exact -->`` a formula in the text.
"""

import re
from collections.abc import Iterator
from typing import Any

from fedlab_course.evidence import judging

_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)


def faults(notebook: Any) -> Iterator[str]:
    """Yield the bindings that name no stored statement, or another verdict than the stored one."""
    known = judging.every()
    for cell in notebook.cells:
        comments = _COMMENT.findall(cell.source) if cell.cell_type == "markdown" else []
        for binding in (one.strip() for comment in comments for one in comment.split(",")):
            id, _, verdict = binding.partition(" ")
            if id in known:
                stored = known[id].finding.verdict
                if verdict != stored:
                    yield f"cell {cell.get('id')}: binding {binding!r}: the stored verdict on {id} is {stored!r}"
            elif binding not in ("live", "exact"):
                yield f"cell {cell.get('id')}: binding {binding!r}: must be a stored statement, 'live' or 'exact'"
