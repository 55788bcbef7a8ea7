"""Frames and CSV files: what becomes of columns, labels, users and rows, and which tables are
refused.
"""

import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl


def table(**columns) -> pd.DataFrame:
    """Two features; users of 10, 20 and 30 rows; three classes."""
    rng = np.random.default_rng(0)
    users = np.repeat(["zoe", "ada", "kim"], [10, 20, 30])
    label = np.array(["cat", "dog", "ant"])[np.arange(60) % 3]
    frame = pd.DataFrame(
        {"age": np.arange(60), "weight": rng.normal(size=60), "user": users, "label": label}
    )
    return frame.sample(frac=1, random_state=1).reset_index(drop=True).assign(**columns)


def test_a_frame_with_users_is_a_federation_that_trains() -> None:
    frame = table()
    fed = fl.read.frame(frame, target="label", user="user", test=0.0)
    assert fed.names == ("ada", "kim", "zoe") and fed.sizes.tolist() == [20, 30, 10]
    assert fed.dataset.classes == ("ant", "cat", "dog") and len(fed.test) == 0
    assert fed.x.dtype == torch.float32 and fed.y.dtype == torch.int64
    for k, name in enumerate(fed.names):
        own = frame[frame.user == name]
        x, y = fed.client(k)
        assert np.array_equal(x.numpy(), own[["age", "weight"]].to_numpy(np.float32))
        assert [fed.dataset.classes[label] for label in y] == own.label.tolist()
        assert fed.dataset.users[k].tolist() == fed.parts[k].tolist()
    work = {
        "rounds": 1,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    history = fl.simulate(fed, fl.models.mlp(fed, (8,)), fl.FedAvg(), **work)
    with pytest.raises(ValueError, match="fed="):
        fl.rerun(history.config)


def test_a_fraction_of_each_user_is_held_out() -> None:
    options = {"target": "label", "user": "user", "test": 0.3}
    fed, again, other = (fl.read.frame(table(), **options, seed=seed) for seed in (0, 0, 2))
    assert fed.sizes.tolist() == [14, 21, 7] and len(fed.test) == 18
    # every row once
    assert sorted([*fed.x[:, 0].tolist(), *fed.test.x[:, 0].tolist()]) == list(range(60))
    assert again.fingerprint == fed.fingerprint != other.fingerprint
    few = pd.DataFrame({"x": range(5), "y": [0, 1, 0, 1, 0], "who": [1, 1, 1, 1, 2]})
    fed = fl.read.frame(few, target="y", user="who", test=0.9)
    assert fed.sizes.tolist() == [1, 1] and len(fed.test) == 3  # a user keeps one sample
    dataset = fl.read.frame(
        table(), target="label", features=["weight", "age"], test=0.25, name="animals"
    )
    assert (len(dataset.train), len(dataset.test), dataset.name, dataset.users) == (
        45,
        15,
        "animals",
        None,
    )


def test_small_users_are_left_out_of_training_and_test() -> None:
    fed = fl.read.frame(table(), target="label", user="user", test=0.5, min_samples=20)
    assert fed.names == ("ada", "kim") and int(fed.sizes.sum()) + len(fed.test) == 50


@pytest.mark.parametrize(
    ("users", "names"),
    [
        ([10, 9, 100, 9], "9 10 100"),
        (["10", "9", "100", "9"], "9 10 100"),
        (["b", "B", "a", "a"], "B a b"),
        (["b", 1, 10, 9], "1 10 9 b"),
        (pd.to_datetime(["2020-02-01", "2019-01-01"] * 2).date, "2019-01-01 2020-02-01"),
    ],
)
def test_users_have_a_fixed_order(users, names: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0, 1, 0, 1], "who": users})
    for rows in (frame, frame[::-1]):
        assert fl.read.frame(rows, target="y", user="who", test=0.0).names == tuple(names.split())


