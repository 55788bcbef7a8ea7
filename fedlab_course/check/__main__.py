"""``python -m fedlab_course.check``: write the cells of all exercises into the notebooks."""

import sys

import nbformat

from fedlab_course import folders
from fedlab_course.check import cells, registry


def main(only: list[str]) -> int:
    """Renew the exercises of the notebooks, or of those whose number or name is listed, and say
    which changed.
    """
    for path in folders.select(folders.NOTEBOOKS, only):
        exercises = registry.of_chapter(path.stem)
        notebook = nbformat.read(path, as_version=4)
        if cells.drift(notebook, exercises):
            cells.write(notebook, exercises)
            nbformat.write(notebook, path)
            print(f"{path.name}: {len(exercises)} exercises written")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
