"""PyTorch data sets, folders of images, Hugging Face and Flower: what samples become, and which are
refused.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

import fedlab_core as fl

Image = pytest.importorskip("PIL.Image")
BYTES = np.random.default_rng(0).integers(0, 256, (4, 5, 7, 3), dtype=np.uint8)


def tensors(n: int = 12) -> TensorDataset:
    return TensorDataset(torch.arange(n * 2.0, dtype=torch.float64).view(n, 2), torch.arange(n) % 3)


def test_a_torch_data_set_with_users_is_a_federation() -> None:
    data = tensors()
    fed = fl.read.torch_dataset(data, test=tensors(6), users=["b", "a", "b"] * 4)
    assert (
        fed.names == ("a", "b")
        and fed.sizes.tolist() == [4, 8]
        and fed.dataset.name == "TensorDataset"
    )
    assert fed.x.dtype == torch.float32 and torch.equal(fed.x.double(), data.tensors[0])
    assert torch.equal(fed.client(0)[1], data.tensors[1][1::3]) and len(fed.test) == 6


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (torch.tensor([[[0, 51], [255, 102]]], dtype=torch.uint8), [[[0, 0.2], [1, 0.4]]]),
        (np.array([1.5, 2.5]), [1.5, 2.5]),
        (Image.fromarray(np.array([[[255, 0, 51]]], dtype=np.uint8)), [[[1.0]], [[0.0]], [[0.2]]]),
        ([3, 4], [3, 4]),
        (torch.tensor([5, 6], dtype=torch.uint8), [5, 6]),
        (torch.tensor([True, False]), [1, 0]),
    ],
)
def test_inputs_of_every_kind(x: Any, expected: list) -> None:
    dataset = fl.read.torch_dataset([(x, 0), (x, 1)], test=0)
    torch.testing.assert_close(dataset.train.x[1], torch.tensor(expected))


def test_the_classes_of_a_data_set_keep_their_names_and_numbers() -> None:
    data = tensors()
    data.classes = ["cat", "dog", "emu", "fox"]  # as torchvision has them; one does not occur
    dataset = fl.read.torch_dataset(data, test=0)
    assert (
        dataset.classes == ("cat", "dog", "emu", "fox")
        and dataset.train.y.tolist() == [0, 1, 2] * 4
    )


class Stream(IterableDataset):
    def __iter__(self):
        return iter([(torch.zeros(1), 0)])


MASKED = np.ma.array([1.0, 2.0], mask=[False, True])


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (Stream(), {}, "train: must be a map-style data set.*got Stream"),
        ([], {}, "train: must be a map-style data set.*got list"),
        ([torch.zeros(2)], {}, r"train\[0\]: must be a pair"),
        ([(MASKED, 0)], {}, r"train\[0\]: .*masked"),
        (
            [(torch.zeros(2), 0), (torch.zeros(3), 1)],
            {},
            r"train\[1\]: is float32 \[n, 3\], but the first sample",
        ),
        ([("text", 0)], {}, r"train\[0\]: cannot be made a tensor"),
        (
            [(torch.zeros(1), "a"), (torch.zeros(1), None)],
            {"test": 0},
            "y: 1 of 2 values are missing",
        ),
        (tensors(), {"users": [1, 2]}, r"users: has shape \[2\].* 12 in all"),
        (
            tensors(),
            {"test": TensorDataset(torch.zeros(1, 3), torch.zeros(1).long())},
            "does not go with train.x",
        ),
        (
            [(torch.zeros(1).int(), 0), (torch.ones(1).int(), 1)],
            {"standardize": True},
            "standardize=True",
        ),
        ([(torch.zeros(1), 0)], {"size": (4, 0)}, "size=0: must be an integer ≥ 1"),
    ],
)
def test_useless_samples_are_refused(data: Any, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.torch_dataset(data, **options)


def save(
    path: Path, value: int | tuple[int, ...], mode: str = "RGB", size: tuple[int, int] = (6, 4)
) -> None:
    """A flat image of (width, height) ``size``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, value).save(path)


