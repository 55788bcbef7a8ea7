"""Fetching, importing and verifying."""

import errno
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.data.disk import store
from fedlab_core.data.disk.download import FetchFailed
from fedlab_core.data.disk.files import DatasetCorrupt
from fedlab_core.data.disk.sources import Source
from tests.core.data.small_sets import (
    ARCHIVE,
    CIFAR_NAMES,
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


# fetch


def test_fetch_leaves_the_set_and_nothing_else(mirror: StartMirror, tmp_path: Path) -> None:
    root, server = tmp_path / "new" / "root", mirror(GZ)
    assert fetch(mnist_from(server), root) == root / "mnist"
    assert tree(root / "mnist") == GZ and names_in(root) == {"mnist"}
    fetch(mnist_from(server), root)
    assert len(server.requests) == 4  # an intact set is not fetched again
    mode = (root / "mnist").stat().st_mode & 0o777
    (tmp_path / "plain").mkdir()
    assert mode == (tmp_path / "plain").stat().st_mode & 0o777  # others may read it as far as the user allows


def test_fetch_unpacks_the_archive(mirror: StartMirror, tmp_path: Path) -> None:
    archive = tar_gz(cifar_contents() | {"readme.html": b"hello"})
    server = mirror({ARCHIVE: archive})
    folder = fetch(source("cifar10", cifar_contents(), server.url, archive=archive), tmp_path)
    assert tree(folder) == cifar_contents() and names_in(tmp_path) == {"cifar-10-batches-bin"}


def test_an_intact_set_in_a_usual_folder_of_a_read_only_data_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "MNIST" / "raw", idx_contents())
    monkeypatch.setattr(Path, "mkdir", None)  # calling it would fail
    assert fetch(mnist_from(), tmp_path) == tmp_path / "MNIST" / "raw"


def test_fetch_replaces_damaged_files_and_keeps_the_rest(mirror: StartMirror, tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents())
    (folder / IDX_NAMES[0]).write_bytes(b"damaged")
    (folder / "notes.txt").write_bytes(b"mine")
    fetch(mnist_from(mirror(GZ)), tmp_path)
    assert tree(folder) == {**GZ, "notes.txt": b"mine"} and names_in(tmp_path) == {"mnist"}


def test_a_broken_fetch_leaves_no_set_and_keeps_the_files_that_arrived(mirror: StartMirror, tmp_path: Path) -> None:
    server = mirror(GZ)
    server.cuts[LAST] = [10] * 3
    with pytest.raises(FetchFailed, match=r"could not be downloaded") as caught:
        fetch(mnist_from(server), tmp_path)
    assert "\n" not in str(caught.value)
    assert names_in(tmp_path) == {".mnist.new"} and LAST not in tree(tmp_path / ".mnist.new")
    fetch(mnist_from(server), tmp_path)
    assert server.requests == [*GZ, LAST, LAST, LAST] and tree(tmp_path / "mnist") == GZ


def test_a_wrong_or_damaged_archive_leaves_no_set(mirror: StartMirror, tmp_path: Path) -> None:
    whole = tar_gz(cifar_contents())
    one_less = tar_gz({name: data for name, data in cifar_contents().items() if name != CIFAR_NAMES[2]})
    for archive, said in (
        (b"<html>", "cannot be unpacked"),
        (whole[:-60], "cannot be unpacked"),
        (whole[:9000] + bytes(20) + whole[9020:], "cannot be unpacked|wrong checksum"),
        (one_less, f"{CIFAR_NAMES[2]}: missing"),
    ):
        given = source("cifar10", cifar_contents(), mirror({ARCHIVE: archive}).url, archive=archive)
        with pytest.raises((DatasetCorrupt, FetchFailed), match=said):
            fetch(given, tmp_path)
        assert names_in(tmp_path) == set()


