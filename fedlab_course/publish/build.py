"""The versions of the course for students, instructors and cloud notebooks, in each language.

The first two have the cell metadata of nbgrader (schema 3). Tasks and checks are locked; the check
gives the points. ``student`` has no solutions. ``instructor`` has each solution in its answer cell,
between the markers that ``nbgrader generate_assignment`` removes again.

A host such as Colab or Kaggle has PyTorch, NumPy and others in versions that its own tools need.
Its notebooks have badges that open them, and a first cell that installs the course and makes pip
keep all of them: pip installs only missing packages, or nothing if an installed package is too old.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fedlab_core import language, validation
from fedlab_course import folders
from fedlab_course.check import cells, registry
from fedlab_course.check.base import Proof
from fedlab_course.translation import notebooks as translation

VERSIONS = ("student", "instructor")
PLAIN = "plain"  # the notebooks as they are, in another language
PROOF = "Your proof."  # the text of a new cell for a proof
_MADE = "fedlab_made"  # in the metadata of a plain notebook: the digest of its cells
_LOCKED = {"grade": False, "solution": False, "locked": True}

CELL = "install-the-course"
HEADING = "# The course in the cloud\n"

_INSTALL = """\
# On a host without the course, such as Colab or Kaggle: install it, and keep every installed
# package.
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

COURSE = {course!r}

if importlib.util.find_spec("fedlab_course") is None:
    pip = [sys.executable, "-m", "pip"]
    there = subprocess.check_output([*pip, "list", "--format=freeze"], text=True)
    keep = pathlib.Path(tempfile.mkdtemp(), "keep.txt")
    keep.write_text(there)
    command = [*pip, "install", "--constraint", str(keep), COURSE]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(
            "The course was not installed, and nothing was changed: an installed package is too "
            f"old, or there is no network. Output of pip:\\n{{done.stdout[-2000:]}}"
        )
    importlib.invalidate_caches()
    print("The course is installed. No other package was changed.")
"""
_BADGES = {
    "Colab": "https://colab.research.google.com/assets/colab-badge.svg",
    "Kaggle": "https://kaggle.com/static/images/open-in-kaggle.svg",
    "Binder": "https://mybinder.org/badge_logo.svg",
}
_README = """\
{heading}
Click a badge to open a chapter in the browser; its first cell installs the course. Colab needs a
Google account. Kaggle needs an account with a confirmed telephone number, and the internet switched
on in the settings of the notebook. Binder needs no account, takes minutes to start, and does not
save your work.

