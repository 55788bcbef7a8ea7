"""The chapters for cloud notebooks, with badges that open them and a first cell that installs the course.

A host such as Colab or Kaggle has PyTorch, NumPy and others in versions that its own tools need. The cell makes pip
keep all of them: pip installs only missing packages, or nothing if an installed package is too old.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fedlab_course import folders
from fedlab_course.chapters import outline

CELL = "install-the-course"
HEADING = "# The course in the cloud\n"

_INSTALL = """\
# On a host without the course, such as Colab or Kaggle: install it, and keep every installed package.
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
            "The course was not installed, and nothing was changed: an installed package is too old, "
            f"or there is no network. Output of pip:\\n{{done.stdout[-2000:]}}"
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
Click a badge to open a chapter in the browser; its first cell installs the course. Colab needs a Google account. Kaggle
needs an account with a confirmed telephone number, and the internet switched on in the settings of the notebook. Binder
needs no account, takes minutes to start, and does not save your work.

{table}
"""


def build(
    repository: str,
    out: Path,
    *,
    branch: str = "main",
    wheel: str | None = None,
    only: Sequence[str] = (),
    notebooks: Path | None = None,
) -> list[Path]:
    """Write the notebooks for hosts, and a README.md with a table of badges, to ``out``; return their paths.

    ``repository``: "OWNER/NAME" at GitHub, which will have the folder ``out`` at the same path on ``branch`` (or a tag
    or a commit). ``wheel``: the address that pip installs the course from, by default the archive of the branch, which
    needs no release and no git on the host. ``only``: numbers or names. Raises ``ValueError`` before anything is
    written for invalid names and addresses, a notebook without a title, and a folder with its own README.md or the
    notebooks of the course.
    """
    import nbformat

    folder = notebooks or folders.NOTEBOOKS
    checked(repository, branch, wheel)
    readme = out / "README.md"
    if out.resolve() == folder.resolve():
        raise ValueError(f"--out {out}: would overwrite the notebooks of the course; name another folder")
    if readme.is_file() and not readme.read_text(encoding="utf-8").startswith(HEADING):
        raise ValueError(f"--out {out}: has its own README.md; name another folder")
    paths = folders.select(folder, only)
    source = wheel or f"https://github.com/{repository}/archive/{quote(branch)}.zip"
    opened = {path.stem: links(repository, branch, place(out), path.name) for path in paths}
    made = {out / path.name: convert(path, opened[path.stem], source) for path in paths}
    folders.make(out)
    for path, notebook in made.items():
        nbformat.write(notebook, path)
    readme.write_text(_README.format(heading=HEADING, table=table(opened)), encoding="utf-8")
    return [*made, readme]


def checked(repository: str, branch: str, wheel: str | None) -> None:
    """Raise ``ValueError`` for an invalid repository, branch or address of a wheel."""
    owner, name = r"[A-Za-z0-9](-?[A-Za-z0-9]){0,38}", r"(?!\.{1,2}$)[\w.-]{1,100}"
    if not re.fullmatch(f"{owner}/{name}", repository, flags=re.ASCII):
        raise ValueError(
            f"--repository {repository}: must be OWNER/NAME of a GitHub repository, for example jane-doe/my-course"
        )
    if not re.fullmatch(r"(?!.*(\.\.|//))\w([\w./-]*\w)?", branch, flags=re.ASCII):
        raise ValueError(f"--branch {branch}: must be a branch, a tag or a commit, of letters, digits and . _ - /")
    if wheel is not None and not re.fullmatch(r"(https|git\+https|file)://[^\s'\"\\]+", wheel):
        raise ValueError(f"--wheel {wheel}: must be an address that begins with https://, git+https:// or file://")


def place(out: Path) -> str:
    """The path of ``out`` in the repository: as given if it is relative, else its last part."""
    inside = not out.is_absolute() and ".." not in out.parts and out.name
    return out.as_posix() if inside else out.resolve().name


def links(repository: str, branch: str, folder: str, name: str) -> dict[str, str]:
    """Host → the address that opens a notebook there. Binder opens the notebooks of its own installed course."""
    file = f"{repository}/blob/{quote(branch)}/{quote(f'{folder}/{name}')}"
    return {
        "Colab": f"https://colab.research.google.com/github/{file}",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src=https://github.com/{file}",
        "Binder": f"https://mybinder.org/v2/gh/{repository}/{quote(branch, safe='')}?urlpath=lab/tree/notebooks/{name}",
    }


def convert(path: Path, opened: dict[str, str], source: str) -> Any:
    """Read the notebook at ``path``, and add badges below its title and the cell that installs ``source``."""
    import nbformat
    from nbformat.v4 import new_code_cell

    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        raise ValueError(f"{path.name}: must begin with a cell of text whose first line is a title, '# …'")
    title, end, rest = first.source.partition("\n")
    first.source = f"{title}\n\n{' '.join(badge('this chapter', host, url) for host, url in opened.items())}{end}{rest}"
    course = f"fedlab-core[hosted] @ {source}"
    notebook.cells.insert(1, new_code_cell(_INSTALL.format(course=course).strip(), id=CELL))
    return notebook


def badge(what: str, host: str, url: str) -> str:
    """A picture with a link, in Markdown; its alternative text says what the link opens."""
    return f"[![Open {what} in {host}]({_BADGES[host]})]({url})"


def table(opened: dict[str, dict[str, str]]) -> str:
    """Notebook → host → address, as a Markdown table of badges."""
    rows = ["| chapter | " + " | ".join(_BADGES) + " |", "|---" * (1 + len(_BADGES)) + "|"]
    for stem, urls in opened.items():
        chapter = outline.named(stem)
        name = stem if chapter is None else f"{int(chapter.number)}. {chapter.title}"
        what = stem if chapter is None else f"chapter {int(chapter.number)}, {chapter.title},"
        rows.append(f"| {name} | " + " | ".join(badge(what, host, url) for host, url in urls.items()) + " |")
    return "\n".join(rows)
