"""A file of a data set is read for its checksum once, and again only when its size or its times
have changed.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fedlab_core.data.disk import files, store
from fedlab_core.data.disk.files import DatasetCorrupt, record, stamp
from fedlab_core.data.disk.sources import Member
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import (
    CIFAR_NAMES,
    cifar_contents,
    cifar_pickles,
    expect_pickles,
    md5,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache", "small")
NAME = CIFAR_NAMES[2]
DAMAGED = cifar_contents()[NAME][:-1] + bytes([cifar_contents()[NAME][-1] ^ 1])  # as many bytes


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that are read for their checksum, in order."""
    names: list[str] = []
    content = files.content

    def counted(path: Path, member: Member) -> bytes:
        names.append(path.name)
        return content(path, member)

    monkeypatch.setattr(files, "content", counted)
    yield names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "cifar-10-batches-bin", cifar_contents())


def replace(path: Path, data: bytes, seconds: float) -> None:
    """Write ``data``, so many seconds after the file was last modified."""
    time = path.stat().st_mtime_ns + int(seconds * 1e9)
    path.write_bytes(data)
    os.utime(path, ns=(time, time))


def test_a_second_load_reads_no_file_for_its_checksum(folder: Path, read: list[str]) -> None:
    first = load_dataset("cifar10", folder.parent)
    assert read == list(CIFAR_NAMES)
    second = load_dataset("cifar10", folder.parent)
    assert read == list(CIFAR_NAMES)
    assert first.train.x.equal(second.train.x)


@pytest.mark.parametrize("seconds", [1, -1], ids=["newer", "older"])
def test_changed_content_with_another_time_is_found(folder: Path, seconds: float) -> None:
    load_dataset("cifar10", folder.parent)
    replace(folder / NAME, DAMAGED, seconds)
    for _ in range(2):
        with pytest.raises(DatasetCorrupt, match=f"{NAME}: wrong checksum.*data verify cifar10"):
            load_dataset("cifar10", folder.parent)
    replace(folder / NAME, cifar_contents()[NAME], seconds)
    load_dataset("cifar10", folder.parent)


def test_another_size_at_the_same_time_is_found(folder: Path) -> None:
    load_dataset("cifar10", folder.parent)
    replace(folder / NAME, cifar_contents()[NAME][:-1], 0)
    with pytest.raises(
        DatasetCorrupt, match=f"{NAME}: must hold 9219 bytes once unpacked, but holds only 9218"
    ):
        load_dataset("cifar10", folder.parent)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no time of the last change")
def test_a_time_of_modification_that_was_set_back_does_not_hide_a_change(folder: Path) -> None:
    path = folder / NAME
    before = stamp(path)
    member = Member(NAME, len(DAMAGED), md5(cifar_contents()[NAME]))
    record(path, member, before._replace(changed=before.changed - 1))  # as of an earlier moment
    replace(path, DAMAGED, 0)
    with pytest.raises(DatasetCorrupt, match=f"{NAME}: wrong checksum"):
        load_dataset("cifar10", folder.parent)


def test_a_file_that_was_only_touched_is_checked_again_and_alone(
    folder: Path, read: list[str]
) -> None:
    load_dataset("cifar10", folder.parent)
    read.clear()
    os.utime(folder / NAME, ns=(0, 0))
    for _ in range(2):
        load_dataset("cifar10", folder.parent)
    assert read == [NAME]


def test_verify_reads_every_file_though_it_is_recorded(folder: Path, read: list[str]) -> None:
    load_dataset("cifar10", folder.parent)
    path = folder / NAME
    path.write_bytes(DAMAGED)
    # as if nothing had happened
    record(path, Member(NAME, len(DAMAGED), md5(cifar_contents()[NAME])), stamp(path))
    load_dataset("cifar10", folder.parent)
    assert store.verify("cifar10", folder.parent)[str(path)] == "wrong checksum"


def test_unpacked_files_are_checked_when_they_are_unpacked(
    tmp_path: Path, user_cache: Path, read: list[str]
) -> None:
    write(tmp_path / "cifar-10-batches-bin", cifar_contents(), ".xz")
    load_dataset("cifar10", tmp_path)
    assert {name for name in read if name.endswith(".xz")} == {f"{name}.xz" for name in CIFAR_NAMES}
    read.clear()
    load_dataset("cifar10", tmp_path)
    assert read == []
    replace(user_cache / "unpacked" / md5(cifar_contents()[NAME]), DAMAGED, 1)
    load_dataset("cifar10", tmp_path)
    assert read == [md5(cifar_contents()[NAME]), f"{NAME}.xz"]  # damaged, and unpacked again


@pytest.mark.usefixtures("vision")
def test_pickles_are_checked_once_and_a_damaged_one_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: list[str]
) -> None:
    expect_pickles(monkeypatch, cifar_pickles())
    folder = write(tmp_path / "cifar-10-batches-py", cifar_pickles())
    load_dataset("cifar10", tmp_path)
    assert read == list(cifar_pickles())
    load_dataset("cifar10", tmp_path)
    assert read == list(cifar_pickles())
    data = bytearray(cifar_pickles()["data_batch_4"])
    data[-2] ^= 1
    replace(folder / "data_batch_4", bytes(data), 1)
    monkeypatch.setattr("pickle.load", None)  # calling it would fail
    with pytest.raises(DatasetCorrupt, match="data_batch_4: wrong checksum"):
        load_dataset("cifar10", tmp_path)


def test_a_record_is_small_and_a_damaged_one_counts_as_none(
    folder: Path, user_cache: Path, read: list[str]
) -> None:
    load_dataset("cifar10", folder.parent)
    records = [user_cache / "checked" / name for name in tree(user_cache / "checked")]
    assert len(records) == len(CIFAR_NAMES) and all(path.stat().st_size < 1000 for path in records)
    read.clear()
    for damage in (b"", b"{", b"[]", bytes([255])):
        for path in records:
            path.write_bytes(damage)
        load_dataset("cifar10", folder.parent)
    assert read == 4 * list(CIFAR_NAMES)


def test_without_a_user_cache_every_load_checks(
    folder: Path, user_cache: Path, read: list[str]
) -> None:
    user_cache.parent.write_bytes(b"a file where the cache folder should be")
    for _ in range(2):
        load_dataset("cifar10", folder.parent)
    assert read == 2 * list(CIFAR_NAMES)
