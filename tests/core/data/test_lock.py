"""Several processes on one data folder: they take turns, and what a killed one leaves is cleared away."""

import errno
import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fedlab_core.data.disk import lock, store
from fedlab_core.data.disk.download import FetchFailed
from fedlab_core.data.disk.sources import Download, Source
from tests.core.data.small_sets import IDX_NAMES, Mirror, fetch, idx_contents, md5, source, tree, write

REPOSITORY = Path(__file__).resolve().parents[3]
GZ = {name + ".gz": gzip.compress(data, mtime=0) for name, data in idx_contents().items()}
FIRST = IDX_NAMES[0] + ".gz"
StartMirror = Callable[[dict[str, bytes]], Mirror]
Start = Callable[..., subprocess.Popen[str]]

HEAD = """
import sys
from pathlib import Path
from fedlab_core.data.disk import store
from fedlab_core.data.disk.sources import SOURCES
from tests.core.data.small_sets import fetch
from tests.core.data.test_lock import mnist_from
root, other = Path(sys.argv[1]), sys.argv[2]
"""
FETCH = HEAD + "fetch(mnist_from(other), root)"
STOP_IN_IMPORT = (
    HEAD
    + """
import shutil, time
copy, copied = shutil.copyfile, []

def copyfile(source, target):
    if len(copied) == 2:
        print("stopped", flush=True)
        time.sleep(300)
    copied.append(copy(source, target))

shutil.copyfile = copyfile
SOURCES["mnist"] = mnist_from("")
store.import_from("mnist", other, root)
"""
)
# The module alone: the rest of the library takes seconds to import and has no part in this.
COUNT = f"""
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("lock", {lock.__file__!r})
lock = importlib.util.module_from_spec(spec)
spec.loader.exec_module(lock)
lock._PAUSE = 0.001
folder, counter = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(100):
    with lock.locked(folder / "new" / ".lock", "a number"):
        counter.write_text(str(int(counter.read_text()) + 1))
"""


def mnist_from(url: str) -> Source:
    downloads = tuple(Download(name, md5(data), (url + name,)) for name, data in GZ.items())
    return source("mnist", idx_contents(), downloads)


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python on some code in a process of its own; what still runs at the end is killed."""
    started = []

    def popen(code: str, *arguments: Path | str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=REPOSITORY, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield popen
    for process in started:
        process.kill()
        process.communicate()


def succeed(process: subprocess.Popen[str]) -> str:
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 0, errors
    return errors


def test_processes_take_turns_and_the_file_goes(start: Start, tmp_path: Path) -> None:
    """Without a lock, or with one that can be held on a removed file, some of the 400 additions are lost."""
    counter = tmp_path / "counter"
    counter.write_text("0")
    for process in [start(COUNT, tmp_path, counter) for _ in range(4)]:
        succeed(process)
    assert counter.read_text() == "400"
    assert tree(tmp_path / "new") == {}


def test_two_downloads_at_once_both_succeed_and_ask_once(mirror: StartMirror, start: Start, tmp_path: Path) -> None:
    server = mirror(GZ)
    server.holds[FIRST] = 200
    root = tmp_path / "root"
    first = start(FETCH, root, server.url)
    assert server.held.wait(120)
    second = start(FETCH, root, server.url)
    assert f"waiting for another process that is writing mnist in {root}" in second.stderr.readline()  # type: ignore[union-attr]
    server.release.set()
    succeed(first)
    succeed(second)
    assert [name for name, _ in server.requests] == list(GZ)
    assert tree(root) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}


def test_what_a_killed_download_leaves_is_gone_on_from(mirror: StartMirror, start: Start, tmp_path: Path) -> None:
    server = mirror(GZ)
    server.holds[IDX_NAMES[1] + ".gz"] = 5
    process = start(FETCH, tmp_path, server.url)
    assert server.held.wait(120)
    process.kill()
    process.wait()
    server.release.set()
    assert tree(tmp_path) == {".mnist.lock": b"", ".mnist.partial": None, f".mnist.partial/{FIRST}": GZ[FIRST]}
    fetch(mnist_from(server.url), tmp_path)
    assert [name for name, _ in server.requests].count(FIRST) == 1
    assert tree(tmp_path) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}


@pytest.mark.usefixtures("small")
def test_what_a_killed_import_leaves_goes_with_the_next(start: Start, tmp_path: Path) -> None:
    given, root = write(tmp_path / "given", idx_contents()), tmp_path / "root"
    process = start(STOP_IN_IMPORT, root, given)
    assert process.stdout.readline() == "stopped\n"  # type: ignore[union-attr]
    process.kill()
    process.wait()
    left = set(tree(root))
    assert left == {".mnist.lock", ".mnist.new", f".mnist.new/{IDX_NAMES[0]}", f".mnist.new/{IDX_NAMES[1]}"}
    store.import_from("mnist", given, root)
    assert tree(root) == {"mnist": None, **{f"mnist/{name}": data for name, data in idx_contents().items()}}


@pytest.mark.parametrize("writable", [True, False])
def test_what_was_left_beside_an_intact_set_goes_where_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writable: bool
) -> None:
    write(tmp_path / "mnist", idx_contents())
    write(tmp_path / ".mnist.partial", {"a.part": b"half"})
    write(tmp_path / ".mnist.new", {IDX_NAMES[0]: b""})
    monkeypatch.setattr(store.os, "access", lambda *_: writable)
    assert fetch(mnist_from("http://127.0.0.1:9/"), tmp_path) == tmp_path / "mnist"
    hidden = {path.name for path in tmp_path.iterdir()} - {"mnist"}
    assert hidden == (set() if writable else {".mnist.partial", ".mnist.new"})


@pytest.mark.usefixtures("small")
def test_a_folder_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_lock", refuse)
    with pytest.raises(FetchFailed, match=r"No locks available.*or has no file locks.*--root"):
        store.import_from("mnist", write(tmp_path / "given", idx_contents()), tmp_path / "root")