def test_a_folder_of_users_is_a_federation(tmp_path: Path) -> None:
    for user, holdings in {
        "10": {"owl": 3, "bat": 2},
        "9": {"owl": 4},
        "2": {"bat": 1, "eel": 2},
    }.items():
        for label, count in holdings.items():
            for i in range(count):
                save(tmp_path / "birds" / user / label / f"{i}.png", (int(user), 51 * i, 255))
    (tmp_path / "birds" / "9" / "owl" / "notes.txt").write_text("not an image")
    (tmp_path / "birds" / "9" / "owl" / ".hidden.png").write_bytes(b"")
    fed = fl.read.image_folder(tmp_path / "birds", users=True, test=0.0)
    assert (
        fed.names == ("2", "9", "10")
        and fed.sizes.tolist() == [3, 4, 5]
        and fed.dataset.name == "birds"
    )
    assert fed.dataset.classes == ("bat", "eel", "owl") and fed.x.shape == (12, 3, 4, 6)
    x, y = fed.client(0)
    assert y.tolist() == [0, 1, 1] and x[:, 1, 0, 0].tolist() == pytest.approx([0, 0, 0.2])
    dataset = fl.read.image_folder(tmp_path / "birds" / "10", test=tmp_path / "birds" / "9")
    assert (
        isinstance(dataset, fl.Dataset)
        and dataset.classes == ("bat", "owl")
        and dataset.test.y.tolist() == [1] * 4
    )
    with pytest.raises(
        ValueError, match=r"y of test: 2 of 3 labels are not among the 2 classes.*'eel'"
    ):
        fl.read.image_folder(tmp_path / "birds" / "10", test=tmp_path / "birds" / "2")
    for users, form in ((False, "class/image"), (True, "user/class/image")):
        with pytest.raises(ValueError, match=f"must be a folder with images as {form}"):
            fl.read.image_folder(tmp_path if not users else tmp_path / "birds" / "9", users=users)


def test_images_are_stretched_and_their_channels_chosen(tmp_path: Path) -> None:
    save(tmp_path / "a" / "one.png", (255, 255, 255), size=(9, 3))
    save(tmp_path / "a" / "two.png", 102, "L", size=(2, 8))
    save(tmp_path / "b" / "three.png", (51, 51, 51, 7), "RGBA", size=(5, 5))
    for channels in (1, 3):
        x = fl.read.image_folder(tmp_path, size=(4, 6), channels=channels, test=0.0).train.x
        assert x.shape == (3, channels, 4, 6)
        torch.testing.assert_close(x, torch.tensor([1.0, 0.4, 0.2]).view(3, 1, 1, 1).expand_as(x))
    assert fl.read.image_folder(tmp_path, size=5, channels=1, test=0.0).train.x.shape == (
        3,
        1,
        5,
        5,
    )
    for options, shapes in (
        ({"channels": 1}, r"\[n, 1, 8, 2\].*\[n, 1, 3, 9\]"),
        ({"size": 5}, r"\[n, 1, 5, 5\].*\[n, 3, 5, 5\]"),
    ):
        with pytest.raises(ValueError, match=rf"two\.png: is float32 {shapes}.*size=.* channels="):
            fl.read.image_folder(tmp_path, **options)


def test_damaged_and_unusual_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a" / "1.png"
    limit = Image.MAX_IMAGE_PIXELS
    save(path, 0)
    # half of this image's pixels: DecompressionBombError
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 11)
    with pytest.raises(
        ValueError, match=r"1\.png: cannot be read as an image: .*decompression bomb"
    ):
        fl.read.image_folder(tmp_path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", limit)
    whole = path.read_bytes()
    eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 6 4\n%%EndComments\n"
    # Pillow runs Ghostscript on EPS if it is not told the formats
    for content in (b"not an image", whole[:45], eps):
        path.write_bytes(content)
        with pytest.raises(
            ValueError, match=r"1\.png: cannot be read as an image: (cannot identify|.*truncated)"
        ):
            fl.read.image_folder(tmp_path)
    save(path, 40_000, "I;16")
    with pytest.raises(ValueError, match=r"1\.png: .*mode 'I;16'"):
        fl.read.image_folder(tmp_path, size=4, channels=1)
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(ImportError, match="pip install pillow"):
        fl.read.image_folder(tmp_path)


class Columns:
    """What :func:`fl.read.hugging_face` uses of a ``datasets.Dataset``."""

    def __init__(self, columns: dict[str, list[Any]], **features: Any) -> None:
        self.columns = columns
        self.column_names = list(columns)
        self.features = dict.fromkeys(columns) | features

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key: Any) -> Any:
        return (
            self.columns[key]
            if isinstance(key, str)
            else {name: v[key] for name, v in self.columns.items()}
        )

    def with_format(self, kind: None) -> "Columns":
        return self

    def select_columns(self, names: list[str]) -> "Columns":
        return Columns({name: self.columns[name] for name in names})


