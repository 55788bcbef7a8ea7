"""Data sets of Hugging Face and partitions of Flower: the real ones where they are installed, and their shape."""

from typing import Any

import numpy as np
import pytest
import torch

import fedlab_core as fl


class Columns:
    """What is used of a ``datasets.Dataset``: rows by name, features, formats."""

    def __init__(self, columns: dict[str, list[Any]], **features: Any) -> None:
        self.columns, self.column_names = columns, list(columns)
        self.features = {name: features.get(name) for name in columns}

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self):
        return (dict(zip(self.columns, row, strict=True)) for row in zip(*self.columns.values(), strict=True))

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def with_format(self, kind: None) -> "Columns":
        return self

    def select_columns(self, names: list[str]) -> "Columns":
        return Columns({name: self.columns[name] for name in names})


def real(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict(columns)


KINDS = pytest.mark.parametrize("make", [Columns, real], ids=["alike", "datasets"])
TABLE = {
    "x": [[float(i), 1.0] for i in range(8)],
    "age": list(range(8)),
    "size": [0.5 * i for i in range(8)],
    "label": list("abababab"),
    "who": ["u", "v", "v", "v", "u", "v", "v", "v"],
    "text": ["word"] * 8,
}


@KINDS
def test_a_column_of_users_makes_a_federation(make) -> None:
    fed = fl.read.hugging_face(make(TABLE), 0.0, x="x", y="label", user="who")
    assert fed.names == ("u", "v") and fed.sizes.tolist() == [2, 6] and fed.dataset.classes == ("a", "b")
    assert fed.client(0)[0].tolist() == [[0, 1], [4, 1]] and fed.client(1)[1].tolist() == [1, 0, 1, 1, 0, 1]
    held_out = fl.read.hugging_face(make(TABLE), x="x", y="label", user="who", seed=3)
    assert len(held_out.test) == 1 and held_out.sizes.tolist() == [2, 5]  # a fifth of 2 and of 6, rounded


@KINDS
def test_several_columns_become_features(make) -> None:
    dataset = fl.read.hugging_face(make(TABLE), make(TABLE), x=["age", "size"], y="label")
    assert isinstance(dataset, fl.Dataset) and len(dataset.test) == 8
    assert dataset.train.x.tolist() == [[i, i / 2] for i in range(8)] and dataset.train.x.dtype == torch.float32
    regression = fl.read.hugging_face(make(TABLE), 0.0, x=["age"], y="size")
    assert regression.num_classes is None and regression.train.y.dtype == torch.float32


@KINDS
def test_a_list_is_one_client_for_each(make) -> None:
    first, second = ({name: column[part] for name, column in TABLE.items()} for part in (slice(3), slice(3, 8)))
    fed = fl.read.hugging_face([make(first), make(second)], make(TABLE), x="x", y="label")
    assert fed.sizes.tolist() == [3, 5] and fed.names == ("0", "1") and len(fed.test) == 8
    assert fed.client(1)[0].tolist() == TABLE["x"][3:]
    with pytest.raises(ValueError, match="these data are dealt out already, into 2 partitions"):
        fl.read.hugging_face([make(first), make(second)], x="x", y="label", user="who")


@KINDS
def test_a_dictionary_brings_its_test(make) -> None:
    dataset = fl.read.hugging_face({"train": make(TABLE), "test": make(TABLE)}, x="x", y="label")
    assert (len(dataset.train), len(dataset.test)) == (8, 8)
    alone = fl.read.hugging_face({"train": make(TABLE)}, x="x", y="label")
    assert (len(alone.train), len(alone.test)) == (6, 2)
    with pytest.raises(ValueError, match="split='train'"):
        fl.read.hugging_face({"validation": make(TABLE)}, x="x", y="label")


@KINDS
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "z"}, "x='z': must be one of"),
        ({"y": "labels"}, "y='labels'.*Did you mean 'label'"),
        ({"user": "whom"}, "user='whom'.*Did you mean 'who'"),
        ({"x": "text"}, "holds texts|must be a tensor or an array of numbers, got str"),
        ({"x": ["age", "text"]}, "x='text': holds"),
        ({"test": 1.0}, "test=1.0"),
        ({"min_samples": 9, "user": "who"}, "the largest of them has 6"),
        ({"size": (1, 2, 3)}, "size="),
    ],
)
def test_what_no_run_could_use_is_refused(make, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.hugging_face(make(TABLE), **({"x": "x", "y": "label"} | options))


@KINDS
def test_missing_and_ragged_values_are_refused(make) -> None:
    table = TABLE | {"x": [[1.0, 2.0]] * 7 + [[1.0]], "age": [None, *range(7)], "label": [None, *"abababa"]}
    with pytest.raises(ValueError, match=r"x 'x'\[7\]: is float32 \[1\], but the first sample is float32 \[2\]"):
        fl.read.hugging_face(make(table), x="x", y="who")
    with pytest.raises(ValueError, match=r"x='age': (1 of 8 values are missing|holds object)"):
        fl.read.hugging_face(make(table), x=["age", "size"], y="who")
    with pytest.raises(ValueError, match="y 'label': 1 of 8 values are missing"):
        fl.read.hugging_face(make(table), x=["size"], y="label")


def test_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be a datasets.Dataset with columns, got ndarray"):
        fl.read.hugging_face(np.zeros(3), x="x", y="y")
    with pytest.raises(ValueError, match=r"train=\[\]"):
        fl.read.hugging_face([], x="x", y="y")
    with pytest.raises(ValueError, match=r"partition 1: x is .* that of partition 0"):
        parts = [Columns({"x": [[1.0]], "y": [0]}), Columns({"x": [[1.0, 2.0]], "y": [0]})]
        fl.read.hugging_face(parts, x="x", y="y")


def test_class_labels_and_images_of_datasets() -> None:
    datasets, image = pytest.importorskip("datasets"), pytest.importorskip("PIL.Image")
    arrays = np.random.default_rng(0).integers(0, 256, (4, 5, 7), dtype=np.uint8)
    features = {"image": datasets.Image(), "label": datasets.ClassLabel(names=["owl", "bat", "eel"])}
    data = datasets.Dataset.from_dict(
        {"image": [image.fromarray(array) for array in arrays], "label": [0, 1, 1, 0]},
        features=datasets.Features(features),
    )
    dataset = fl.read.hugging_face(data, 0.0, x="image", y="label")
    assert dataset.classes == ("owl", "bat", "eel") and dataset.train.y.tolist() == [0, 1, 1, 0]
    torch.testing.assert_close(dataset.train.x, torch.from_numpy(arrays)[:, None] / 255, rtol=0, atol=1e-7)
    resized = fl.read.hugging_face(data, 0.0, x="image", y="label", size=(3, 4), channels=3)
    assert resized.train.x.shape == (4, 3, 3, 4)


@pytest.mark.parametrize("natural", [False, True])
def test_partitions_of_flower(natural: bool) -> None:
    partitioners = pytest.importorskip("flwr_datasets.partitioner")
    partitioner = partitioners.NaturalIdPartitioner("who") if natural else partitioners.IidPartitioner(3)
    partitioner.dataset = real(TABLE)
    fed = fl.read.hugging_face(partitioner, real(TABLE), x="x", y="label")
    assert fed.num_clients == (2 if natural else 3) and int(fed.sizes.sum()) == 8
    assert fed.names == (("u", "v") if natural else ("0", "1", "2"))
    for k in range(fed.num_clients):
        number = list(partitioner.partition_id_to_natural_id.values()).index(fed.names[k]) if natural else k
        assert fed.client(k)[0].tolist() == [list(row) for row in partitioner.load_partition(number)["x"]]


def test_a_federated_data_set_of_flower(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its data would come from the hub; here they are in memory."""
    flower = pytest.importorskip("flwr_datasets")
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": real(TABLE), "test": real({k: v[:3] for k, v in TABLE.items()})})
    monkeypatch.setattr("flwr_datasets.federated_dataset.datasets.load_dataset", lambda *args, **options: splits)
    federated = flower.FederatedDataset(dataset="anything", partitioners={"train": 4}, shuffle=False)
    fed = fl.read.hugging_face(federated, x="x", y="label")
    assert fed.num_clients == 4 and int(fed.sizes.sum()) == 8 and len(fed.test) == 3
    for k in range(4):
        assert fed.client(k)[0].tolist() == [list(row) for row in federated.load_partition(k)["x"]]
