"""The reference of both packages, made by pdoc from their docstrings: ``python -m fedlab_course.publish.api FOLDER``.

pdoc imports what it describes and patches modules while it does, so it runs in a process of its own.
"""

import hashlib
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import fedlab_core
from fedlab_core import algorithms
from fedlab_course import folders

# What ``import fedlab_core as fl`` shows is described by its package; beside it, the files that open with a paper's
# equations, and the objects that an algorithm is given.
_NAMES = ("data.partition", "data.synthetic", "server", "clients.updates", "one_page")
_FILES = sorted(path.stem for path in Path(algorithms.__path__[0]).glob("[a-z]*.py"))
MODULES = (
    "fedlab_core",
    *(f"fedlab_core.algorithms.{name}" for name in _FILES),
    *(f"fedlab_core.{name}" for name in _NAMES),
    "fedlab_course",
    "fedlab_course.explore",  # the package has it only when it is asked for
    r"!fedlab_course[.]\w+[.]",  # what lies behind what notebooks import, the solutions of exercises among it
)
STAMP = "made-from.txt"
_TEMPLATES = Path(__file__).parent / "reference"


def write(target: Path) -> None:
    """Write the reference into the folder ``target``, unless the one there was made from the same source.

    Raises ``RuntimeError`` with what pdoc said if it failed.
    """
    wanted, stamp = _digest(), target / STAMP
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    print("API reference: started", flush=True)
    command = [sys.executable, "-W", "ignore", "-m", "fedlab_course.publish.api", str(target)]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace")
    if result.returncode:
        raise RuntimeError(f"the API reference could not be made: {result.stderr.strip()}")
    stamp.write_text(wanted, encoding="utf-8")


def _digest() -> str:
    """Of all that the pages depend on."""
    sources = [folders.digest(Path(package).parent) for package in (fedlab_core.__file__, folders.__file__)]
    templates = [path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.iterdir())]
    return hashlib.sha256(repr([version("pdoc"), sources, templates]).encode()).hexdigest()


def _make(target: Path) -> None:
    """Write the pages, in a process that does nothing else."""
    import pdoc
    from pdoc import docstrings, render

    plain = docstrings.rst
    # "…, for example::" announces an indented block, which Markdown has without a sign; "~" asks to leave out a module.
    signs = re.compile(r":(?=:$)|(?<=:`)~", flags=re.MULTILINE)
    vars(docstrings)["rst"] = lambda text, source: plain(signs.sub("", text), source)
    footer = f"fedlab_core {fedlab_core.__version__}"
    render.configure(footer_text=footer, template_directory=_TEMPLATES)
    pdoc.pdoc(*MODULES, output_directory=target)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
