"""A row run again, and the table of verdicts to choose it from, over a small grid of their own."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch14_what_holds import rerun
from fedlab_course.evidence import configs, judging, tables
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.judging import corrected, judge

GRID = """\
seed = [0, 1]
partition = {law = "labels_per_client", labels_per_client = [1, 2]}
algorithm = ["fedavg", {name = "fedprox", mu = [0.1, 1.0]}]
settings = {rounds = 3, clients_per_round = 5, local_epochs = 2, batch_size = 10, lr = 0.1}
"""
SETTINGS = {
    "rounds": 3,
    "clients_per_round": 5,
    "local_epochs": 2,
    "batch_size": 10,
    "lr": 0.1,
    "progress": False,
}


def statement(id: str, **changes) -> Statement:
    contrast = {
        "plus": [{"algorithm": "fedprox", "mu": 1.0}],
        "minus": [{"algorithm": "fedavg", "mu": ""}],
        "where": {"labels_per_client": 2},
        "table": "t",
        "measure": "mean_accuracy",
        "margin": 0.1,
    }
    return Statement(id=id, says="It is <so>.", **contrast | changes)


@pytest.fixture
def grid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three stored runs of each side, whose differences are 0.1, 0.2 and 0.3, and a grid that can
    run two of them.
    """
    (tmp_path / "t.toml").write_text(GRID)
    stored = pd.DataFrame(
        [
            (
                "fedprox" if mu else "fedavg",
                mu,
                2,
                seed,
                0.5 + (0.1 * (seed + 1) if mu else 0.0),
                1.5,
            )
            for mu in (None, 1.0)
            for seed in (0, 1, 2)
        ],
        columns=["algorithm", "mu", "labels_per_client", "seed", "mean_accuracy", "seconds"],
    )
    stored.to_csv(tmp_path / "t.csv", index=False)
    monkeypatch.setattr(configs, "GRIDS", tmp_path)
    monkeypatch.setattr(
        tables, "read", lambda name, folder=None: pd.read_csv(tmp_path / f"{name}.csv")
    )
    plenty = {
        "x-1a": [0.5, 0.6, 0.5],
        "x-1b": [-0.5, -0.6, -0.5],
        "y-1": [0.0, 1.0, -1.0],
        "y-2": [],
    }
    found = corrected(
        {id: judge(id, v, 0.1, expect="positive", planned=3) for id, v in plenty.items()}
    )
    ground = {"source": "[0]", "claim": "c", "expected": "e", "setting": "s", "ours": "o"}
    every = {
        id: judging.JudgedStatement(
            Claim(id=id[:3], statements=[], **ground), statement(id), one, len(found)
        )
        for id, one in found.items()
    }
    monkeypatch.setattr(judging, "stored", lambda: every)


def test_a_row_run_again_is_the_contrast_of_its_runs_and_bad_rows_are_refused(grid: None) -> None:
    data = fl.load_dataset("digits")
    means = []
    for algorithm in (fl.FedProx(mu=1.0), fl.FedAvg()):
        parts = fl.partition.labels_per_client(
            data.train.y, num_clients=100, labels_per_client=2, seed=1
        )
        fed = fl.FederatedDataset(data, parts)
        history = fl.simulate(fed, fl.models.mlp(fed, seed=1), algorithm, seed=1, **SETTINGS)
        means.append(np.mean([record.test_accuracy for record in history.records]))
    assert rerun.again("x-1a", [1]) == {1: pytest.approx(means[0] - means[1], abs=1e-9)}
    with pytest.raises(ValueError, match=r"seeds=2: must be of the seeds of t, \[0, 1\]"):
        rerun.again("x-1a", [2])
    with pytest.raises(ValueError, match=r"row='x-1c': must be one of .*Did you mean"):
        rerun.again("x-1c")


@pytest.mark.parametrize(
    ("live", "sign"), [(0.39, "✓ inside"), (0.41, "✗ outside"), (0.0, "✓ inside")]
)
def test_a_live_number_is_held_against_two_standard_deviations(
    live: float,
    sign: str,
    grid: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(rerun, "again", lambda row, seeds: {1: live})
    rerun.show("x-1a", [1])  # stored: 0.1, 0.2, 0.3, with mean 0.2 and standard deviation 0.1
    line = capsys.readouterr().out
    assert line.startswith(sign)
    assert f"Seed 1: {live:+.4f} live, +0.2000 stored." in line


def test_a_row_of_an_experiment_is_run_again():
    """Example 1 of [004]: the shifts (0.05, 0.05, 0, −0.1) of minima (0, 1, 2, 7) move the limit by
    0.05 − 0.7.
    """
    assert rerun.again("004-2b") == {0: pytest.approx(0.65)}


def test_a_row_whose_cases_follow_from_another_experiment_is_run_again():
    (statement,) = [one.statement for id, one in judging.stored().items() if id == "fair-1a"]
    assert rerun.again("fair-1a")[0] == pytest.approx(tables.numbers(statement)[0], abs=0.02)


def test_a_row_at_best_rates_is_run_again_by_one_of_its_criteria() -> None:
    """SCAFFOLD less FedProx; a stored run can be the best by several criteria. Another processor
    may round otherwise.
    """
    row = judging.stored()["fair-2b"].statement
    again = rerun.again("fair-2b", [205])
    assert again[205] == pytest.approx(tables.numbers(row)[205], abs=0.005)
