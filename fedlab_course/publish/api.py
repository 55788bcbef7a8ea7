"""The API reference of both packages, made by pdoc."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import fedlab_core
from fedlab_core import algorithms
from fedlab_course import folders

# The package page describes ``import fedlab_core as fl``. Further pages: the files of algorithms,
# whose docstrings have the equations of the papers, and the objects that an algorithm receives.
MODULES = (
    "fedlab_core",
    *sorted(
        f"fedlab_core.algorithms.{path.stem}"
        for path in Path(algorithms.__path__[0]).glob("[a-z]*.py")
    ),
    *(
        f"fedlab_core.{name}"
        for name in ("data.partition", "data.synthetic", "server", "clients.updates", "one_page")
    ),
    "fedlab_course",
    "fedlab_course.explore",  # imported only on demand
    r"!fedlab_course[.]\w+[.]",  # internal modules, among them the solutions of exercises
    *(f"fedlab_course.check.{name}" for name in ("claims", "exercises", "questions")),
)
STAMP = "made-from.txt"
_TEMPLATES = Path(__file__).parent / "reference"


def write(target: Path) -> None:
    """Write the reference into the folder ``target``, unless it is there for the same source.

    The stamp lists the written files, which the next reference removes. Raises ``RuntimeError``
    with the output of pdoc if pdoc failed.
    """
    sources = [
        folders.digest(Path(package).parent) for package in (fedlab_core.__file__, folders.__file__)
    ]
    sources += [path.read_text(encoding="utf-8") for path in sorted(_TEMPLATES.iterdir())]
    wanted = hashlib.sha256(repr([version("pdoc"), sources]).encode()).hexdigest()
    stamp = target / STAMP
    stamped, *earlier = stamp.read_text(encoding="utf-8").splitlines() if stamp.is_file() else [""]
    if stamped == wanted:
        return
    print("API reference: started", flush=True)
    with tempfile.TemporaryDirectory() as made:
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "pdoc",
            *MODULES,
            "--output-directory",
            made,
            "--template-directory",
            str(_TEMPLATES),
            "--footer-text",
            f"fedlab_core {fedlab_core.__version__}",
        ]
        result = subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", errors="replace"
        )
        if result.returncode:
            raise RuntimeError(f"pdoc failed to write the API reference: {result.stderr.strip()}")
        names = [
            path.relative_to(made).as_posix() for path in Path(made).rglob("*") if path.is_file()
        ]
        for name in earlier:
            (target / name).unlink(missing_ok=True)
        shutil.copytree(made, target, dirs_exist_ok=True)
    stamp.write_text("\n".join([wanted, *sorted(names)]), encoding="utf-8")
