"""Grids: what a TOML file means, what is refused, and when two runs are the same."""

from pathlib import Path

import pytest

import fedlab_core as fl
from fedlab_core.history import differences
from fedlab_core.sweep import plan

SMALL = """
seed = [0, 3]
model = "softmax_regression"
algorithm = ["fedavg", {name = "fedprox", mu = [0.1, 1]}]

[partition]
law = ["dirichlet", "iid"]
num_clients = 20

[settings]
rounds = 2
clients_per_round = 4
local_epochs = 1
lr = [0.05, {schedule = "InverseTime", lr0 = 0.1}]
"""


def written(folder: Path, text: str, name: str = "grid.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def expanded(folder: Path, text: str) -> list[plan.Run]:
    return plan.read(written(folder, text)).runs


def test_lists_are_axes_and_everything_is_crossed(tmp_path: Path) -> None:
    found = expanded(tmp_path, SMALL)
    # laws, rates, algorithms, seeds
    assert len(found) == len({run.digest for run in found}) == 2 * 2 * 3 * 2
    points = [
        (run.axes["partition"], str(run.axes["lr"]), run.axes["algorithm"], run.config["seed"])
        for run in found
    ]
    assert points[:2] == [("dirichlet", "0.05", "fedavg", 0), ("dirichlet", "0.05", "fedavg", 3)]
    assert {run.axes.get("algorithm.mu") for run in found} == {None, 0.1, 1}


def test_a_plan_of_the_wanted_points_has_their_runs_and_no_others(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    found = plan.read(
        path, only=lambda axes: axes["partition"] == "iid" and axes.get("algorithm.mu") == 1
    ).runs
    wanted = [
        run
        for run in plan.read(path).runs
        if (run.axes["partition"], run.axes.get("algorithm.mu")) == ("iid", 1)
    ]
    assert [run.digest for run in found] == [run.digest for run in wanted]
    assert len(found) == 2 * 2  # rates, seeds


def test_a_configuration_is_that_of_the_run_itself(tmp_path: Path) -> None:
    digits = fl.load_dataset("digits")
    for run in expanded(tmp_path, SMALL)[::5]:
        law = {
            "dirichlet": lambda **o: fl.partition.dirichlet(**o, alpha=0.3),
            "iid": fl.partition.iid,
        }
        parts = law[run.axes["partition"]](
            y=digits.train.y, num_clients=20, seed=run.config["seed"]
        )
        fed = fl.FederatedDataset(digits, parts)
        algorithm = {"fedavg": fl.FedAvg, "fedprox": fl.FedProx}[run.axes["algorithm"]]
        mu = [run.axes["algorithm.mu"]] if "algorithm.mu" in run.axes else []
        lr = run.axes["lr"] if isinstance(run.axes["lr"], float) else fl.InverseTime(0.1)
        work = {"rounds": 2, "clients_per_round": 4, "local_epochs": 1, "batch_size": 10, "lr": lr}
        model = fl.models.softmax_regression(fed, seed=run.config["seed"])
        direct = fl.Simulation(
            fed, model, algorithm(*mu), **work, seed=run.config["seed"]
        ).history.config
        direct["model"].pop("initial")
        assert (
            differences(run.config, {k: v for k, v in direct.items() if k != "fingerprint"}) == []
        )


def test_two_sweeps_share_what_they_have_in_common(tmp_path: Path) -> None:
    first = expanded(tmp_path, SMALL)
    other = SMALL.replace("[0, 3]", "[3, 4]").replace(
        "rounds = 2", 'rounds = 2\nbatch_size = 10\nloss = "cross_entropy"'
    )
    other = other.replace("clients_per_round = 4", "clients_per_round = 0.2").replace(
        "[0.1, 1]", "1.0"
    )
    second = expanded(tmp_path, other)
    assert {run.digest for run in first} & {run.digest for run in second} == {
        run.digest
        for run in first
        if run.config["seed"] == 3 and run.axes.get("algorithm.mu") != 0.1
    }


def test_a_list_that_is_a_value_is_a_list_in_an_axis(tmp_path: Path) -> None:
    text = (
        'model = {name = "mlp", hidden = [[8], [8, 4]]}\npartition = {law = "quantity", alpha = 2}'
    )
    found = expanded(tmp_path, text)
    assert [run.config["model"]["arguments"]["hidden"] for run in found] == [[8], [8, 4]]
    assert {run.config["partition"]["alpha"] for run in found} == {2.0}


REFUSED = [
    ("seeds = [1]", ["key='seeds'", "Did you mean 'seed'?"]),
    ("seed = []", ["seed=[]: an axis needs at least one value"]),
    ('dataset = {name = "digits", size = 3}', ["size=3: dataset digits has no size"]),
    ("algorithm = {mu = 1}", ["must be a name, or a table"]),
    (
        'partition = "by_user"',
        ["partition by_user, algorithm fedavg: users: this data set has no natural clients"],
    ),
    ("[settings]\nround = 3", ["setting='round'", "Did you mean 'rounds'?"]),
    ('[settings]\ncheckpoint = "x"', ["setting='checkpoint'"]),
    (
        '[settings]\nlr = {schedule = "Inverse", lr0 = 1}',
        ["lr.schedule='Inverse'", "Did you mean 'InverseTime'?"],
    ),
    ("[settings]\nclients_per_round = [5, 101]", ["clients_per_round 101", "1 to 100"]),
    ("target_accuracy = 90", ["target_accuracy=90"]),
    ('algorithm = ["fedavg", "FedAvg"]', ["two runs are the same"]),
    ("[settings]\nclients_per_round = [0.2, 20]", ["two runs are the same"]),
    ("rounds 3", ["grid.toml"]),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_what_cannot_run_is_refused_before_any_work(
    tmp_path: Path, text: str, said: list[str]
) -> None:
    with pytest.raises(ValueError) as error:
        expanded(tmp_path, text)
    for words in said:
        assert words in str(error.value)
