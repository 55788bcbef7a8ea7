"""What a submission has to itself: a folder to work in, packages to import, and an environment without secrets."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fedlab_course.grading import packages
from fedlab_course.harness.kernel import THREADS

BESIDE = 64 * 2**20  # bytes of data files that are copied beside a notebook
_FILES = 1000
# What a kernel needs of the environment it is started in. Keys and passwords are not among it.
_PASSED = ("PATH", "LANG", "LC_ALL", "FEDLAB_DATA", "SYSTEMROOT", "LD_LIBRARY_PATH", "VIRTUAL_ENV", THREADS)


@contextmanager
def house() -> Iterator[Path]:
    """A temporary folder, private to its user, with the packages that :class:`Room` makes copies of."""
    short = "/tmp" if os.name == "posix" and os.path.isdir("/tmp") else None  # socket paths must stay below 104 bytes
    with tempfile.TemporaryDirectory(prefix="fedlab-", dir=short, ignore_cleanup_errors=True) as folder:
        packages.write(Path(folder, "packages"))
        yield Path(folder)


class Room:
    """The folder of one submission in a :func:`house`.

    ``beside``: a folder whose files the submission may find where it works, or None; ``user``: the number of the user
    that it is for, None being our own.
    """

    def __init__(self, house: Path, beside: Path | None, user: int | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="r", dir=house))
        packages.copy(house / "packages", self.path / "packages")
        for name in ("work", "tmp", "home", "ipython"):
            (self.path / name).mkdir()
        self.left_out = 0
        if beside is not None:
            self._take(beside)
        if user is not None:
            house.chmod(0o711)  # to pass through, and to see nothing
            give(self.path, user)

    def _take(self, beside: Path) -> None:
        """Copy the files beside the submission that are no notebooks; none if they are too many or too large."""
        found = [path for path in sorted(beside.rglob("*")) if _is_data(path, beside)]
        if len(found) > _FILES or sum(path.stat().st_size for path in found) > BESIDE:
            self.left_out = len(found)
            return
        for path in found:
            to = self.path / "work" / path.relative_to(beside)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)

    @property
    def environment(self) -> dict[str, str]:
        """The whole environment of its kernels."""
        here = {name: str(self.path / name) for name in ("tmp", "home", "ipython", "packages")}
        passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
        return passed | {
            "FEDLAB_HEADLESS": "1",
            "HOME": here["home"],
            "IPYTHONDIR": here["ipython"],
            "JUPYTER_PLATFORM_DIRS": "1",
            "PLOTLY_RENDERER": "plotly_mimetype",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONNOUSERSITE": "1",
            "PYTHONPATH": here["packages"],
            "TEMP": here["tmp"],
            "TMPDIR": here["tmp"],
            THREADS: passed.get(THREADS, "1"),
        }

    def leave(self) -> None:
        """Delete the folder, whatever the submission made of it."""
        shutil.rmtree(self.path, onerror=_open_and_try_again)


def give(path: Path, user: int) -> None:
    """Make ``path``, and all that is in it, the property of ``user``."""
    for folder, _, files in os.walk(path):
        for name in ("", *files):
            os.chown(os.path.join(folder, name), user, user)


def _is_data(path: Path, beside: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(beside).parts)
    return path.suffix != ".ipynb" and not hidden and not path.is_symlink() and path.is_file()


def _open_and_try_again(function: object, path: str, error: object) -> None:
    """A folder that forbids its deletion is opened first."""
    if not os.path.islink(path):
        for each in (os.path.dirname(path), path):
            try:
                os.chmod(each, 0o700)
            except OSError:
                return
    try:
        (shutil.rmtree if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
    except OSError as again:
        print(f"warning: {path} stays behind: {again.strerror}", file=sys.stderr)
