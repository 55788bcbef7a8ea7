"""Frames and CSV files: what becomes of columns, labels, users and rows, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl

ROWS = 60


def table(rows: int = ROWS) -> pd.DataFrame:
    """Two features, one of them whole numbers; three users of 10, 20 and 30 rows of 60; a label that is a text."""
    rng = np.random.default_rng(0)
    users = np.repeat(["zoe", "ada", "kim"], [rows // 6, rows // 3, rows // 2])
    label = np.array(["cat", "dog", "ant"])[np.arange(rows) % 3]
    columns = {"age": np.arange(rows), "weight": rng.normal(size=rows), "user": users, "label": label}
    return pd.DataFrame(columns).sample(frac=1, random_state=1)


def test_a_frame_with_users_is_a_federation() -> None:
    frame = table()
    fed = fl.read.frame(frame, target="label", user="user", test=0.0)
    assert isinstance(fed, fl.FederatedDataset)
    assert fed.names == ("ada", "kim", "zoe") and fed.sizes.tolist() == [20, 30, 10]
    assert fed.dataset.classes == ("ant", "cat", "dog") and fed.num_classes == 3
    assert fed.x.dtype == torch.float32 and fed.y.dtype == torch.int64 and len(fed.test) == 0
    for k, name in enumerate(fed.names):
        own = frame[frame.user == name]
        x, y = fed.client(k)
        assert np.array_equal(x.numpy(), own[["age", "weight"]].to_numpy(np.float32))
        assert [fed.dataset.classes[label] for label in y] == own.label.tolist()
    assert [part.tolist() for part in fed.dataset.users] == [part.tolist() for part in fed.parts]


def test_a_frame_without_users_is_a_data_set_to_deal_out() -> None:
    dataset = fl.read.frame(table(), target="label", features=["weight", "age"], test=0.25, name="animals")
    assert isinstance(dataset, fl.Dataset) and dataset.users is None and dataset.name == "animals"
    assert (len(dataset.train), len(dataset.test)) == (45, 15)
    fed = fl.FederatedDataset(dataset, fl.partition.iid(dataset.train.y, num_clients=5, seed=0))
    assert fed.names == () and fed.num_clients == 5


def test_it_trains() -> None:
    fed = fl.read.frame(table(), target="label", user="user", standardize=True)
    history = fl.simulate(
        fed, fl.models.mlp(fed, (8,)), fl.FedAvg(), rounds=2, clients_per_round=2, local_epochs=1, batch_size=5, lr=0.1,
        progress=False,
    )  # fmt: skip
    assert len(history.frame) == 2
    with pytest.raises(ValueError, match=r"cannot be made again; pass fed="):
        fl.rerun(history.config)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_share_of_each_user_is_held_out(seed: int) -> None:
    frame = table()
    fed = fl.read.frame(frame, target="label", user="user", test=0.3, seed=seed)
    assert fed.sizes.tolist() == [14, 21, 7] and len(fed.test) == 18
    ages = torch.cat([fed.x[:, 0], fed.test.x[:, 0]]).sort().values
    assert ages.tolist() == list(range(ROWS))  # every row once, in training or in test
    again = fl.read.frame(frame, target="label", user="user", test=0.3, seed=seed)
    assert again.fingerprint == fed.fingerprint
    assert fl.read.frame(frame, target="label", user="user", test=0.3, seed=seed + 2).fingerprint != fed.fingerprint


def test_the_share_of_all_is_held_out() -> None:
    fed = fl.read.frame(table(), target="label", user="user", test=0.3, split_by="all")
    assert int(fed.sizes.sum()) == 42 and len(fed.test) == 18
    assert fed.sizes.tolist() != [14, 21, 7]


def test_a_user_keeps_at_least_one_sample() -> None:
    frame = pd.DataFrame({"x": range(5), "y": [0, 1, 0, 1, 0], "who": [1, 1, 1, 1, 2]})
    fed = fl.read.frame(frame, target="y", user="who", test=0.9)
    assert fed.sizes.tolist() == [1, 1] and len(fed.test) == 3


def test_users_with_few_rows_are_left_out_of_training_and_test() -> None:
    fed = fl.read.frame(table(), target="label", user="user", test=0.5, min_samples=20)
    assert fed.names == ("ada", "kim") and int(fed.sizes.sum()) + len(fed.test) == 50
    with pytest.raises(ValueError, match="min_samples=31: no user has so many; the largest of them has 30"):
        fl.read.frame(table(), target="label", user="user", min_samples=31)
    with pytest.raises(ValueError, match="min_samples=2: needs users"):
        fl.read.frame(table(), target="label", min_samples=2, features=["age"])


@pytest.mark.parametrize(
    ("users", "names"),
    [([10, 9, 100, 9], ("9", "10", "100")), (["10", "9", "100", "9"], ("9", "10", "100")),
     (["b", "B", "a", "a"], ("B", "a", "b")), (pd.to_datetime(["2020-02-01", "2019-01-01"] * 2), None)],
)  # fmt: skip
def test_users_come_in_a_fixed_order(users, names) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0, 1, 0, 1], "who": users})
    fed = fl.read.frame(frame, target="y", user="who", test=0.0)
    assert fed.names == (names or ("2019-01-01 00:00:00", "2020-02-01 00:00:00"))
    back = fl.read.frame(frame[::-1], target="y", user="who", test=0.0)
    assert back.names == fed.names and back.sizes.tolist() == fed.sizes.tolist()


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        ([3, 7, 3, -1], ("-1", "3", "7"), [1, 2, 1, 0]),
        (["b", "a", "c", "a"], ("a", "b", "c"), [1, 0, 2, 0]),
        ([True, False, True, True], ("False", "True"), [1, 0, 1, 1]),
        (pd.Categorical(["lo", "hi", "lo", "hi"], ["lo", "mid", "hi"]), ("lo", "mid", "hi"), [0, 2, 0, 2]),
        (pd.array([1, 2, 1, 2], dtype="Int64"), ("1", "2"), [0, 1, 0, 1]),
        (pd.array(["u", "v", "u", "v"], dtype="string"), ("u", "v"), [0, 1, 0, 1]),
        (["10", "9", "10", "9"], ("9", "10"), [1, 0, 1, 0]),
    ],
)
def test_labels_become_classes(labels, classes: tuple[str, ...], numbers: list[int]) -> None:
    dataset = fl.read.frame(pd.DataFrame({"x": range(4), "y": labels}), target="y", test=0.0)
    assert dataset.classes == classes and dataset.num_classes == len(classes)
    assert dataset.train.y.tolist() == numbers


def test_classes_are_what_is_given_and_the_same_in_test() -> None:
    frame, test = (pd.DataFrame({"x": range(len(y)), "y": list(y)}) for y in ("baba", "cab"))
    dataset = fl.read.frame(frame, target="y", test=test, classes=["c", "b", "a"])
    assert dataset.classes == ("c", "b", "a")
    assert (dataset.train.y.tolist(), dataset.test.y.tolist()) == ([1, 2, 1, 2], [0, 2, 1])
    with pytest.raises(
        ValueError, match=r"target 'y' of the test data: 1 of 3 labels are not among the 2 classes.*'c'"
    ):
        fl.read.frame(frame, target="y", test=test)
    with pytest.raises(ValueError, match=r"must be a list of different labels"):
        fl.read.frame(frame, target="y", classes=["a", "a"])


def test_floats_are_a_regression_and_whole_numbers_classes() -> None:
    frame = pd.DataFrame({"x": range(4), "y": [0.5, 1.5, 2, 3], "n": [5, 6, 5, 6], "f": [1.0, 2.0, 1.0, 2.0]})
    dataset = fl.read.frame(frame, target="y", features=["x"], test=0.0)
    assert dataset.num_classes is None and dataset.classes == ()
    assert dataset.train.y.dtype == torch.float32 and dataset.train.y.tolist() == [0.5, 1.5, 2, 3]
    assert fl.read.frame(frame, target="n", features=["x"], test=0.0).num_classes == 2
    both = fl.read.frame(frame, target=["y", "n"], task="regression", features=["x"], test=0.0)
    assert both.train.y.tolist() == [[0.5, 5], [1.5, 6], [2, 5], [3, 6]]
    assert fl.read.frame(frame, target="n", task="regression", features=["x"], test=0.0).num_classes is None
    assert fl.read.frame(frame, target="f", task="classification", features=["x"], test=0.0).classes == ("1", "2")
    with pytest.raises(ValueError, match=r"target 'y': 0.5 is no class; task='regression'"):
        fl.read.frame(frame, target="y", task="classification", features=["x"])
    with pytest.raises(ValueError, match="one label per sample"):
        fl.read.frame(frame, target=["n", "f"], task="classification", features=["x"])


def test_nothing_is_scaled_unless_asked_and_then_by_the_training_rows() -> None:
    frame = pd.DataFrame({"a": [1.0, 3, 5, 7], "same": [0.1] * 4, "y": [0, 1, 0, 1]})
    test = pd.DataFrame({"a": [4.0, 6], "same": [0.1, 0.3], "y": [0, 1]})
    plain = fl.read.frame(frame, target="y", test=test)
    assert plain.train.x[:, 0].tolist() == [1, 3, 5, 7]
    scaled = fl.read.frame(frame, target="y", test=test, standardize=True)
    deviation = 5**0.5  # of 1, 3, 5, 7 about 4: √((9 + 1 + 1 + 9) / 4)
    assert scaled.train.x[:, 0].tolist() == pytest.approx(
        [-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation]
    )
    assert scaled.test.x[:, 0].tolist() == pytest.approx([0, 2 / deviation])
    assert scaled.train.x[:, 1].tolist() == pytest.approx([0] * 4, abs=1e-6)
    assert scaled.test.x[:, 1].tolist() == pytest.approx([0, 0.2])


def test_features_take_a_shape() -> None:
    frame = pd.DataFrame(np.arange(24).reshape(4, 6), columns=list("abcdef")).assign(y=[0, 1, 0, 1])
    dataset = fl.read.frame(frame, target="y", shape=(1, 2, 3), test=0.0)
    assert dataset.train.x.shape == (4, 1, 2, 3) and dataset.train.x[1, 0, 1].tolist() == [9, 10, 11]
    with pytest.raises(ValueError, match=r"shape=\(4, 4\): needs 16 features, but there are 6"):
        fl.read.frame(frame, target="y", shape=(4, 4))


def broken(**columns) -> pd.DataFrame:
    return table().reset_index(drop=True).assign(**columns)


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (broken(city="x"), {}, r"column 'city' holds (str|object).*1 different values in 60 rows.*get_dummies"),
        (broken(c=pd.Categorical(["x"] * 60)), {}, r"column 'c' holds category"),
        (broken(day=pd.Timestamp("2020-01-01")), {}, r"column 'day' holds datetime64"),
        (broken(age=[np.nan] * 7 + [1.0] * 53), {}, r"of 60 rows column 'age' lacks 7\. Drop them"),
        (broken(age=pd.array([None] * 7 + [1] * 53, dtype="Int64")), {}, r"column 'age' lacks 7"),
        (broken(age=[np.inf] * 2 + [1.0] * 58), {}, r"column 'age' has 2 of 60 values that no float32"),
        (broken(age=[1e300] + [1.0] * 59), {}, r"column 'age' has 1 of 60 values that no float32"),
        (broken(label=[None] * 3 + ["a"] * 57), {}, r"target 'label': 3 of 60 values are missing"),
        (broken(user=[None] * 4 + ["a"] * 56), {}, r"column 'user': 4 of 60 values are missing"),
        (broken(), {"target": "labels"}, r"target='labels'.*Did you mean 'label'"),
        (broken(), {"user": "users"}, r"user='users'.*Did you mean 'user'"),
        (broken(), {"features": ["agee"]}, r"features='agee'.*Did you mean 'age'"),
        (broken(), {"features": ["age", "label"]}, r"features: 'label' is the target"),
        (broken(), {"features": []}, r"features: there is none"),
        (broken(), {"test": 1.0}, r"test=1.0: must be a finite number ≥ 0 and < 1"),
        (broken(), {"test": "0.2"}, r"test='0.2': must be a share of the samples or a DataFrame"),
        (broken(), {"test": table().drop(columns="age")}, r"column of test='age'"),
        (broken(), {"split_by": "users"}, r"split_by='users'"),
        (broken(), {"min_samples": 0}, r"min_samples=0"),
        (broken(), {"task": "classify"}, r"task='classify'.*Did you mean 'classification'"),
        (broken(), {"seed": -1}, r"seed=-1"),
        (broken().iloc[:0], {}, r"frame: holds no rows"),
        (pd.concat([broken(), broken()[["age"]]], axis=1), {}, r"two columns 'age'"),
        ({"age": [1]}, {}, r"must be a pandas.DataFrame, got dict"),
    ],
)  # fmt: skip
def test_what_no_run_could_use_is_refused(frame, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.frame(frame, **({"target": "label", "user": "user"} | options))


def test_a_csv_file_is_the_frame(tmp_path: Path) -> None:
    frame = table()
    frame.to_csv(tmp_path / "animals.csv", index=False)
    frame.to_csv(tmp_path / "packed.csv.gz", index=False, sep=";")
    fed = fl.read.csv(tmp_path / "animals.csv", target="label", user="user", test=0.3, seed=4)
    assert fed.dataset.name == "animals"
    assert fed.fingerprint == fl.read.frame(frame, target="label", user="user", test=0.3, seed=4).fingerprint
    packed = fl.read.csv(tmp_path / "packed.csv.gz", target="label", user="user", test=0.3, seed=4, separator=";")
    assert packed.fingerprint == fed.fingerprint and packed.dataset.name == "packed"


def test_users_and_labels_of_a_csv_file_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("who,x,y\n007,1,NA\n7,2,None\n7,3,NA\n012,4,None\n")
    fed = fl.read.csv(path, target="y", user="who", test=0.0)
    assert fed.names == ("007", "7", "012") and fed.sizes.tolist() == [1, 2, 1]
    assert fed.dataset.classes == ("NA", "None")
    path.write_text("who,x,y\n1,1,a\n2,NA,b\n1,?,b\n")
    with pytest.raises(ValueError, match=r"table\.csv: frame: of 3 rows column 'x' lacks 2"):
        fl.read.csv(path, target="y", user="who")
    path.write_text("who,x,y\n1,1,a\n2,1,\n")
    with pytest.raises(ValueError, match=r"target 'y': 1 of 2 values are missing"):
        fl.read.csv(path, target="y", user="who")


def test_a_test_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("who,x,y\n1,1,a\n2,2,b\n1,3,b\n")
    (tmp_path / "test.csv").write_text("y,x\nb,5\na,6\n")
    fed = fl.read.csv(tmp_path / "train.csv", target="y", user="who", test=tmp_path / "test.csv")
    assert fed.test.x.tolist() == [[5], [6]] and fed.test.y.tolist() == [1, 0] and len(fed.x) == 3


def test_what_is_no_table_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fl.read.csv(tmp_path / "none.csv", target="y")
    path = tmp_path / "table.csv"
    for text in ("", "a,b\n1,2,3,4\n1,2\n1,2,3,4,5\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"table\.csv: cannot be read as a table"):
            fl.read.csv(path, target="a")
    path.write_text("x,y\n1,a\n")
    with pytest.raises(ValueError, match=r"table\.csv: target='z': must be one of 'x', 'y'"):
        fl.read.csv(path, target="z")