@pytest.mark.parametrize(
    ("labels", "classes", "numbers"),
    [
        ([3, 7, 3, -1], "-1 3 7", [1, 2, 1, 0]),
        (pd.Categorical(["lo", "hi", "lo", "hi"], ["lo", "mid", "hi"]), "lo mid hi", [0, 2, 0, 2]),
        (pd.array([1, 2, 1, 2], dtype="Int64"), "1 2", [0, 1, 0, 1]),
        (["10", "9", "10", "9"], "9 10", [1, 0, 1, 0]),
    ],
)
def test_labels_become_classes(labels, classes: str, numbers: list[int]) -> None:
    dataset = fl.read.frame(pd.DataFrame({"x": range(4), "y": labels}), target="y", test=0.0)
    assert dataset.classes == tuple(classes.split()) and dataset.train.y.tolist() == numbers


def test_given_classes_hold_for_training_and_test() -> None:
    frame, test = (pd.DataFrame({"x": range(len(y)), "y": list(y)}) for y in ("baba", "cab"))
    dataset = fl.read.frame(frame, target="y", test=test, classes=["c", "b", "a"])
    assert dataset.classes == ("c", "b", "a")
    assert (dataset.train.y.tolist(), dataset.test.y.tolist()) == ([1, 2, 1, 2], [0, 2, 1])


def test_floats_are_a_regression_and_integers_classes() -> None:
    frame = pd.DataFrame(
        {"x": range(4), "y": [0.5, 1.5, 2, 3], "n": [5, 6, 5, 6], "f": [1.0, 2.0, 1.0, 2.0]}
    )
    tasks = [("y", "auto"), ("n", "auto"), ("f", "classification"), ("n", "regression")]
    y, n, f, forced = (
        fl.read.frame(frame, target=t, task=task, features=["x"], test=0.0) for t, task in tasks
    )
    assert (y.num_classes, n.num_classes, f.classes, forced.num_classes) == (
        None,
        2,
        ("1.0", "2.0"),
        None,
    )
    assert y.train.y.dtype == torch.float32 and y.train.y.tolist() == [0.5, 1.5, 2, 3]


def test_features_are_scaled_by_the_training_rows_on_request() -> None:
    frame = pd.DataFrame({"a": [1.0, 3, 5, 7], "same": [0.1] * 4, "y": [0, 1, 0, 1]})
    test = pd.DataFrame({"a": [4.0, 6], "same": [0.1, 0.3], "y": [0, 1]})
    plain, scaled = (
        fl.read.frame(frame, target="y", test=test, standardize=value) for value in (False, True)
    )
    assert plain.train.x[:, 0].tolist() == [1, 3, 5, 7]
    deviation = 5**0.5  # of 1, 3, 5, 7 about 4: √((9 + 1 + 1 + 9) / 4)
    assert scaled.train.x[:, 0].tolist() == pytest.approx(
        [value / deviation for value in (-3, -1, 1, 3)]
    )
    assert scaled.test.x.flatten().tolist() == pytest.approx([0, 0, 2 / deviation, 0.2], abs=1e-6)
    assert scaled.train.x[:, 1].tolist() == pytest.approx([0] * 4, abs=1e-6)


TEST = pd.DataFrame({"age": [1], "weight": [1.0], "label": ["emu"]})


