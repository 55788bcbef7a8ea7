"""The folder of a submission: a place to work, its own copy of the packages, and an environment without secrets."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fedlab_core.files import LEFTOVER_SECONDS
from fedlab_course import folders
from fedlab_course.harness.kernel import THREADS

PACKAGES = Path(__file__).resolve().parents[2]
_INSIDE = ("inside.py", "plain.py")  # what a submission's process needs of this package
_HIDDEN = ("notebooks", "results", "grading", "exercises.*", "known_formulas.*", "build.*", "lint.*", "cli.*")
_PASSED = ("PATH", "LANG", "LC_ALL", "FEDLAB_DATA", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV", THREADS)
_EXERCISES = '''\
"""Exercises as a submission sees them during grading. Its answers are judged in another process."""


def check(name, answer):
    """Do nothing."""


def or_solution(name, answer):
    """Return the answer: no solution takes its place during grading."""
    return answer
'''


@contextmanager
def house() -> Iterator[Path]:
    """A temporary folder for the rooms of one submission, which has a new one after each cell that ends its process."""
    for left in Path(tempfile.gettempdir()).glob("fedlab-grading-*"):  # by a run that was killed
        with suppress(FileNotFoundError):  # another run removes it too
            if time.time() - left.lstat().st_mtime > LEFTOVER_SECONDS and not left.is_symlink():
                remove(left)
    folder = Path(tempfile.mkdtemp(prefix="fedlab-grading-"))
    try:
        folder.chmod(0o711)  # another user may pass through and sees nothing
        yield folder
    finally:
        remove(folder)


def _write_packages(folder: Path) -> None:
    """Copy the packages without solutions, checks and the notebooks; the results of the course lie beside them."""
    for name in ("fedlab_core", "fedlab_course"):
        shutil.copytree(PACKAGES / name, folder / name, ignore=shutil.ignore_patterns(*_HIDDEN))
    (folder / "notebooks").mkdir()  # the package looks for it
    shutil.copytree(folders.RESULTS, folder / "results", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fedlab_course" / "check" / "exercises.py").write_text(_EXERCISES, encoding="utf-8")
    grading = folder / "fedlab_course" / "grading"
    grading.mkdir()
    for name in _INSIDE:
        shutil.copy(Path(__file__).with_name(name), grading)
    (grading / "__init__.py").touch()


def make(house: Path, user: int | None) -> Path:
    """Make a room in ``house``, and give it to ``user``."""
    place = Path(tempfile.mkdtemp(dir=house))
    _write_packages(place / "packages")
    for name in ("work", "tmp", "home", "ipython"):
        (place / name).mkdir()
    if user is not None:
        subprocess.run(["chown", "-R", f"{user}:{user}", place], check=True)
    return place


def environment(place: Path) -> dict[str, str]:
    """Return the whole environment of a submission's process in the room ``place``."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {THREADS: "1", **passed} | {
        "FEDLAB_HEADLESS": "1",
        "HOME": str(place / "home"),
        "IPYTHONDIR": str(place / "ipython"),
        "PLOTLY_RENDERER": "plotly_mimetype",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(place / "packages"),
        "TEMP": str(place / "tmp"),
        "TMPDIR": str(place / "tmp"),
    }


def remove(folder: Path) -> None:
    """Delete a folder, whatever a submission made of it: folders that are locked, or thousands inside each other."""
    if os.name == "posix":  # shutil.rmtree goes down by recursion
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL)
    else:
        shutil.rmtree(folder, ignore_errors=True)