def stranger(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, 3 if kind == tarfile.REGTYPE else 0
    return member


@pytest.mark.parametrize(
    "member",
    [
        stranger("../../../evil.bin"),
        stranger("/tmp/evil.bin"),
        stranger("C:\\evil.bin"),
        stranger(f"../../{CIFAR_NAMES[0]}"),
        stranger(CIFAR_NAMES[0], tarfile.SYMTYPE, "/etc/passwd"),
        stranger(CIFAR_NAMES[0], tarfile.LNKTYPE, "../outside"),
        stranger(CIFAR_NAMES[0], tarfile.FIFOTYPE),
        stranger("..", tarfile.DIRTYPE),
    ],
    ids=lambda member: f"{member.name}-{member.type.decode()}",
)
@pytest.mark.usefixtures("small")
def test_an_archive_from_a_stranger_writes_nothing_but_the_set(tmp_path: Path, member: tarfile.TarInfo) -> None:
    given = tmp_path / "given"
    given.mkdir()
    with tarfile.open(given / ARCHIVE, "w:gz") as tar:
        tar.addfile(member, io.BytesIO(b"bad"))
        for name, data in cifar_contents().items():
            info = tarfile.TarInfo(f"deep/er/{name}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    folder = store.import_from("cifar10", given, tmp_path / "a" / "b" / "root")
    assert tree(folder) == cifar_contents()
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {ARCHIVE, ".cifar10.lock", *CIFAR_NAMES}


@pytest.mark.parametrize("where", ["mkdir", "lock"])
@pytest.mark.usefixtures("small")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    given = write(tmp_path / "given", idx_contents())
    monkeypatch.setattr(*{"mkdir": (Path, "mkdir"), "lock": (store, "locked")}[where], refuse)
    with pytest.raises(FetchFailed, match=r"root cannot be written.*Read-only file system.*--root"):
        store.import_from("mnist", given, tmp_path / "root")


# import


@pytest.mark.parametrize(("inner", "suffix"), [("", ""), ("mnist", ".gz"), ("MNIST/raw", ".xz")])
@pytest.mark.usefixtures("small")
def test_import_takes_every_layout(tmp_path: Path, inner: str, suffix: str) -> None:
    given = write(tmp_path / "given" / inner, idx_contents(), suffix)
    before = tree(given)
    folder = store.import_from("mnist", tmp_path / "given", tmp_path / "root")
    assert tree(folder) == before == tree(given) and names_in(tmp_path / "root") == {"mnist"}


@pytest.mark.usefixtures("small")
def test_import_of_wrong_files_leaves_nothing(tmp_path: Path) -> None:
    contents = idx_contents()
    given = write(tmp_path / "given", contents | {IDX_NAMES[2]: contents[IDX_NAMES[2]][:-1] + b"x"})
    with pytest.raises(FetchFailed, match=f"{IDX_NAMES[2]}: wrong checksum"):
        store.import_from("mnist", given, tmp_path / "root")
    assert names_in(tmp_path / "root") == set()


@pytest.mark.usefixtures("small")
def test_import_of_an_incomplete_or_foreign_folder_says_what_is_needed(tmp_path: Path) -> None:
    given = write(tmp_path / "given", {"test_batch": b"\x80\x04a pickle", CIFAR_NAMES[0]: b""})
    with pytest.raises(FetchFailed, match=r"only data_batch_1.bin\. .*cifar10 needs .*; or cifar-10-binary.tar.gz"):
        store.import_from("cifar10", given, tmp_path / "root")
    with pytest.raises(FetchFailed, match=r"none of its files.*mnist needs"):
        store.import_from("mnist", given, tmp_path / "root")
    with pytest.raises(FetchFailed, match="none of its files"):
        store.import_from("mnist", tmp_path / "absent", tmp_path / "root")
    assert not (tmp_path / "root").exists()


# verify


@pytest.mark.usefixtures("small")
def test_verify_tells_ok_from_missing_from_wrong(tmp_path: Path) -> None:
    folder = write(tmp_path / "mnist", idx_contents(), ".gz")
    assert [report.state for report in store.verify("mnist", tmp_path)] == ["ok"] * 4
    paths = [folder / f"{name}.gz" for name in IDX_NAMES]
    paths[0].write_bytes(PACK[".gz"](idx_contents()[IDX_NAMES[0]][:-1] + b"x"))
    paths[1].unlink()
    paths[2].write_bytes(paths[2].read_bytes()[:-100])
    reports = store.verify("mnist", tmp_path)
    assert [(report.name, report.path) for report in reports] == list(
        zip(IDX_NAMES, (paths[0], None, *paths[2:]), strict=True)
    )
    assert [reports[i].state for i in (0, 1, 3)] == ["wrong checksum", "missing", "ok"]
    assert reports[2].state.startswith("cannot be read")
    assert {report.state for report in store.verify("cifar10", tmp_path)} == {"missing"}
