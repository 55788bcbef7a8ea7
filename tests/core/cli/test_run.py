"""The command line: what it writes, what it says, its exit status."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core.cli import main
from fedlab_core.reproduce import recipes

QUICK = [
    "run",
    "--rounds",
    "2",
    "--num-clients",
    "20",
    "--local-epochs",
    "1",
    "--model",
    "softmax_regression",
]


def run(tmp_path: Path, *arguments: str) -> fl.History:
    out = tmp_path / "h.npz"
    assert main([*QUICK, *arguments, "--out", str(out)]) == 0
    return fl.History.load(out)


@pytest.mark.parametrize("arguments", [[], ["run"], ["data", "list"]])
def test_help_everywhere(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--help"])
    assert stop.value.code == 0
    assert "usage: fedlab-core" in capsys.readouterr().out


def test_run_writes_a_history_and_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laws = ["--partition", "labels_per_client", "--labels-per-client", "2"]
    work = [
        "--seed",
        "3",
        "--clients-per-round",
        "4",
        "--lr-schedule",
        "inverse-time",
        "--lr",
        "0.1",
    ]
    history = run(tmp_path, "--algorithm", "fedprox", "--set", "mu=0.5", *laws, *work)
    assert history.config["algorithm"] == {"name": "FedProx", "mu": 0.5}
    assert history.config["partition"]["labels_per_client"] == 2 and history.frame.lr.tolist() == [
        0.1,
        0.05,
    ]
    assert history.config["seed"] == 3
    assert history.config["clients_per_round"] == 4
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "h.csv"), history.frame)
    assert f"test accuracy {history.frame.test_accuracy.iloc[-1]:.4f}" in capsys.readouterr().out


def test_run_is_what_the_library_does(tmp_path: Path) -> None:
    from_command = run(
        tmp_path,
        "--partition",
        "iid",
        "--clients-per-round",
        "0.5",
        "--batch-size",
        "none",
        "--lr",
        "0.1",
    )
    digits = fl.load_dataset("digits")
    fed = fl.FederatedDataset(digits, fl.partition.iid(digits.train.y, num_clients=20, seed=0))
    model = fl.models.softmax_regression(fed, seed=0)
    work = {"rounds": 2, "clients_per_round": 10, "local_epochs": 1, "batch_size": None, "lr": 0.1}
    expected = fl.simulate(fed, model, fl.FedAvg(), **work, progress=False)
    np.testing.assert_array_equal(from_command.params, expected.params)


REFUSED = [
    (["--algorithm", "fedprox"], ["algorithm fedprox needs a value of mu"]),
    (
        ["--algorithm", "fedprox", "--set", "nu=1"],
        ["nu=1: algorithm fedprox has no nu", "Did you mean 'mu'?"],
    ),
    (["--algorithm", "scaffold", "--set", "option=1.5"], ["option=1.5: must be one of 1, 2"]),
    (["--partition", "shards"], ["partition shards needs a value of shards_per_client"]),
    (["--partition", "iid", "--alpha", "1"], ["alpha=1.0: partition iid has no alpha"]),
    (["--clients-per-round", "21"], ["clients_per_round=21", "1 to 20"]),
    (["--clients-per-round", "many"], ["clients_per_round=many", "must be an integer or a number"]),
    (["--local-steps", "3"], ["not allowed with argument"]),
    (["--set", "mu"], ["NAME=VALUE"]),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_bad_arguments_are_one_clear_paragraph(
    tmp_path: Path, capsys, arguments: list[str], said: list[str]
) -> None:
    try:
        status = main([*QUICK, *arguments, "--out", str(tmp_path / "h.npz")])
    except SystemExit as stop:  # argparse
        status = stop.code
    message = " ".join(capsys.readouterr().err.split())
    assert status == 2
    for words in said:
        assert words in message
    assert "Traceback" not in message
    assert not list(tmp_path.iterdir())


def test_a_run_that_diverges_fails_and_keeps_the_rounds_before(tmp_path: Path, capsys) -> None:
    out = tmp_path / "h.npz"
    status = main(
        [
            "run",
            "--rounds",
            "50",
            "--algorithm",
            "fedprox",
            "--set",
            "mu=100",
            "--lr",
            "1",
            "--out",
            str(out),
        ]
    )
    assert status == 1
    assert "diverged in round" in " ".join(capsys.readouterr().err.split())
    assert out.exists()


def test_the_exit_status_of_the_program() -> None:
    command = [sys.executable, "-m", "fedlab_core", "run", "--model", "none"]
    assert subprocess.run(command, capture_output=True).returncode == 2


def test_algorithms_get_typed_parameters() -> None:
    assert recipes.algorithm("FedNova", {}) == fl.FedNova(mu=0.0)
    scaffold = recipes.algorithm(
        "scaffold", {"server_lr": "0.5", "option": "1", "control_update": "cohort"}
    )
    assert recipes.algorithm("fedper", {"local": '["3", "1.bias"]'}) == fl.algorithms.FedPer(
        ("3", "1.bias")
    )
    assert recipes.algorithm("ifca", {"num_models": "2"}) == fl.algorithms.IFCA(2)
    assert scaffold == fl.Scaffold(server_lr=0.5, option=1, control_update="cohort")
    # it needs another algorithm
    with pytest.raises(ValueError, match="algorithm='compressed': must be one of"):
        recipes.algorithm("compressed", {"keep": 0.5})


def test_a_checkpoint_is_not_overwritten_by_the_history(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "h.npz")
    assert main([*QUICK, "--checkpoint", path, "--out", path]) == 2
    assert (
        "is the checkpoint too" in " ".join(capsys.readouterr().err.split())
        and not Path(path).exists()
    )


@pytest.mark.slow
@pytest.mark.needs_data("sentiment140")
def test_an_account_of_sentiment140_is_a_client(tmp_path: Path) -> None:
    deal = [
        "--dataset",
        "sentiment140",
        "--partition",
        "by_user",
        "--min-samples",
        "10",
        "--model",
        "lstm",
    ]
    work = [
        "--rounds",
        "1",
        "--clients-per-round",
        "2",
        "--local-steps",
        "1",
        "--out",
        str(tmp_path / "h.npz"),
    ]
    assert main(["run", *deal, *work]) == 0
    config = fl.History.load(tmp_path / "h.npz").config
    users = fl.load_dataset("sentiment140").users
    assert config["partition"]["num_clients"] == sum(len(user) >= 10 for user in users)
    assert config["model"]["name"] == "lstm" and config["dataset"] == "sentiment140"


def test_settings_that_nobody_gives_are_those_of_the_first_example() -> None:
    """Those of the five lines in the README, where 20 of 100 clients train in a round."""
    found = recipes.run_settings({})
    assert {name: found[name] for name in ("rounds", "clients_per_round", "local_epochs")} == {
        "rounds": 50,
        "clients_per_round": 0.2,
        "local_epochs": 5,
    }
    assert (found["batch_size"], found["lr"], found["seed"]) == (10, 0.05, 0)
    assert recipes.run_settings({"local_steps": "3"})["local_epochs"] is None
