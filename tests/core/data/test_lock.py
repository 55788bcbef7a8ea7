"""Several processes on one data folder: they take turns, and the files of a killed process do no harm."""

import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.sources import Source
from tests.core.data.small_sets import IDX_NAMES, Mirror, fetch, idx_contents, source, tree, write

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


def mnist_from(url: str) -> Source:
    return source("mnist", idx_contents(), url)


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


def succeed(process: subprocess.Popen[str]) -> None:
    errors = process.communicate(timeout=120)[1]
    assert process.returncode == 0, errors


def data_in(root: Path) -> dict[str, bytes | None]:
    return {name: data for name, data in tree(root).items() if name != ".mnist.lock"}


def test_two_downloads_at_once_both_succeed_and_ask_once(mirror: StartMirror, start: Start, tmp_path: Path) -> None:
    server = mirror(GZ)
    server.holds[FIRST] = 200
    root = tmp_path / "root"
    first = start(FETCH, root, server.url)
    assert server.held.wait(120)
    second = start(FETCH, root, server.url)
    assert f"waiting for another process that holds {root}/.mnist.lock" in second.stderr.readline()  # type: ignore[union-attr]
    server.release.set()
    succeed(first)
    succeed(second)
    assert server.requests == list(GZ)
    assert data_in(root) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}


def test_the_next_fetch_keeps_the_files_of_a_killed_download(mirror: StartMirror, start: Start, tmp_path: Path) -> None:
    server = mirror(GZ)
    server.holds[IDX_NAMES[1] + ".gz"] = 5
    process = start(FETCH, tmp_path, server.url)
    assert server.held.wait(120)
    process.kill()
    process.wait()
    server.release.set()
    assert not (tmp_path / "mnist").exists() and (tmp_path / ".mnist.new" / FIRST).read_bytes() == GZ[FIRST]
    fetch(mnist_from(server.url), tmp_path)
    assert server.requests.count(FIRST) == 1
    assert data_in(tmp_path) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}


@pytest.mark.usefixtures("small")
def test_the_next_fetch_or_import_removes_the_files_of_a_killed_import(
    start: Start, mirror: StartMirror, tmp_path: Path
) -> None:
    given, root = write(tmp_path / "given", idx_contents()), tmp_path / "root"
    process = start(STOP_IN_IMPORT, root, given)
    assert process.stdout.readline() == "stopped\n"  # type: ignore[union-attr]
    process.kill()
    process.wait()
    assert set(data_in(root)) == {".mnist.new", *(f".mnist.new/{name}" for name in IDX_NAMES[:2])}
    fetch(mnist_from(mirror(GZ).url), root)
    assert data_in(root) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}
    write(root / ".mnist.new", {FIRST: b"half"})
    (root / "mnist" / FIRST).unlink()
    store.import_from("mnist", given, root)
    assert data_in(root)[f"mnist/{IDX_NAMES[0]}"] == idx_contents()[IDX_NAMES[0]] and not (root / ".mnist.new").exists()
