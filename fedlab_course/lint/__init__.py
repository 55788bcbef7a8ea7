"""What the notebooks of the course keep to: any notebook its cells, a chapter its form, its evidence and its symbols.

That every figure has a text alternative can be seen only in a run: ``tests/course/test_notebooks.py`` looks there.
"""

import json
from pathlib import Path

from fedlab_course.chapters import outline
from fedlab_course.lint import bindings, cells, form, letters
from fedlab_course.lint.cells import misspelt

__all__ = ["check", "misspelt"]


def check(path: Path) -> list[str]:
    """Every fault of the notebook at ``path``, most naming their cell; empty if there is none.

    A notebook that is named as a chapter of the outline is held to what chapters keep to as well.
    """
    import nbformat

    text = path.read_text(encoding="utf-8")
    notebook, names = nbformat.reads(text, as_version=4), [cell.get("id", "") for cell in json.loads(text)["cells"]]
    found = [*cells.faults(notebook, names, path.stem)]
    chapter = outline.named(path.stem)
    if chapter is not None:
        found += [*form.faults(notebook, chapter), *bindings.faults(notebook), *letters.faults(notebook, chapter)]
    return found
