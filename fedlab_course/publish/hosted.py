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
from fedlab_course.publish import build as builder

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

    ``repository``: "OWNER/NAME" at GitHub, which will have the folder ``out`` at the same path on ``branch``.
    ``wheel``: the address that pip installs the course from, by default the archive of the branch. ``only``: numbers or
    names. Raises ``ValueError`` before anything is written for invalid names and addresses, a notebook without a title,
    and a folder with its own README.md or the notebooks of the course.
    """
    if not re.fullmatch(r"[A-Za-z0-9-]+/(?!\.)[\w.-]+", repository, flags=re.ASCII):
        words = "must be OWNER/NAME of a GitHub repository, for example jane-doe/my-course"
        raise ValueError(f"--repository {repository}: {words}")
    if wheel is not None and not re.match("(https|git\\+https|file)://", wheel):
        raise ValueError(f"--wheel {wheel}: must be an address that begins with https://, git+https:// or file://")
    readme, folder = out / "README.md", notebooks or folders.NOTEBOOKS
    if readme.is_file() and not readme.read_text(encoding="utf-8").startswith(HEADING):
        raise ValueError(f"--out {out}: has its own README.md; name another folder")
    inside = not out.is_absolute() and ".." not in out.parts and out.name
    place = f"{repository}/blob/{quote(branch)}/{quote(out.as_posix() if inside else out.resolve().name)}"
    source = wheel or f"https://github.com/{repository}/archive/{quote(branch)}.zip"
    addresses = {
        "Colab": f"https://colab.research.google.com/github/{place}/",
        "Kaggle": f"https://kaggle.com/kernels/welcome?src=https://github.com/{place}/",
        # of its own installed course
        "Binder": f"https://mybinder.org/v2/gh/{repository}/{quote(branch, safe='')}?urlpath=lab/tree/notebooks/",
    }
    made: dict[str, Any] = {}
    rows = ["| chapter | " + " | ".join(_BADGES) + " |", "|---" * (1 + len(_BADGES)) + "|"]
    for path in folders.select(folder, only):
        made[path.name], title, badges = _convert(path, addresses, source)
        rows.append(f"| {title} | {' | '.join(badges)} |")
    written = builder.write(out, folder, made)
    readme.write_text(_README.format(heading=HEADING, table="\n".join(rows)), encoding="utf-8")
    return [*written, readme]


def _convert(path: Path, addresses: dict[str, str], source: str) -> tuple[Any, str, list[str]]:
    """The notebook at ``path`` with badges below its title and the cell that installs ``source``; title and badges."""
    import nbformat
    from nbformat.v4 import new_code_cell

    notebook = nbformat.read(path, as_version=4)
    first = notebook.cells[0] if notebook.cells else None
    if first is None or first.cell_type != "markdown" or not first.source.startswith("# "):
        raise ValueError(f"{path.name}: must begin with a cell of text whose first line is a title, '# …'")
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