@pytest.mark.parametrize(
    ("frame", "options", "words"),
    [
        (table(city="x"), {}, r"column 'city' .*get_dummies"),
        (
            table(age=pd.array([None] * 7 + [1] * 53, dtype="Int64")),
            {},
            r"column 'age' has 7 of 60 values",
        ),
        (table(age=[np.nan, np.inf, 1e300] + [1.0] * 57), {}, r"column 'age' has 3 of 60 values"),
        (table(label=[None] * 3 + ["a"] * 57), {}, r"target 'label': 3 of 60 values are missing"),
        (table(user=[None] * 4 + ["a"] * 56), {}, r"column 'user': 4 of 60 values are missing"),
        (
            table(),
            {"target": "labels", "features": ["age"]},
            r"target='labels'.*Did you mean 'label'",
        ),
        (table(), {"user": "users", "features": ["age"]}, r"user='users'.*Did you mean 'user'"),
        (table(), {"features": ["age", "label"]}, r"features=.*not the target"),
        (table(), {"test": table().drop(columns="age")}, r"test: features='age'"),
        (table(), {"test": TEST}, r"test: 1 of 1 labels are not among the 3 classes.*\['emu'\]"),
        (
            table(),
            {"user": None, "min_samples": 2, "features": ["age"]},
            "min_samples=2: needs users",
        ),
        (table(), {"min_samples": 31}, "min_samples=31: the largest user has 30"),
        (table(), {"task": "classify"}, r"task='classify'.*Did you mean 'classification'"),
        (table(), {"task": "regression"}, r"could not convert string to float"),
        (table(), {"classes": ["a", "a"]}, r"classes=.*different labels"),
        (table().iloc[:0], {}, r"at least one row"),
        (pd.concat([table(), table()[["age"]]], axis=1), {}, r"two columns 'age'"),
        ({"age": [1]}, {}, r"must be a pandas.DataFrame"),
    ],
)
def test_a_useless_table_is_refused(frame, options: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.read.frame(frame, **({"target": "label", "user": "user"} | options))


def test_many_columns_take_time_in_proportion() -> None:
    frame = pd.DataFrame(np.ones((4, 20_000))).assign(y=[0, 1, 0, 1])
    start = time.process_time()
    fl.read.frame(frame, target="y")
    # about 0.1 s; a search through all columns for each one takes a minute
    assert time.process_time() - start < 10


def test_a_csv_file_gives_what_its_frame_gives(tmp_path: Path) -> None:
    frame = table()
    options = {"target": "label", "user": "user", "seed": 4}
    frame.to_csv(tmp_path / "animals.csv", index=False)
    frame.to_csv(tmp_path / "packed.csv.gz", index=False, sep=";")
    fed = fl.read.csv(tmp_path / "animals.csv", **options)
    assert (
        fed.dataset.name == "animals"
        and fed.fingerprint == fl.read.frame(frame, **options).fingerprint
    )
    packed = fl.read.csv(
        tmp_path / "packed.csv.gz", **options, separator=";", test=tmp_path / "packed.csv.gz"
    )
    assert packed.dataset.name == "packed" and (len(packed.x), len(packed.test)) == (60, 60)


def test_users_and_labels_of_a_csv_file_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("who,x,y\n007,1,NA\n8,2,None\n8,3,NA\n012,4,None\n")
    fed = fl.read.csv(path, target="y", user="who", test=0.0)
    assert fed.names == ("007", "8", "012") and fed.sizes.tolist() == [1, 2, 1]
    assert fed.dataset.classes == ("NA", "None")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "cannot be read as a table"),
        # every row is longer than the header
        ("x,w,y\n30,1000,0,7\n", {}, "is every row as long as the header"),
        ("x,w,y\n1,2,3\n1,2,3,4\n", {}, "is every row as long as the header"),
        ("x,y\n1,a\n", {"target": "z"}, "target='z': must be one of 'x', 'y'"),
        ("x,y\n1,a\nNA,b\n?,a\n", {}, "column 'x' has 2 of 3 values"),
        ("x,y\n1,a\n1,\n", {}, "target 'y': 1 of 2 values are missing"),
        ("x,y\n1,a\n", {"test": True}, "test=True"),
    ],
)
def test_a_file_that_is_not_such_a_table_is_refused(
    tmp_path: Path, text: str, options: dict, words: str
) -> None:
    (tmp_path / "table.csv").write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        fl.read.csv(tmp_path / "table.csv", **({"target": "y"} | options))
    assert "table.csv" in str(caught.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("separator", ["||", "", "é", '"', "\n", None])
def test_a_separator_that_cannot_separate_is_refused_in_our_words(
    tmp_path: Path, separator
) -> None:
    (tmp_path / "table.csv").write_text("x||y\n1||a\n2||b\n")
    with pytest.raises(
        ValueError, match=r"separator=.*: must be one ASCII character.*for example ','"
    ) as caught:
        fl.read.csv(tmp_path / "table.csv", target="y", separator=separator)
    assert "engine" not in str(caught.value) and caught.value.__cause__ is None


def test_white_space_separates_too(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("x   y\n1 a\n2    b\n")
    assert fl.read.csv(tmp_path / "table.txt", target="y", separator=r"\s+", test=0.0).classes == (
        "a",
        "b",
    )


@pytest.mark.parametrize("suffix", ["gz", "zip", "xz", "bz2"])
def test_a_damaged_archive_is_named(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"table.csv.{suffix}"
    table().to_csv(path, index=False)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(
        ValueError, match=rf"table\.csv\.{suffix}: cannot be read to its end.*download it again"
    ):
        fl.read.csv(path, target="label")
    path.write_text("age,label\n1,a\n")  # no archive at all
    with pytest.raises(ValueError, match=rf"table\.csv\.{suffix}: cannot be read to its end"):
        fl.read.csv(path, target="label")


def test_a_folder_a_missing_file_and_another_encoding_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"{tmp_path.name}: is a folder; name one CSV file"):
        fl.read.csv(tmp_path, target="y")
    with pytest.raises(
        FileNotFoundError, match=r"none\.csv: there is no such file; the current folder is "
    ):
        fl.read.csv(tmp_path / "none.csv", target="y")
    (tmp_path / "latin.csv").write_bytes("x,y\n1,für\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.csv: is not UTF-8 text.*save it as CSV in UTF-8"):
        fl.read.csv(tmp_path / "latin.csv", target="y")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (
            ["0", "1", "1.5", "0"],
            r"target 'y': 1\.5 stands among 3 whole numbers.*task='regression'",
        ),
        (
            ["0", "1", "99999999999999999999"],
            r"target 'y': '?99999999999999999999'? does not fit into a 64-bit integer",
        ),
        (
            ["0", "1", "-99999999999999999999"],
            r"target 'y': '?-99999999999999999999'? does not fit",
        ),
        # fits without a sign
        (["0", "1", "9999999999999999999"], r"target 'y': 9999999999999999999 does not fit"),
    ],
)
def test_a_label_with_a_typing_error_is_refused(
    tmp_path: Path, labels: list[str], words: str
) -> None:
    rows = "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    (tmp_path / "table.csv").write_text(f"x,y\n{rows}")
    with pytest.raises(ValueError, match=rf"table\.csv: {words}"):
        fl.read.csv(tmp_path / "table.csv", target="y", test=0.0)


