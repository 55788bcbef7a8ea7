"""PyTorch data sets: pairs as tensors, users and parts, and what is refused."""

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

import fedlab_core as fl


class Pairs(torch.utils.data.Dataset):
    """A list of pairs, which counts how often it is asked."""

    def __init__(self, pairs, classes=None) -> None:
        self.pairs, self.asked = pairs, 0
        if classes:
            self.classes = classes

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, i: int):
        self.asked += 1
        return self.pairs[i]


def tensors(n: int = 12) -> TensorDataset:
    return TensorDataset(torch.arange(n * 2.0, dtype=torch.float64).view(n, 2), torch.arange(n) % 3)


def test_with_users_it_is_a_federation() -> None:
    data = tensors()
    fed = fl.read.torch_dataset(data, test=tensors(6), users=["b", "a", "b"] * 4)
    assert fed.names == ("a", "b") and fed.sizes.tolist() == [4, 8] and fed.dataset.name == "TensorDataset"
    assert fed.x.dtype == torch.float32 and torch.equal(fed.x.double(), data.tensors[0])
    assert torch.equal(fed.client(0)[1], data.tensors[1][1::3]) and len(fed.test) == 6


def test_with_parts_they_are_the_clients() -> None:
    data = tensors()
    parts = fl.partition.dirichlet(data.tensors[1], num_clients=3, alpha=1.0, seed=0)
    fed = fl.read.torch_dataset(data, test=tensors(6), parts=parts)
    assert [part.tolist() for part in fed.parts] == [part.tolist() for part in parts]
    assert fed.recipe["law"] == "dirichlet"
    shared = fl.read.torch_dataset(data, test=0, parts=[[0, 1], [1, 2]])
    assert shared.sizes.tolist() == [2, 2] and len(shared.test) == 0
    with pytest.raises(ValueError, match=r"parts number the samples of train; give the test data as a data set, or 0"):
        fl.read.torch_dataset(data, test=0.2, parts=parts)


def test_without_either_it_is_a_data_set_and_each_sample_is_read_once() -> None:
    data = Pairs([(torch.ones(2) * i, i % 2) for i in range(10)])
    dataset = fl.read.torch_dataset(data, test=0.3)
    assert isinstance(dataset, fl.Dataset) and (len(dataset.train), len(dataset.test)) == (7, 3)
    assert data.asked == 10


@pytest.mark.parametrize(
    ("x", "dtype", "expected"),
    [
        (torch.tensor([[[0, 51], [255, 102]]], dtype=torch.uint8), torch.float32, [[[0, 0.2], [1, 0.4]]]),
        (np.array([1.5, 2.5]), torch.float32, [1.5, 2.5]),
        ([3, 4], torch.int64, [3, 4]),
        (torch.tensor([5, 6], dtype=torch.uint8), torch.int64, [5, 6]),
        (torch.tensor([True, False]), torch.int64, [1, 0]),
    ],
)
def test_inputs_of_every_kind(x, dtype: torch.dtype, expected: list) -> None:
    dataset = fl.read.torch_dataset(Pairs([(x, 0), (x, 1)]), test=0)
    assert dataset.train.x.dtype == dtype
    torch.testing.assert_close(dataset.train.x[1], torch.tensor(expected, dtype=dtype))


@pytest.mark.parametrize(
    ("targets", "classes", "expected"),
    [
        ([torch.tensor(2), torch.tensor(5)], ("2", "5"), [0, 1]),
        (["b", "a"], ("a", "b"), [1, 0]),
        ([np.int64(1), 0], ("0", "1"), [1, 0]),
        ([0.5, 1.5], (), [0.5, 1.5]),
        ([torch.tensor([0.5, 1.0]), torch.tensor([1.5, 2.0])], (), [[0.5, 1.0], [1.5, 2.0]]),
    ],
)
def test_targets_of_every_kind(targets: list, classes: tuple[str, ...], expected: list) -> None:
    dataset = fl.read.torch_dataset(Pairs([(torch.zeros(1), y) for y in targets]), test=0)
    assert dataset.classes == classes and dataset.train.y.tolist() == expected


def test_the_classes_of_a_data_set_keep_their_names_and_numbers() -> None:
    """As torchvision's data sets have them; one of them does not occur."""
    data = Pairs([(torch.zeros(1), 2), (torch.zeros(1), 0)], classes=["cat", "dog", "emu"])
    dataset = fl.read.torch_dataset(data, test=0)
    assert dataset.classes == ("cat", "dog", "emu") and dataset.train.y.tolist() == [2, 0]


def test_images_of_pillow_are_read() -> None:
    image = pytest.importorskip("PIL.Image").fromarray(np.array([[[255, 0, 51]] * 3] * 2, dtype=np.uint8))
    dataset = fl.read.torch_dataset(Pairs([(image, 0), (image, 1)]), test=0)
    assert dataset.train.x.shape == (2, 3, 2, 3)
    torch.testing.assert_close(dataset.train.x[0, :, 0, 0], torch.tensor([1, 0, 0.2]))


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(torch.zeros(1), 0)])


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (Stream(), {}, "train: must be a map-style PyTorch data set.*got Stream"),
        (tensors(), {"test": Stream()}, "test: must be a map-style"),
        (tensors(), {"test": True}, "test"),
        (Pairs([]), {}, "train: holds no samples"),
        (Pairs([torch.zeros(2)]), {}, r"train\[0\]: must be a pair \(x, y\), got Tensor"),
        (Pairs([(torch.zeros(2), 0), (torch.zeros(3), 1)]), {}, r"train\[1\]: is float32 \[3\], but the first"),
        (Pairs([(torch.zeros(2), 0), (torch.zeros(2).int(), 1)]), {}, r"train\[1\]: is int64 \[2\]"),
        (Pairs([("text", 0)]), {}, r"train\[0\]: must be a tensor or an array of numbers, got str"),
        (Pairs([(torch.zeros(1), "a"), (torch.zeros(1), None)]), {"test": 0}, "y: 1 of 2 values are missing"),
        (tensors(), {"users": [1, 2]}, "users: 2 for 12 samples"),
        (tensors(), {"users": [None] * 12}, "users: 12 of 12 values are missing"),
        (tensors(), {"users": [0] * 12, "parts": [[0]]}, "users and parts: give one of them"),
        (tensors(), {"test": 0, "parts": [[12]]}, r"parts\[0\]"),
        (tensors(), {"test": TensorDataset(torch.zeros(1, 3), torch.zeros(1).long())}, "does not go with train.x"),
    ],
)  # fmt: skip
def test_what_no_run_could_use_is_refused(data, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.torch_dataset(data, **options)


def test_arguments_are_checked_before_a_sample_is_read() -> None:
    data = Pairs([(torch.zeros(1), 0)] * 4)
    for options in ({"users": [1]}, {"min_samples": 0}, {"test": 1.5}, {"task": "none"}, {"classes": "ab"}):
        with pytest.raises(ValueError):
            fl.read.torch_dataset(data, **options)
    assert data.asked == 0
