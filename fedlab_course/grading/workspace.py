"""The workspace of a submission: a folder with its own copy of the packages, and an environment
without secrets.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import fedconform
from fedlab_core.files import LEFTOVER_SECONDS
from fedlab_course import folders
from fedlab_course.harness.kernel import THREADS

PACKAGES = Path(__file__).resolve().parents[2]
_WORKER = ("worker.py", "plain.py")  # what the worker process needs of this package
_HIDDEN = (
    "notebooks",
    "results",
    "grading",
    "exercises.*",
    "known_formulas.*",
    "build.*",
    "lint.*",
    "cli.*",
)
_PASSED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "FEDLAB_DATA",
    "SYSTEMROOT",
    "LD_LIBRARY_PATH",
    "VIRTUAL_ENV",
    THREADS,
)
_EXERCISES = '''\
"""Exercises as a submission sees them during grading. Its answers are judged in another process."""


def check(name, answer):
    """Do nothing."""


def or_solution(name, answer):
    """Return the answer: no solution takes its place during grading."""
    return answer
'''


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A temporary folder for the workspaces of one submission, which has a new one after each cell
    that ends its process.
    """
    _remove_old()
    folder = Path(tempfile.mkdtemp(prefix="fedlab-grading-"))
    try:
        folder.chmod(0o711)  # another user may pass through and sees nothing
        yield folder
    finally:
        remove(folder)


def _remove_old() -> None:
    """Remove the folders that killed runs have left."""
    for folder in Path(tempfile.gettempdir()).glob("fedlab-grading-*"):
        with suppress(FileNotFoundError):  # another run removes it too
            age = time.time() - folder.lstat().st_mtime
            if age > LEFTOVER_SECONDS and not folder.is_symlink():
                remove(folder)


def _write_packages(folder: Path) -> None:
    """Copy the packages without solutions, checks and the notebooks; the results of the course lie
    beside them.
    """
    suite = Path(str(fedconform.__file__)).parent
    for source in (suite, PACKAGES / "fedlab_core", PACKAGES / "fedlab_course"):
        hidden = shutil.ignore_patterns(*_HIDDEN)
        shutil.copytree(source, folder / source.name, ignore=hidden)
    (folder / "notebooks").mkdir()  # the package looks for it
    shutil.copytree(
        folders.RESULTS, folder / "results", ignore=shutil.ignore_patterns("__pycache__")
    )
    (folder / "fedlab_course" / "check" / "exercises.py").write_text(_EXERCISES, encoding="utf-8")
    grading = folder / "fedlab_course" / "grading"
    grading.mkdir()
    for name in _WORKER:
        shutil.copy(Path(__file__).with_name(name), grading)
    (grading / "__init__.py").touch()


def make(folder: Path, user: int | None) -> Path:
    """Make a workspace in ``folder`` that belongs to ``user``, or to this user if that is None."""
    workspace = Path(tempfile.mkdtemp(dir=folder))
    _write_packages(workspace / "packages")
    for name in ("work", "tmp", "home", "ipython"):
        (workspace / name).mkdir()
    if user is not None:
        subprocess.run(["chown", "-R", f"{user}:{user}", workspace], check=True)
    return workspace


def environment(workspace: Path) -> dict[str, str]:
    """Return the whole environment of a worker process in ``workspace``."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return {THREADS: "1", **passed} | {
        "FEDLAB_HEADLESS": "1",
        "HOME": str(workspace / "home"),
        "IPYTHONDIR": str(workspace / "ipython"),
        "PLOTLY_RENDERER": "plotly_mimetype",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONPATH": str(workspace / "packages"),
        "TEMP": str(workspace / "tmp"),
        "TMPDIR": str(workspace / "tmp"),
    }


def remove(folder: Path) -> None:
    """Delete a folder, also where a submission locked folders in it, or nested thousands."""
    if os.name == "posix":  # shutil.rmtree would exceed the limit of recursion
        subprocess.run(["chmod", "-R", "u+rwx", folder], stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--", folder], stderr=subprocess.DEVNULL)
    else:
        shutil.rmtree(folder, ignore_errors=True)
