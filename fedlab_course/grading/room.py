"""The folder of a submission: a place to work, its own copy of the packages, and an environment without secrets."""

import os
import shutil
import stat
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fedlab_core import files
from fedlab_course import folders
from fedlab_course.harness.kernel import THREADS

PACKAGES = Path(__file__).resolve().parents[2]
MAX_DEPTH = 12  # of folders that are looked at
_BESIDE, _FILES = 64 * 2**20, 1000  # bytes and number of data files that are copied
_PREFIX = "fedlab-grading-"
_INSIDE = ("__init__.py", "inside.py", "plain.py")  # what a submission's process needs of this package
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
    """A temporary folder for the rooms of submissions, with the packages that each of them gets a copy of.

    Folders of earlier runs that were killed are deleted first: their lock is free.
    """
    base = Path(tempfile.gettempdir())
    for lock in base.glob(f"{_PREFIX}*.lock"):
        with suppress(OSError):
            if not files.is_held(lock):
                remove(lock.with_suffix(""))
                lock.unlink()
    folder = base / f"{_PREFIX}{uuid.uuid4().hex}"
    lock = folder.with_suffix(".lock")
    try:
        with files.locked(lock):
            folder.mkdir()
            folder.chmod(0o711)  # another user may pass through and sees nothing
            _write_packages(folder / "packages")
            yield folder
    finally:
        remove(folder)
        lock.unlink(missing_ok=True)


def _write_packages(folder: Path) -> None:
    """Copy the packages without solutions, checks and the notebooks; the results of the course lie beside them."""
    hidden = shutil.ignore_patterns("notebooks", "results", "grading", "exercises.*", "build.*", "lint", "cli.*")
    for name in ("fedlab_core", "fedlab_course"):
        shutil.copytree(PACKAGES / name, folder / name, ignore=hidden)
    (folder / "notebooks").mkdir()  # the package looks for it
    shutil.copytree(folders.RESULTS, folder / "results", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "fedlab_course" / "check" / "exercises.py").write_text(_EXERCISES, encoding="utf-8")
    grading = folder / "fedlab_course" / "grading"
    grading.mkdir()
    for name in _INSIDE:
        shutil.copy(Path(__file__).with_name(name), grading)
    (grading / "__init__.py").write_text("")


def make(house: Path, beside: Path | None, user: int | None) -> Path:
    """Make a room in ``house`` with the files of the folder ``beside``, and give it to ``user``."""
    place = Path(tempfile.mkdtemp(dir=house))
    shutil.copytree(house / "packages", place / "packages")
    for name in ("work", "tmp", "home", "ipython"):
        (place / name).mkdir()
    if beside is not None:
        _copy_data(beside, place / "work")
    if user is not None:
        for folder, _, files in os.walk(place):
            for name in ("", *files):
                os.chown(os.path.join(folder, name), user, user)
    return place


def below(folder: Path, depth: int = MAX_DEPTH) -> Iterator[Path]:
    """Yield every file below ``folder`` in order, hidden ones left out, and each folder that is too deep to look at."""
    try:
        paths = sorted(folder.iterdir())
    except OSError:  # it may not be read
        paths = []
    for path in paths:
        if path.name.startswith("."):
            continue
        if path.is_symlink() or not path.is_dir() or depth == 0:
            yield path
        else:
            yield from below(path, depth - 1)


def is_regular(path: Path) -> bool:
    """Return whether ``path`` is a file: no link, no folder, no pipe, no device."""
    return stat.S_ISREG(path.lstat().st_mode)


def _copy_data(beside: Path, work: Path) -> None:
    """Copy the files beside a submission that are no notebooks; none if they are too many or too large."""
    found = [path for path in below(beside) if path.suffix != ".ipynb" and is_regular(path)]
    if len(found) > _FILES or sum(path.stat().st_size for path in found) > _BESIDE:
        return
    for path in found:
        to = work / path.relative_to(beside)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def environment(place: Path) -> dict[str, str]:
    """Return the whole environment of a submission's process in the room ``place``."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return (
        {THREADS: "1"}
        | passed
        | {
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
    )


def remove(folder: Path) -> None:
    """Delete a folder, whatever a submission made of it: folders that are locked, or thousands inside each other."""
    if folder.is_symlink():
        return
    if os.name == "posix":  # shutil.rmtree goes down by recursion
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL)
    else:
        shutil.rmtree(folder, ignore_errors=True)
