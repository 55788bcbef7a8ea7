"""The measures of a run, from curves whose answers are known."""

import math
import statistics

import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core import cli
from fedlab_core.sweep import plan
from fedlab_core.sweep.folder import Folder
from fedlab_course.evidence import configs
from fedlab_course.experiments import measures, sweeps

GRID = """
seed = [0, 1]
dataset = "digits"
model = {name = "softmax_regression"}
partition = {law = "iid", num_clients = 10}
algorithm = ["fedavg", {name = "fedprox", mu = 1e9}]
target_accuracy = 0.5
[settings]
rounds = 4
clients_per_round = 10
local_epochs = 1
lr = 0.5
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measures")
    (folder / "grid.toml").write_text(GRID)
    assert (
        cli.main(
            ["sweep", str(folder / "grid.toml"), "--out", str(folder / "sweeps"), "--workers", "1"]
        )
        == 0
    )
    return Folder(folder / "sweeps", plan.read(folder / "grid.toml"))


def test_rows_are_those_of_the_histories(swept):
    table, _ = measures.tables(swept)
    assert len(table) == len(swept.plan.runs) == 4
    row = table[(table.algorithm == "fedavg") & (table.seed == 1)].iloc[0]
    run = next(
        run
        for run in swept.plan.runs
        if run.axes["algorithm"] == "fedavg" and run.axes["seed"] == 1
    )
    frame = fl.History.load(swept.of(run) / "history.npz").frame
    assert row.mean_accuracy == pytest.approx(frame.test_accuracy.mean(), rel=1e-5)
    assert row.end_accuracy == pytest.approx(frame.test_accuracy.iloc[-1], rel=1e-5)
    assert row.start_accuracy == pytest.approx(frame.test_accuracy.iloc[0], rel=1e-5)
    assert row.end_loss == pytest.approx(frame.train_loss.iloc[-1], rel=1e-5)
    assert row.drift == pytest.approx(frame.drift.mean(), rel=1e-5)
    assert row.rounds_to_target == frame["round"][frame.test_accuracy >= 0.5].iloc[0]
    # down and up, rounds, clients, parameters, bytes of a float
    assert row.bytes == 2 * 4 * 10 * 650 * 4
    assert not row.diverged


def test_a_run_that_diverged_counts_as_chance(swept):
    table, curves = measures.tables(swept)
    lost = table[table.algorithm == "fedprox"]
    assert lost.diverged.all()
    assert lost.mean_accuracy.tolist() == pytest.approx([0.1] * 2)
    assert lost.end_loss.tolist() == pytest.approx([math.log(10)] * 2, rel=1e-5)
    assert (lost.rounds_to_target == 5).all()  # one more than there are
    assert curves[curves.algorithm == "fedprox"].test_accuracy_mean.tolist() == pytest.approx(
        [0.1] * 4
    )


def test_curves_are_mean_and_deviation_over_seeds(swept):
    _, curves = measures.tables(swept)
    chosen = [run for run in swept.plan.runs if run.axes["algorithm"] == "fedavg"]
    losses = pd.concat(
        [fl.History.load(swept.of(run) / "history.npz").frame.train_loss for run in chosen], axis=1
    )
    band = curves[curves.algorithm == "fedavg"]
    assert band.n.tolist() == [2] * 4
    assert band.train_loss_mean.tolist() == pytest.approx(losses.mean(axis=1).tolist(), rel=1e-5)
    assert band.train_loss_std.tolist() == pytest.approx(losses.std(axis=1).tolist(), rel=1e-5)


def test_roughness_is_that_of_changes():
    assert measures._roughness(pd.Series([0.0, 1.0, 0.0, 1.0]).to_numpy()) == pytest.approx(
        math.sqrt(4 / 3)
    )
    assert measures._roughness(pd.Series([0.0, 0.1, 0.2, 0.3]).to_numpy()) == pytest.approx(
        0.0, abs=1e-12
    )


def test_bands_of_some_seeds_and_of_the_others_make_those_of_all(swept):
    table, bands = measures.tables(swept)
    parts = [
        measures.tables(swept, [run for run in swept.plan.runs if run.axes["seed"] == seed])[1]
        for seed in (0, 1)
    ]
    joined = measures.pooled(*parts)
    assert [*joined] == [*bands] and joined["n"].tolist() == [2] * len(bands)
    numbers = bands.select_dtypes("number")
    assert joined[[*numbers]].to_numpy() == pytest.approx(
        numbers.to_numpy(), rel=1e-3, abs=1e-6, nan_ok=True
    )
    assert len(sweeps.missing(swept.plan, table)) == 0
    (alone,) = sweeps.missing(swept.plan, table.iloc[1:])
    assert alone.axes["algorithm"] == table.algorithm[0] and alone.axes["seed"] == table.seed[0]


@pytest.mark.parametrize("alone", [1, 2])
def test_pooled_bands_are_those_of_all_values(alone: int) -> None:
    """The mean and the deviation (n − 1) of five seeds, from ``alone`` of them and the others."""
    accuracies = [0.1, 0.4, 0.2, 0.9, 0.6]
    curves = pd.DataFrame(
        {
            "round": 1,
            "seed": range(5),
            "test_accuracy": accuracies,
            "bytes": [10.0, 20.0, 30.0, 40.0, 50.0],
        }
    )
    parts = (curves[curves.seed < alone], curves[curves.seed >= alone])
    bands = [measures.banded(part, ["test_accuracy"], ["bytes"]) for part in parts]
    (band,) = measures.pooled(*bands).to_dict("records")
    assert band == {
        "round": 1,
        "test_accuracy_mean": pytest.approx(statistics.mean(accuracies), rel=1e-5),
        "test_accuracy_std": pytest.approx(statistics.stdev(accuracies), rel=1e-5),
        "bytes": 30.0,
        "n": 5,
    }


def test_the_deviation_of_a_single_seed_is_not_a_number() -> None:
    one = pd.DataFrame({"round": [1], "seed": [0], "test_accuracy": [0.5]})
    band = measures.banded(one, ["test_accuracy"])
    assert math.isnan(measures.pooled(band, band.iloc[:0]).test_accuracy_std.item())


def test_rounds_to_the_target() -> None:
    curve = pd.DataFrame({"round": [1, 3, 5], "test_accuracy": [0.2, 0.6, 0.4]})
    assert measures._rounds_to(0.6, curve, 5) == 3
    assert measures._rounds_to(0.7, curve, 5) == 6  # one more than were run
    assert measures._rounds_to(None, curve, 5) is None


def test_a_sweep_does_the_runs_that_its_table_lacks(tmp_path, monkeypatch, capsys):
    kept = {}
    monkeypatch.setattr(configs, "GRIDS", tmp_path)
    monkeypatch.setattr(sweeps.tables, "read", lambda name: kept.get(name, pd.DataFrame()))
    monkeypatch.setattr(sweeps.tables, "write", kept.__setitem__)

    def run(seeds: str, folder: str, **given: bool) -> str:
        (tmp_path / "g.toml").write_text(GRID.replace("[0, 1]", seeds))
        configs._grid.cache_clear()
        assert sweeps.run(
            "g", tmp_path / folder, workers=1, **{"dry_run": False, "again": False} | given
        )
        return capsys.readouterr().out

    assert "2 runs, of which 0 are done" in run("[0]", "first")
    assert "2 runs, of which 0 are done" in run("[0, 1]", "second")  # not those of seed 0
    assert "0 runs are missing" in run("[0, 1]", "third")
    added = dict(kept)
    assert "4 runs are missing" in run("[0, 1]", "third", dry_run=True, again=True)
    run("[0, 1]", "third", again=True)
    for name, table in kept.items():
        columns = [one for one in table.select_dtypes("number") if one != "seconds"]
        assert added[name][columns].to_numpy() == pytest.approx(
            table[columns].to_numpy(), rel=1e-3, abs=1e-6, nan_ok=True
        )
        assert added[name]["algorithm"].tolist() == table["algorithm"].tolist()
