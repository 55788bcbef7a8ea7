"""The real data sets, where they are on disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from fedlab_core.data.disk import store
from fedlab_core.data.disk.files import Location, locate, search_roots
from fedlab_core.data.disk.sources import SOURCES
from fedlab_core.data.load import load_dataset
from tests.core.data.small_sets import md5, needs_torchvision

REPOSITORY = Path(__file__).resolve().parents[3]
# Known from the literature on the data set.
MNIST_TRAIN_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
MNIST_TEST_COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def counts(y: torch.Tensor) -> list[int]:
    return torch.bincount(y).tolist()


def real(name: str) -> Location:
    location = locate(SOURCES[name], search_roots())
    assert location is not None
    return location


@pytest.mark.needs_data("mnist")
def test_mnist() -> None:
    data = load_dataset("mnist")
    assert counts(data.train.y) == MNIST_TRAIN_COUNTS and counts(data.test.y) == MNIST_TEST_COUNTS
    assert data.train.x.shape == (60_000, 1, 28, 28) and data.test.x.shape == (10_000, 1, 28, 28)
    assert data.train.y[:5].tolist() == [5, 0, 4, 1, 9] and data.test.y[:5].tolist() == [7, 2, 1, 0, 4]
    assert data.train.x.mean().item() == pytest.approx(0.1307, abs=5e-5)
    assert data.train.x.std().item() == pytest.approx(0.3081, abs=5e-5)


@pytest.mark.needs_data("fashion-mnist")
def test_fashion_mnist() -> None:
    data = load_dataset("fashion-mnist")
    assert counts(data.train.y) == [6000] * 10 and counts(data.test.y) == [1000] * 10


@pytest.mark.needs_data("cifar10")
def test_cifar10() -> None:
    data = load_dataset("cifar10")
    assert counts(data.train.y) == [5000] * 10 and counts(data.test.y) == [1000] * 10
    assert data.train.x.shape == (50_000, 3, 32, 32) and data.test.x.shape == (10_000, 3, 32, 32)
    assert [data.classes[int(y)] for y in data.test.y[:4]] == ["cat", "ship", "ship", "airplane"]
    mean = data.train.x.mean(dim=(0, 2, 3)).tolist()
    assert mean == pytest.approx([0.4914, 0.4822, 0.4465], abs=5e-5)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.needs_data(name)) for name in SOURCES])
def test_the_files_are_intact(name: str) -> None:
    assert {report.state for report in store.verify(name)} == {"ok"}


@needs_torchvision
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.needs_data(name)) for name in ("mnist", "fashion-mnist")]
)
def test_compressed_files_have_the_checksums_that_torchvision_publishes(name: str) -> None:
    paths = [path for path in real(name).files.values() if path.suffix == ".gz"]
    if not paths:
        pytest.skip("the files are not compressed here")
    published = {item.filename: item.md5 for item in SOURCES[name].downloads()}
    assert {path.name: md5(path.read_bytes()) for path in paths}.items() <= published.items()


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, str(REPOSITORY / "data_scripts" / name), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.needs_data("mnist")
def test_the_scripts_import_and_verify(tmp_path: Path) -> None:
    root = ("--root", str(tmp_path))
    fetched = script("fetch.py", "mnist", "--from", str(real("mnist").folder), *root)
    assert fetched.returncode == 0, fetched.stderr
    assert script("verify.py", *root).returncode == 0
    next((tmp_path / "mnist").glob("t10k-labels*")).unlink()
    assert script("verify.py", "mnist", *root).returncode == 1