{table}
"""


def build(
    version: str,
    out: Path,
    code: str = language.SOURCE,
    *,
    only: Sequence[str] = (),
    notebooks: Path = folders.NOTEBOOKS,
) -> list[Path]:
    """Write the notebooks of a ``version`` ("student", "instructor" or "plain") in the language
    ``code``, such as "zh", to the folder ``out``; return their paths.

    ``only``: numbers or names. A plain notebook in ``out`` that a reader has changed is kept.
    Raises ``ValueError`` before anything is written if the exercises in a notebook differ from the
    registered ones, or if ``out`` is a file or the folder of the notebooks.
    """
    validation.choice("version", version, (*VERSIONS, PLAIN))
    language.known(code, "language")
    made = {}
    for path in folders.select(notebooks, only):
        notebook = translation.read(path) if version == PLAIN else convert(path, version)
        if code != language.SOURCE:
            notebook = translation.translated(notebook, path.stem, code)
        if version == PLAIN:
            notebook.metadata[_MADE] = _digest(notebook)
            if _is_changed(out / path.name):
                print(f"kept: {out / path.name} has changes of its own")
                notebook = translation.read(out / path.name)
        made[path.name] = notebook
    return write(out, notebooks, made)


def _digest(notebook: Any) -> str:
    """A digest of the sources of all cells."""
    sources = "\0".join(cell.source for cell in notebook.cells)
    return hashlib.sha256(sources.encode()).hexdigest()


def _is_changed(path: Path) -> bool:
    """True if the cells of the notebook in a file are not those that were written."""
    if not path.is_file():
        return False
    notebook = translation.read(path)
    return notebook.metadata.get(_MADE) != _digest(notebook)


def write(out: Path, source: Path, notebooks: dict[str, Any]) -> list[Path]:
    """Write ``notebooks``, by name, to ``out``. Raises ``ValueError`` if it is a file or the folder
    ``source``.
    """
    import nbformat

    if out.resolve() == source.resolve():
        raise ValueError(
            f"--out {out}: would overwrite the notebooks of the course; name another folder"
        )
    folders.make(out)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, out / name)
    return [out / name for name in notebooks]


def convert(path: Path, version: str) -> Any:
    """Read the notebook at ``path`` in a ``version``. Raises ``ValueError`` if it differs from the
    registry.
    """
    import nbformat
    from nbformat.v4 import new_markdown_cell

    notebook = nbformat.read(path, as_version=4)
    exercises = registry.of_chapter(path.stem)
    faults = cells.drift(notebook, exercises)
    if faults:
        raise ValueError(f"{path.name}: {'; '.join(faults)}. Run python -m fedlab_course.check")
    by_id = {cell.get("id"): cell for cell in notebook.cells}
    for exercise in exercises:
        task = by_id[cells.cell_id(exercise, "task")]
        _mark(task, **_LOCKED)
        if isinstance(exercise, Proof):  # an answer cell below its task; a person grades it
            answer = new_markdown_cell(PROOF, id=cells.cell_id(exercise, "answer"))
            _mark(answer, grade=True, solution=True, locked=False, points=exercise.points)
            notebook.cells.insert(notebook.cells.index(task) + 1, answer)
            continue
        answer, check = (by_id[cells.cell_id(exercise, part)] for part in ("answer", "check"))
        _mark(answer, grade=False, solution=True, locked=False)
        _mark(check, grade=True, solution=False, locked=True, points=exercise.points)
        if version == "instructor":
            answer.source = exercise.marked_source.strip()
    folded = {cells.cell_id(exercise, "solution") for exercise in exercises}
    notebook.cells = [cell for cell in notebook.cells if cell.get("id") not in folded]
    if cells.SECTION in by_id:
        by_id[cells.SECTION].source = by_id[cells.SECTION].source.replace(cells.FOLDED, "")
    return notebook


def _mark(cell: Any, **role: Any) -> None:
    """Add the metadata of nbgrader."""
    common = {"grade_id": cell.id, "schema_version": 3, "cell_type": cell.cell_type, "task": False}
    cell.metadata["nbgrader"] = common | role


def hosted(
    repository: str,
    out: Path,
    *,
    branch: str = "main",
    wheel: str | None = None,
    only: Sequence[str] = (),
    notebooks: Path = folders.NOTEBOOKS,
) -> list[Path]:
    """Write the notebooks for cloud hosts, and a README.md with a table of badges, to ``out``;
    return their paths.

    ``repository``: "OWNER/NAME" at GitHub, which will have the folder ``out`` at the same path on
    ``branch``. ``wheel``: the address that pip installs the course from, by default the archive of
    the branch. ``only``: numbers or names. Raises ``ValueError`` before anything is written for
    invalid names and addresses, a notebook without a title, and a folder with its own README.md or
    the notebooks of the course.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]+/(?!\.)[\w.-]+", repository, flags=re.ASCII):
        words = "must be OWNER/NAME of a GitHub repository, for example jane-doe/my-course"
        raise ValueError(f"--repository {repository}: {words}")
    if wheel is not None and not re.match("(https|git\\+https|file)://", wheel):
        raise ValueError(
            f"--wheel {wheel}: must be an address that begins with https://, git+https:// or "
            "file://"
        )
    readme = out / "README.md"
    if readme.is_file() and not readme.read_text(encoding="utf-8").startswith(HEADING):
        raise ValueError(f"--out {out}: has its own README.md; name another folder")
    inside = not out.is_absolute() and ".." not in out.parts and out.name
    folder = quote(out.as_posix() if inside else out.resolve().name)
    place = f"{repository}/blob/{quote(branch)}/{folder}"
    source = wheel or f"https://github.com/{repository}/archive/{quote(branch)}.zip"
    addresses = {
        "Colab": f"https://colab.research.google.com/github/{place}/",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src=https://github.com/{place}/",
        # of its own installed course
        "Binder": (
            f"https://mybinder.org/v2/gh/{repository}/{quote(branch, safe='')}"
            "?urlpath=lab/tree/notebooks/"
        ),
    }
    made: dict[str, Any] = {}
    rows = ["| chapter | " + " | ".join(_BADGES) + " |", "|---" * (1 + len(_BADGES)) + "|"]
    for path in folders.select(notebooks, only):
        made[path.name], title, badges = _opened(path, addresses, source)
        rows.append(f"| {title} | {' | '.join(badges)} |")
    written = write(out, notebooks, made)
    readme.write_text(_README.format(heading=HEADING, table="\n".join(rows)), encoding="utf-8")
    return [*written, readme]


def _opened(path: Path, addresses: dict[str, str], source: str) -> tuple[Any, str, list[str]]:
    """The notebook at ``path`` with badges below its title and the cell that installs ``source``;
    title and badges.
    """
    import nbformat
    from nbformat.v4 import new_code_cell

    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        raise ValueError(
            f"{path.name}: must begin with a cell of text whose first line is a title, '# …'"
        )
    heading, end, rest = first.source.partition("\n")
    title = heading.removeprefix("# ")
    badges = [
        f"[![Open {title} in {host}]({_BADGES[host]})]({address}{quote(path.name)})"
        for host, address in addresses.items()
    ]
    first.source = f"{heading}\n\n{' '.join(badges)}{end}{rest}"
    install = _INSTALL.format(course=f"fedlab-core[hosted] @ {source}").strip()
    notebook.cells.insert(1, new_code_cell(install, id=CELL))
    return notebook, title, badges