def rows(part: slice = slice(8)) -> Any:
    columns: dict[str, list[Any]] = {
        "x": [[float(i), 1.0] for i in range(8)],
        "age": list(range(8)),
        "size": [0.5 * i for i in range(8)],
        "label": list("abababab"),
        "who": list("uvvvuvvv"),
        "text": ["word"] * 8,
    }
    columns = {name: column[part] for name, column in columns.items()}
    return Columns(columns)


def test_data_sets_of_hugging_face() -> None:
    fed = fl.read.hugging_face(rows(), 0.0, x="x", y="label", user="who")
    assert (
        fed.names == ("u", "v")
        and fed.sizes.tolist() == [2, 6]
        and fed.dataset.classes == ("a", "b")
    )
    assert fed.client(0)[0].tolist() == [[0, 1], [4, 1]] and fed.client(1)[1].tolist() == [
        1,
        0,
        1,
        1,
        0,
        1,
    ]
    joined = fl.read.hugging_face({"train": rows(), "test": rows()}, x=["age", "size"], y="label")
    assert joined.train.x.tolist() == [[i, i / 2] for i in range(8)] and len(joined.test) == 8
    # a fifth, rounded
    assert len(fl.read.hugging_face({"train": rows()}, x="x", y="size").test) == 2
    clients = [rows(slice(3)), rows(slice(3, 8))]
    fed = fl.read.hugging_face(clients, rows(), x="x", y="label")
    assert fed.sizes.tolist() == [3, 5] and fed.names == ("0", "1") and len(fed.test) == 8
    assert fed.client(1)[0][:, 0].tolist() == [3, 4, 5, 6, 7]
    partitioner = SimpleNamespace(  # as flwr_datasets.partitioner.NaturalIdPartitioner
        num_partitions=2,
        load_partition=clients.__getitem__,
        partition_id_to_natural_id={0: "v", 1: "u"},
    )
    fed = fl.read.hugging_face(partitioner, rows(), x="x", y="label")
    assert fed.names == ("u", "v") and fed.sizes.tolist() == [5, 3]


def test_images_and_class_labels_of_hugging_face() -> None:
    columns = {"image": [Image.fromarray(array) for array in BYTES], "label": [0, 1, 1, 0]}
    data = Columns(columns, label=SimpleNamespace(names=["owl", "bat", "eel"]))
    dataset = fl.read.hugging_face(data, 0.0, x="image", y="label")
    assert dataset.classes == ("owl", "bat", "eel") and dataset.train.y.tolist() == [0, 1, 1, 0]
    torch.testing.assert_close(
        dataset.train.x, torch.from_numpy(BYTES).permute(0, 3, 1, 2) / 255, rtol=0, atol=1e-7
    )
    assert fl.read.hugging_face(data, x="image", y="label", size=(3, 4), channels=1).train.x.shape[
        1:
    ] == (1, 3, 4)


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (rows(), {"y": "labels"}, "y='labels'.*Did you mean 'label'"),
        (rows(), {"user": "whom"}, "user='whom'.*Did you mean 'who'"),
        (rows(), {"x": "text"}, r"train\[0\]: cannot be made a tensor"),
        (rows(), {"test": np.zeros(3)}, r"test: must be a datasets.Dataset.*got ndarray"),
        ([rows(), rows()], {"user": "who"}, "user='who': .*2 clients"),
    ],
)
def test_useless_columns_are_refused(data: Any, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.hugging_face(data, **({"x": "x", "y": "label"} | options))
