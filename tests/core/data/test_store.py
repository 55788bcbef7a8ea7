"""Fetching and verifying."""

import errno
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.sources import SOURCES, Source
from fedlab_core.data.disk.store import FetchFailed
from fedlab_core.files import locked
from tests.core.data.small_sets import (
    ARCHIVE,
    IDX_NAMES,
    PACK,
    Mirror,
    cifar_contents,
    fetch,
    idx_contents,
    source,
    tar_gz,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache")
StartMirror = Callable[[dict[str, bytes]], Mirror]
GZ = {name + ".gz": PACK[".gz"](data) for name, data in idx_contents().items()}
LAST = IDX_NAMES[3] + ".gz"


def mnist_from(*mirrors: Mirror) -> Source:
    return source("mnist", idx_contents(), *(mirror.url for mirror in mirrors))


def names_in(root: Path) -> set[str]:
    return {path.name for path in root.iterdir() if path.suffix != ".lock"}


def test_fetch_leaves_the_set_and_nothing_else(mirror: StartMirror, tmp_path: Path) -> None:
    root, server = tmp_path / "new" / "root", mirror(GZ)
    assert fetch(mnist_from(server), root) == root / "mnist"
    assert tree(root / "mnist") == idx_contents() and names_in(root) == {"mnist"}
    fetch(mnist_from(server), root)
    assert len(server.requests) == 4  # an intact set is not fetched again


def test_fetch_unpacks_the_archive_and_takes_no_other(mirror: StartMirror, tmp_path: Path) -> None:
    archive = tar_gz(cifar_contents() | {"readme.html": b"hello", "../../evil.bin": b"bad"})
    for given in (b"<html>", archive[:-60]):
        with pytest.raises(FetchFailed, match="wrong checksum"):
            fetch(source("cifar10", cifar_contents(), mirror({ARCHIVE: given}).url, archive=archive), tmp_path)
        assert names_in(tmp_path) == set()
    server = mirror({ARCHIVE: archive})
    folder = fetch(source("cifar10", cifar_contents(), server.url, archive=archive), tmp_path)
    assert tree(folder) == cifar_contents() and names_in(tmp_path) == {"cifar-10-batches-bin"}


def test_an_intact_set_in_a_usual_folder_of_a_read_only_data_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "MNIST" / "raw", idx_contents())
    monkeypatch.setattr(Path, "mkdir", None)  # calling it would fail
    assert fetch(mnist_from(), tmp_path) == tmp_path / "MNIST" / "raw"


def test_a_broken_fetch_keeps_the_files_that_arrived_and_the_next_completes_them(
    mirror: StartMirror, tmp_path: Path
) -> None:
    folder = write(tmp_path / "mnist", {IDX_NAMES[0]: b"damaged", "notes.txt": b"mine"})
    server = mirror(GZ)
    server.cuts[LAST] = [10]
    with pytest.raises(FetchFailed, match=r"could not be downloaded") as caught:
        fetch(mnist_from(server), tmp_path)
    assert "\n" not in str(caught.value)
    assert set(tree(folder)) == {*IDX_NAMES[:3], "notes.txt"}
    fetch(mnist_from(server), tmp_path)
    assert server.requests == [*GZ, LAST] and tree(folder) == idx_contents() | {"notes.txt": b"mine"}


def test_a_second_fetch_waits_for_the_first_and_asks_for_nothing(
    mirror: StartMirror, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = mirror(GZ)
    monkeypatch.setitem(SOURCES, "mnist", mnist_from(server))
    with locked(tmp_path / ".mnist.lock"):
        second = threading.Thread(target=store.fetch, args=("mnist", tmp_path), kwargs={"progress": False})
        second.start()
        told, end = "", time.monotonic() + 240
        while "waiting for another process" not in told and time.monotonic() < end:
            second.join(0.1)
            told += capsys.readouterr().err
        assert second.is_alive() and "waiting for another process" in told
        write(tmp_path / "mnist", idx_contents())
    second.join(240)
    assert not second.is_alive() and server.requests == []


@pytest.mark.usefixtures("small")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FetchFailed, match=r"root cannot be written.*Read-only file system.*--root"):
        store.fetch("mnist", tmp_path / "root")


@pytest.mark.usefixtures("small")
def test_verify_tells_ok_from_missing_from_wrong(tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents(), ".gz")
    assert list(store.verify("mnist", tmp_path).values()) == ["ok"] * 4
    paths = [folder / f"{name}.gz" for name in IDX_NAMES]
    paths[0].write_bytes(PACK[".gz"](idx_contents()[IDX_NAMES[0]][:-1] + b"x"))
    paths[1].unlink()
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    states = store.verify("mnist", tmp_path)
    assert states.pop(str(paths[2])).startswith("cannot be read")
    assert states == {str(paths[0]): "wrong checksum", IDX_NAMES[1]: "missing", str(paths[3]): "ok"}
    assert set(store.verify("cifar10", tmp_path).values()) == {"missing"}
