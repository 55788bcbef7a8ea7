"""The readers: digits, idx files, both layouts of CIFAR-10."""

import gzip
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from fedlab_core.data.dataset import Dataset
from fedlab_core.data.disk import files
from fedlab_core.data.disk.files import DatasetCorrupt
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import (
    CIFAR_NAMES,
    IDX_NAMES,
    cifar_contents,
    cifar_pickles,
    expect_pickles,
    idx_arrays,
    idx_contents,
    md5,
    tree,
    write,
)

pytestmark = pytest.mark.usefixtures("user_cache")


# digits


def test_digits_are_a_stratified_partition_of_the_file() -> None:
    images, labels = load_digits(return_X_y=True)
    digits = load_dataset("digits")
    for split, size in ((digits.train, 1442), (digits.test, 355)):
        assert split.x.shape == (size, 1, 8, 8) and split.x.dtype == torch.float32
        assert split.y.shape == (size,) and split.y.dtype == torch.int64
        assert split.x.min() == 0 and split.x.max() == 1
    assert (
        digits.num_classes == 10 and digits.classes == tuple("0123456789") and digits.users is None
    )
    given = sorted(zip(map(bytes, images.astype(np.uint8)), labels.tolist(), strict=True))
    x = torch.cat([digits.train.x, digits.test.x]).mul(16).reshape(-1, 64).numpy().astype(np.uint8)
    y = torch.cat([digits.train.y, digits.test.y]).tolist()
    assert sorted(zip(map(bytes, x), y, strict=True)) == given
    assert torch.bincount(digits.test.y).tolist() == [n // 5 for n in np.bincount(labels)]


# idx files


@pytest.mark.parametrize(
    ("name", "folder", "suffix", "classes"),
    [
        ("mnist", "MNIST/raw", "", ("0", "9")),
        ("mnist", "mnist", ".gz", ("0", "9")),
        ("fashion-mnist", "fashion-mnist", ".xz", ("T-shirt/top", "Ankle boot")),
    ],
)
@pytest.mark.usefixtures("small", "vision")
def test_idx_layouts(
    tmp_path: Path, name: str, folder: str, suffix: str, classes: tuple[str, str]
) -> None:
    write(tmp_path / folder, idx_contents(), suffix)
    before = tree(tmp_path / folder)
    data = load_dataset(name, root=tmp_path)
    train_x, train_y, test_x, test_y = idx_arrays()
    for split, x, y in ((data.train, train_x, train_y), (data.test, test_x, test_y)):
        assert split.x.dtype == torch.float32 and split.y.dtype == torch.int64
        np.testing.assert_array_equal(
            split.x.numpy(), (x[:, None] / np.float32(255)).astype(np.float32)
        )
        np.testing.assert_array_equal(split.y.numpy(), y)
    assert (
        data.name == name
        and data.num_classes == len(data.classes) == 10
        and data.classes[::9] == classes
    )
    assert tree(tmp_path / folder) == before


@pytest.mark.parametrize(
    ("member", "suffix", "damage", "reason"),
    [
        (0, ".gz", lambda data: gzip.compress(data)[:1000], "cannot be read"),
        (0, ".gz", lambda _: b"<html>please log in</html>", "cannot be read"),
        (0, ".gz", lambda data: gzip.compress(data)[:10] + bytes([255]) * 1000, "cannot be read"),
        (0, ".xz", lambda data: data, "cannot be read"),
        (0, ".gz", lambda data: gzip.compress(data[:-1]), "but holds only"),
        (0, "", lambda data: data + b"x", "but holds more than"),
        (0, "", lambda data: data[:2] + bytes([13]) + data[3:], "wrong checksum"),
        (1, "", lambda data: data[:-1] + bytes([data[-1] ^ 1]), "wrong checksum"),
        (1, ".gz", lambda data: gzip.compress(data[:4] + bytes(4) + data[8:]), "wrong checksum"),
    ],
)
@pytest.mark.usefixtures("small", "vision")
def test_a_corrupt_idx_file_is_named(
    tmp_path: Path, user_cache: Path, member: int, suffix: str, damage, reason: str
) -> None:
    folder = write(tmp_path / "mnist", idx_contents())
    plain = folder / IDX_NAMES[member]
    damaged = folder / (plain.name + suffix)
    data = damage(plain.read_bytes())
    plain.unlink()
    damaged.write_bytes(data)
    with pytest.raises(DatasetCorrupt) as caught:
        load_dataset("mnist", tmp_path)
    message = str(caught.value)
    assert str(damaged) in message and reason in message
    assert f"python -m fedlab_core data verify mnist --root {tmp_path}" in message
    assert not (user_cache / "unpacked").exists()


# CIFAR-10


def records(contents: dict[str, bytes], *names: str) -> np.ndarray:
    return np.frombuffer(b"".join(contents[name] for name in names), np.uint8).reshape(-1, 3073)


def expect_the_small_cifar(data: Dataset) -> None:
    """Compare with the records: one byte label, then 1,024 each
    of red, green and blue, row by row.
    """
    for split, names in ((data.train, CIFAR_NAMES[:5]), (data.test, CIFAR_NAMES[5:])):
        expected = records(cifar_contents(), *names)
        np.testing.assert_array_equal(split.y.numpy(), expected[:, 0])
        pixels = expected[:, 1:].reshape(-1, 3, 32, 32)
        np.testing.assert_array_equal(split.x.numpy(), pixels.astype(np.float32) / np.float32(255))
        assert (
            split.x.dtype == torch.float32
            and split.y.dtype == torch.int64
            and split.x.is_contiguous()
        )
    assert data.num_classes == 10 and data.classes[6] == "frog"


@pytest.mark.usefixtures("small")
def test_the_binary_layout_of_cifar_is_read_without_torchvision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    write(tmp_path / "cifar-10-batches-bin", cifar_contents())
    expect_the_small_cifar(load_dataset("cifar10", tmp_path))


@pytest.mark.usefixtures("small", "vision")
def test_the_layout_of_torchvision_gives_the_same_arrays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expect_pickles(monkeypatch, cifar_pickles())
    write(tmp_path / "cifar-10-batches-py", cifar_pickles())
    expect_the_small_cifar(load_dataset("cifar10", tmp_path))


@pytest.mark.usefixtures("small", "vision")
def test_a_damaged_pickle_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expect_pickles(monkeypatch, cifar_pickles())
    folder = write(tmp_path / "cifar-10-batches-py", cifar_pickles())
    monkeypatch.setattr(pickle, "load", None)  # calling it would fail
    (folder / "test_batch").write_bytes(b"cos\nsystem\n.")
    with pytest.raises(DatasetCorrupt, match=r"test_batch: must hold .*data verify cifar10"):
        load_dataset("cifar10", tmp_path)


@pytest.mark.usefixtures("small")
def test_torchvision_is_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torchvision", None)
    write(tmp_path / "mnist", idx_contents())
    with pytest.raises(ImportError, match="pip install torchvision"):
        load_dataset("mnist", tmp_path)


@pytest.mark.usefixtures("small")
def test_xz_batches_are_unpacked_once(
    tmp_path: Path, user_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "cifar-10-batches-bin", cifar_contents(), ".xz")
    user_cache.parent.write_bytes(b"a file where the cache folder should be")
    first = load_dataset("cifar10", tmp_path)
    user_cache.parent.unlink()
    load_dataset("cifar10", tmp_path)
    unpacked = {md5(data): data for data in cifar_contents().values()}
    assert tree(user_cache / "unpacked") == unpacked
    (user_cache / "unpacked" / md5(cifar_contents()["test_batch.bin"])).write_bytes(b"short")
    load_dataset("cifar10", tmp_path)
    assert tree(user_cache / "unpacked") == unpacked
    monkeypatch.setitem(files._OPENERS, ".xz", None)  # calling it would fail
    second = load_dataset("cifar10", tmp_path)
    assert torch.equal(first.train.x, second.train.x) and torch.equal(first.test.y, second.test.y)


@pytest.mark.usefixtures("small")
def test_a_corrupt_cifar_batch_is_named(tmp_path: Path, user_cache: Path) -> None:
    contents = cifar_contents()
    contents["data_batch_1.bin"] = bytes([11]) + contents["data_batch_1.bin"][1:]
    write(tmp_path / "cifar-10-batches-bin", contents, ".xz")
    with pytest.raises(DatasetCorrupt, match=r"data_batch_1\.bin\.xz: wrong checksum"):
        load_dataset("cifar10", tmp_path)
    assert not user_cache.exists()
