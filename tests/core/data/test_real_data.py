"""The real data sets, where they are on disk."""

import csv
import gzip
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from fedlab_core.data.disk import store
from fedlab_core.data.disk.files import content, locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from fedlab_core.data.disk.text import LENGTH, VOCABULARY, tokens
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import as_pickles, expect_pickles, source, write

REPOSITORY = Path(__file__).resolve().parents[3]
# Known from the literature on the data set.
MNIST_TRAIN_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
MNIST_TEST_COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def counts(y: torch.Tensor) -> list[int]:
    return torch.bincount(y).tolist()


@pytest.mark.needs_data("mnist")
@pytest.mark.usefixtures("vision")
def test_mnist() -> None:
    data = load_dataset("mnist")
    assert counts(data.train.y) == MNIST_TRAIN_COUNTS and counts(data.test.y) == MNIST_TEST_COUNTS
    assert data.train.x.shape == (60_000, 1, 28, 28) and data.test.x.shape == (10_000, 1, 28, 28)
    assert data.train.y[:5].tolist() == [5, 0, 4, 1, 9] and data.test.y[:5].tolist() == [
        7,
        2,
        1,
        0,
        4,
    ]
    assert data.train.x.mean().item() == pytest.approx(0.1307, abs=5e-5)
    assert data.train.x.std().item() == pytest.approx(0.3081, abs=5e-5)


@pytest.mark.needs_data("mnist")
@pytest.mark.usefixtures("vision")
def test_every_bit_of_mnist_is_that_of_the_files() -> None:
    """After a header of 16 bytes, images are bytes row by row; after one of 8 bytes, labels are
    bytes.
    """
    data = load_dataset("mnist")
    location = locate(SOURCES["mnist"], search_roots())
    found = iter((data.train.x, data.train.y, data.test.x, data.test.y))
    for member, path in location.files.items():
        array = np.frombuffer(
            content(path, member), np.uint8, offset=16 if "images" in member.name else 8
        )
        if "images" in member.name:
            expected = array.reshape(-1, 1, 28, 28).astype(np.float32) / np.float32(255)
        else:
            expected = array.astype(np.int64)
        np.testing.assert_array_equal(next(found).numpy(), expected, strict=True)


@pytest.mark.slow
@pytest.mark.needs_data("cifar10")
@pytest.mark.usefixtures("vision")
def test_both_layouts_of_cifar10_give_every_bit_of_the_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pickles made from the records, in the layout that torchvision reads."""
    data = load_dataset("cifar10")
    location = locate(SOURCES["cifar10"], search_roots())
    if location.folder.name != "cifar-10-batches-bin":
        pytest.skip("the binary layout is not on disk")
    contents = {member.name: content(path, member) for member, path in location.files.items()}
    pickles = as_pickles(contents)
    expect_pickles(monkeypatch, pickles)
    monkeypatch.setitem(SOURCES, "cifar10", source("cifar10", pickles, contents))
    write(tmp_path / "cifar-10-batches-py", pickles)
    again = load_dataset("cifar10", tmp_path)
    records = np.frombuffer(b"".join(contents.values()), np.uint8).reshape(60_000, 3073)
    for first, split, found in ((0, data.train, again.train), (50_000, data.test, again.test)):
        part = records[first : first + len(split)]
        x = part[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / np.float32(255)
        for read in (split, found):
            np.testing.assert_array_equal(read.x.numpy(), x, strict=True)
            np.testing.assert_array_equal(read.y.numpy(), part[:, 0].astype(np.int64), strict=True)


@pytest.mark.slow
@pytest.mark.needs_data("cifar10")
def test_cifar10() -> None:
    data = load_dataset("cifar10")
    assert counts(data.train.y) == [5000] * 10 and counts(data.test.y) == [1000] * 10
    assert data.train.x.shape == (50_000, 3, 32, 32) and data.test.x.shape == (10_000, 3, 32, 32)
    assert [data.classes[int(y)] for y in data.test.y[:4]] == ["cat", "ship", "ship", "airplane"]
    assert data.train.x.mean(dim=(0, 2, 3)).tolist() == pytest.approx(
        [0.4914, 0.4822, 0.4465], abs=5e-5
    )


@pytest.mark.needs_data("sentiment140")
def test_sentiment140() -> None:
    data = load_dataset("sentiment140")
    accounts = data.users or []
    every = torch.from_numpy(np.sort(np.concatenate(accounts)))
    assert torch.equal(every, torch.arange(len(data.train)))
    assert (
        data.train.x.shape[1:] == data.test.x.shape[1:] == (LENGTH,)
        and data.train.x.dtype == torch.int64
    )
    assert data.train.x.max() == VOCABULARY - 1 and data.test.x.max() < VOCABULARY
    assert counts(data.test.y) == [177, 182]  # of 498, the other 139 being neutral
    path = next(iter(locate(SOURCES["sentiment140"], search_roots()).files.values()))
    if path.name != "training.subset.noemoticon.csv.gz":
        assert counts(data.train.y) == [800_000, 800_000]
        return
    assert len(data.train) == 22_483
    assert [sum(len(user) >= n for user in accounts) for n in (5, 10, 20)] == [2622, 673, 103]
    with gzip.open(path, "rt", encoding="latin-1", newline="") as file:
        texts = [tokens(row[5]) for row in csv.reader(file)]
    assert [int(n) for n in (data.train.x != 0).sum(1)] == [
        min(len(words), LENGTH) for words in texts
    ]
    for word, label in (("thanks", 1), ("love", 1), ("sad", 0), ("miss", 0)):
        having = torch.tensor([word in words for words in texts])
        assert data.train.y[having].eq(label).float().mean() > 0.7


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_data(name)) for name in SOURCES]
)
def test_the_files_are_intact(name: str) -> None:
    assert set(store.verify(name).values()) == {"ok"}


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(REPOSITORY / "data_scripts" / name), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


@pytest.mark.slow
@pytest.mark.needs_data("mnist")
@pytest.mark.needs_data("sentiment140")
def test_the_scripts_fetch_verify_and_prepare() -> None:
    fetched = script("fetch.py", "mnist")  # it is there
    assert fetched.returncode == 0, fetched.stderr
    assert script("verify.py", "mnist").returncode == 0
    assert "177 negative, 182 positive" in script("prepare.py").stdout