def test_what_a_label_is_can_be_said() -> None:
    frame = pd.DataFrame({"x": range(4), "y": [0.0, 1.0, 1.5, 0.0], "t": ["0", "1", "1.5", "0"]})
    options = {"features": ["x"], "test": 0.0}
    assert fl.read.frame(frame, target="y", task="regression", **options).num_classes is None
    for target, classes in (("y", [0.0, 1.0, 1.5]), ("t", ["0", "1", "1.5"])):
        assert fl.read.frame(frame, target=target, classes=classes, **options).num_classes == 3
        with pytest.raises(ValueError, match=r"1\.5'? stands among whole numbers.*classes="):
            fl.read.frame(frame, target=target, task="classification", **options)
    largest = pd.DataFrame({"x": range(2), "y": [0, 2**63 - 1]})
    assert fl.read.frame(largest, target="y", test=0.0).classes == ("0", str(2**63 - 1))


@pytest.mark.parametrize(
    ("users", "words"),
    [
        (["1", "01", "1.0", "2"], r"'1', '01', '1\.0' look like one client in 3 spellings"),
        ([1, "01", 1.0, 2], r"1, '01' look like one client in 2 spellings"),
        (["ada", "ada ", "ben", "ben"], r"'ada', 'ada ' look like one client"),
    ],
)
def test_one_client_in_several_spellings_is_refused(
    tmp_path: Path, users: list, words: str
) -> None:
    frame = pd.DataFrame({"who": users, "x": range(4), "y": [0, 1, 0, 1]})
    with pytest.raises(ValueError, match=rf"column 'who': {words}.*in one way"):
        fl.read.frame(frame, target="y", user="who")
    data = torch.utils.data.TensorDataset(torch.rand(4, 2), torch.arange(4) % 2)
    with pytest.raises(ValueError, match=f"users: {words}"):
        fl.read.torch_dataset(data, users=users)
    frame.to_csv(tmp_path / "table.csv", index=False)
    with pytest.raises(ValueError, match=r"table\.csv: .*column 'who': .* look like one client"):
        fl.read.csv(tmp_path / "table.csv", target="y", user="who")


def test_a_header_with_one_name_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("\nx,y,x\n1,a,2\n3,b,4\n")
    with pytest.raises(
        ValueError, match=r"table\.csv: the header has two columns 'x'.*Rename one$"
    ):
        fl.read.csv(tmp_path / "table.csv", target="y")
