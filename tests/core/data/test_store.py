"""Fetching, importing and verifying."""

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.download import FetchFailed, WrongChecksum
from fedlab_core.data.disk.files import DatasetCorrupt, locate
from fedlab_core.data.disk.sources import Download, Source
from tests.core.data.small_sets import (
    ARCHIVE,
    CIFAR_NAMES,
    IDX_NAMES,
    PACK,
    Mirror,
    cifar_contents,
    fetch,
    idx_contents,
    md5,
    source,
    tar_gz,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache")
StartMirror = Callable[[dict[str, bytes]], Mirror]
GZ = {name + ".gz": PACK[".gz"](data) for name, data in idx_contents().items()}


def mnist_from(*mirrors: Mirror) -> Source:
    downloads = tuple(Download(name, md5(data), tuple(m.url + name for m in mirrors)) for name, data in GZ.items())
    return source("mnist", idx_contents(), downloads)


def cifar_from(mirror: Mirror, archive: bytes) -> Source:
    download = Download(ARCHIVE, md5(archive), (mirror.url + ARCHIVE,))
    return source("cifar10", cifar_contents(), (download,), ARCHIVE)


# fetch


def test_fetch_leaves_the_set_and_nothing_else(mirror: StartMirror, tmp_path: Path) -> None:
    root = tmp_path / "new" / "root"
    assert fetch(mnist_from(mirror(GZ)), root) == root / "mnist"
    assert tree(root) == {"mnist": None, **{f"mnist/{name}": data for name, data in GZ.items()}}
    mode = (root / "mnist").stat().st_mode & 0o777
    (tmp_path / "plain").mkdir()
    assert mode == (tmp_path / "plain").stat().st_mode & 0o777  # others may read it as far as the user allows


def test_fetch_unpacks_the_archive(mirror: StartMirror, tmp_path: Path) -> None:
    archive = tar_gz(cifar_contents() | {"readme.html": b"hello"})
    folder = fetch(cifar_from(mirror({ARCHIVE: archive}), archive), tmp_path)
    assert tree(folder) == cifar_contents()
    assert list(tmp_path.iterdir()) == [folder]


def test_fetch_of_an_intact_set_asks_no_one(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror({})
    write(tmp_path / "MNIST" / "raw", idx_contents())
    assert fetch(mnist_from(server), tmp_path) == tmp_path / "MNIST" / "raw"
    assert server.requests == []


def test_fetch_replaces_damaged_files_and_keeps_the_rest(mirror: StartMirror, tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents())
    (folder / IDX_NAMES[0]).write_bytes(b"damaged")
    (folder / "notes.txt").write_bytes(b"mine")
    fetch(mnist_from(mirror(GZ)), tmp_path)
    assert tree(folder) == {**GZ, "notes.txt": b"mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["mnist"]


def test_a_broken_fetch_leaves_no_set_and_is_resumed(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror(GZ)
    last = next(iter(GZ))
    server.cuts[last] = [100] * 3
    with pytest.raises(FetchFailed, match=r"What did arrive is kept in .*\.mnist\.partial") as caught:
        fetch(mnist_from(server), tmp_path)
    assert not isinstance(caught.value, WrongChecksum)
    assert tree(tmp_path) == {".mnist.partial": None, f".mnist.partial/{last}.part": GZ[last][:300]}
    assert locate(mnist_from(server), [tmp_path]) is None
    fetch(mnist_from(server), tmp_path)
    assert (last, "bytes=300-") in server.requests
    assert tree(tmp_path / "mnist") == GZ and [path.name for path in tmp_path.iterdir()] == ["mnist"]


def test_wrong_checksum_leaves_nothing(mirror: StartMirror, tmp_path: Path) -> None:
    root = tmp_path / "new" / "root"
    with pytest.raises(WrongChecksum, match="wrong checksum, discarded"):
        fetch(mnist_from(mirror(GZ | {list(GZ)[3]: b"other"})), root)
    assert tree(tmp_path) == {}


def test_no_server_leaves_nothing(mirror: StartMirror, tmp_path: Path) -> None:
    gone = mirror({})
    gone.close()
    gone.close = lambda: None  # type: ignore[method-assign]
    with pytest.raises(FetchFailed, match=r"could not be downloaded.*Nothing was written") as caught:
        fetch(mnist_from(gone), tmp_path / "new" / "root")
    assert "\n" not in str(caught.value)
    assert tree(tmp_path) == {}


def test_a_malicious_archive_leaves_nothing(mirror: StartMirror, tmp_path: Path) -> None:
    archive = tar_gz(cifar_contents() | {"../../../evil.bin": b"evil"})
    with pytest.raises(DatasetCorrupt, match="leads out of the folder"):
        fetch(cifar_from(mirror({ARCHIVE: archive}), archive), tmp_path / "new" / "root")
    assert tree(tmp_path) == {}


def test_a_folder_that_cannot_be_written_is_named(
    mirror: StartMirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    given = mnist_from(mirror(GZ))
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(FetchFailed, match=r"Read-only file system.*--root"):
        fetch(given, tmp_path)
    assert tree(tmp_path) == {}


# import


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("inner", ["", "mnist", "MNIST/raw"])
@pytest.mark.usefixtures("small")
def test_import_takes_every_layout(tmp_path: Path, inner: str, suffix: str) -> None:
    given = write(tmp_path / "given" / inner, idx_contents(), suffix)
    before = tree(given)
    folder = store.import_from("mnist", tmp_path / "given", tmp_path / "root")
    assert tree(folder) == before == tree(given)
    assert [path.name for path in (tmp_path / "root").iterdir()] == ["mnist"]


@pytest.mark.usefixtures("small")
def test_import_unpacks_the_published_archive(tmp_path: Path) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / ARCHIVE).write_bytes(tar_gz(cifar_contents()))
    assert tree(store.import_from("cifar10", given, tmp_path / "root")) == cifar_contents()


@pytest.mark.parametrize("member", ["../evil.bin", "/evil.bin"])
@pytest.mark.usefixtures("small")
def test_import_refuses_a_malicious_archive(tmp_path: Path, member: str) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / ARCHIVE).write_bytes(tar_gz({**cifar_contents(), member: b"evil"}, prefix=""))
    before = tree(tmp_path)
    with pytest.raises(DatasetCorrupt, match="refused"):
        store.import_from("cifar10", given, tmp_path / "root")
    assert tree(tmp_path) == before


@pytest.mark.usefixtures("small")
def test_import_of_wrong_files_leaves_nothing(tmp_path: Path) -> None:
    given = write(tmp_path / "given", idx_contents())
    data = (given / IDX_NAMES[2]).read_bytes()
    (given / IDX_NAMES[2]).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    before = tree(tmp_path)
    with pytest.raises(FetchFailed, match=f"{IDX_NAMES[2]}: wrong checksum"):
        store.import_from("mnist", given, tmp_path / "new" / "root")
    assert tree(tmp_path) == before


@pytest.mark.usefixtures("small")
def test_import_of_an_incomplete_or_foreign_folder_says_what_is_needed(tmp_path: Path) -> None:
    given = write(tmp_path / "given", {"test_batch": b"\x80\x04a pickle", CIFAR_NAMES[0]: b""})
    with pytest.raises(FetchFailed, match=r"only data_batch_1.bin of cifar10.*archive cifar-10-binary.tar.gz.*Pickled"):
        store.import_from("cifar10", given, tmp_path / "root")
    with pytest.raises(FetchFailed, match="none of its files of mnist"):
        store.import_from("mnist", given, tmp_path / "root")
    with pytest.raises(FetchFailed, match="is not a folder"):
        store.import_from("mnist", tmp_path / "absent", tmp_path / "root")
    assert not (tmp_path / "root").exists()


# verify


@pytest.mark.usefixtures("small")
def test_verify_tells_ok_from_missing_from_wrong(tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents(), ".gz")
    assert [report.state for report in store.verify("mnist", tmp_path)] == ["ok"] * 4
    paths = [folder / f"{name}.gz" for name in IDX_NAMES]
    data = bytearray(idx_contents()[IDX_NAMES[0]])
    data[-1] ^= 1
    paths[0].write_bytes(PACK[".gz"](bytes(data)))
    paths[1].unlink()
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    reports = store.verify("mnist", tmp_path)
    assert [report.name for report in reports] == list(IDX_NAMES)
    assert [report.path for report in reports] == [paths[0], None, paths[2], paths[3]]
    assert [reports[i].state for i in (0, 1, 3)] == ["wrong checksum", "missing", "ok"]
    assert reports[2].state.startswith("cannot be read")


def test_verify_of_an_absent_set_reports_every_file_missing(tmp_path: Path) -> None:
    reports = store.verify("cifar10", tmp_path)
    assert [report.name for report in reports] == list(CIFAR_NAMES)
    assert {report.state for report in reports} == {"missing"}
