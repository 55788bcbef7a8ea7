"""The command line: what it writes, what it says, its exit status."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core.cli import main
from fedlab_core.reproduce import recipes

QUICK = ["run", "--rounds", "2", "--num-clients", "20", "--local-epochs", "1", "--model", "softmax_regression"]


def run(tmp_path: Path, *arguments: str) -> fl.History:
    out = tmp_path / "h.npz"
    assert main([*QUICK, *arguments, "--out", str(out)]) == 0
    return fl.History.load(out)


@pytest.mark.parametrize("arguments", [[], ["run"], ["data"], ["data", "list"]])
def test_help_everywhere(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--help"])
    assert stop.value.code == 0
    assert "usage: fedlab-core" in capsys.readouterr().out


def test_run_writes_a_history_and_its_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history = run(tmp_path, "--algorithm", "fedprox", "--set", "mu=0.5", "--seed", "3", "--clients-per-round", "4")
    assert history.config["algorithm"] == {"name": "FedProx", "mu": 0.5}
    assert history.config["partition"]["law"] == "dirichlet"
    assert history.config["seed"] == 3
    assert history.config["clients_per_round"] == 4
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "h.csv"), history.frame)
    assert f"test accuracy {history.frame.test_accuracy.iloc[-1]:.4f}" in capsys.readouterr().out


def test_run_is_what_the_library_does(tmp_path: Path) -> None:
    from_command = run(
        tmp_path, "--partition", "iid", "--clients-per-round", "0.5", "--batch-size", "none", "--lr", "0.1"
    )
    digits = fl.load_dataset("digits")
    fed = fl.FederatedDataset(digits, fl.partition.iid(digits.train.y, num_clients=20, seed=0))
    model = fl.models.softmax_regression(fed, seed=0)
    work = {"rounds": 2, "clients_per_round": 10, "local_epochs": 1, "batch_size": None, "lr": 0.1}
    expected = fl.simulate(fed, model, fl.FedAvg(), **work, progress=False)
    np.testing.assert_array_equal(from_command.params, expected.params)


def test_laws_schedules_and_steps(tmp_path: Path) -> None:
    laws = ["--partition", "labels_per_client", "--labels-per-client", "2"]
    work = ["--local-steps", "3", "--lr-schedule", "inverse-time", "--lr", "0.1"]
    arguments = [argument for argument in QUICK if argument not in ("--local-epochs", "1")]
    assert main([*arguments, *laws, *work, "--out", str(tmp_path / "h.npz")]) == 0
    history = fl.History.load(tmp_path / "h.npz")
    assert history.config["local_steps"] == 3
    assert history.frame.lr.tolist() == [0.1, 0.05]
    assert history.config["partition"]["labels_per_client"] == 2


REFUSED = [
    (["--algorithm", "fedprx"], ["fedprx", "Did you mean 'fedprox'?"]),
    (["--algorithm", "fedprox"], ["algorithm fedprox needs a value of mu"]),
    (["--algorithm", "fedprox", "--set", "nu=1"], ["nu=1: algorithm fedprox has no nu", "Did you mean 'mu'?"]),
    (["--algorithm", "fedprox", "--set", "mu=big"], ["mu=big: must be a number"]),
    (["--algorithm", "fedprox", "--set", "mu=-1"], ["mu=-1"]),
    (["--algorithm", "scaffold", "--set", "option=1.5"], ["option=1.5: must be one of 1, 2"]),
    (["--algorithm", "fedavg", "--set", "mu=1"], ["mu=1: algorithm fedavg has no mu; it takes no parameters"]),
    (["--partition", "irichlet"], ["Did you mean 'dirichlet'?"]),
    (["--partition", "shards"], ["partition shards needs a value of shards_per_client"]),
    (["--partition", "iid", "--alpha", "1"], ["alpha=1.0: partition iid has no alpha"]),
    (["--partition", "by_user"], ["num_clients=20: partition by_user has no num_clients; it takes min_samples"]),
    (["--model", "mpl"], ["Did you mean 'mlp'?"]),
    (["--clients-per-round", "21"], ["clients_per_round=21", "1 to 20"]),
    (["--clients-per-round", "many"], ["clients_per_round=many", "must be an integer or a number"]),
    (["--lr", "0"], ["lr=0"]),
    (["--seed", "-1"], ["seed=-1"]),
    (["--local-steps", "3"], ["not allowed with argument"]),
    (["--dataset", "digit"], ["Did you mean 'digits'?"]),
    (["--set", "mu"], ["NAME=VALUE"]),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_bad_arguments_are_one_clear_paragraph(tmp_path: Path, capsys, arguments: list[str], said: list[str]) -> None:
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


def test_a_data_set_that_is_not_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("FEDLAB_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main([*QUICK, "--dataset", "fashion-mnist", "--out", str(tmp_path / "h.npz")]) == 1
    assert "fetch fashion-mnist" in " ".join(capsys.readouterr().err.split())


def test_a_run_that_diverges_fails_and_keeps_the_rounds_before(tmp_path: Path, capsys) -> None:
    out = tmp_path / "h.npz"
    status = main(
        ["run", "--rounds", "50", "--algorithm", "fedprox", "--set", "mu=100", "--lr", "1", "--out", str(out)]
    )
    assert status == 1
    assert "diverged in round" in " ".join(capsys.readouterr().err.split())
    assert out.exists()


def test_traceback_shows_where_an_error_came_from(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="model"):
        main(["--traceback", *QUICK, "--model", "none", "--out", str(tmp_path / "h.npz")])


def test_the_exit_status_of_the_program(tmp_path: Path) -> None:
    def status(*arguments: str) -> int:
        return subprocess.run([sys.executable, "-m", "fedlab_core", *arguments], capture_output=True).returncode

    assert status("data", "list") == 0
    assert status("run", "--model", "none", "--out", str(tmp_path / "h.npz")) == 2
    assert status() == 2


def test_algorithms_get_typed_parameters() -> None:
    assert recipes.algorithm("FedNova", {}) == fl.FedNova(mu=0.0)
    scaffold = recipes.algorithm("scaffold", {"server_lr": "0.5", "option": "1", "control_update": "cohort"})
    assert recipes.algorithm("fedper", {"local": '["3", "1.bias"]'}) == fl.algorithms.FedPer(("3", "1.bias"))
    assert recipes.algorithm("ifca", {"num_models": "2"}) == fl.algorithms.IFCA(2)
    assert scaffold == fl.Scaffold(server_lr=0.5, option=1, control_update="cohort")


def test_an_algorithm_around_another_has_no_name() -> None:
    @dataclass(frozen=True)
    class Around(fl.Algorithm):
        inner: fl.Algorithm

    @dataclass(frozen=True)
    class Plain(fl.Algorithm):
        factor: float = 1.0

    assert recipes.algorithm("plain", {"factor": 2}) == Plain(2.0)
    with pytest.raises(ValueError, match="algorithm='around': must be one of"):
        recipes.algorithm("around", {})


def test_a_checkpoint_is_not_overwritten_by_the_history(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "h.npz")
    assert main([*QUICK, "--checkpoint", path, "--out", path]) == 2
    assert "is the checkpoint too" in " ".join(capsys.readouterr().err.split()) and not Path(path).exists()


@pytest.mark.needs_data("sentiment140")
def test_an_account_of_sentiment140_is_a_client(tmp_path: Path) -> None:
    deal = ["--dataset", "sentiment140", "--partition", "by_user", "--min-samples", "10", "--model", "lstm"]
    work = ["--rounds", "1", "--clients-per-round", "2", "--local-steps", "1", "--out", str(tmp_path / "h.npz")]
    assert main(["run", *deal, *work]) == 0
    config = fl.History.load(tmp_path / "h.npz").config
    users = fl.load_dataset("sentiment140").users
    assert config["partition"]["num_clients"] == sum(len(user) >= 10 for user in users)
    assert config["model"]["name"] == "lstm" and config["dataset"] == "sentiment140"
