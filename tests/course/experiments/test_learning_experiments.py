"""Experiments that train on data, in tiny cases, and how they choose and measure."""

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_course.experiments import measured_runs
from fedlab_course.experiments.all_experiments import EXPERIMENTS
from fedlab_course.experiments.studies import (
    fedprox_synthetic,
    local_work,
    mechanisms,
    partial_work,
    skew,
    tuning,
)


def tiny_run(**settings: Any) -> tuple[dict[str, Any], pd.DataFrame]:
    fed = fedprox_synthetic.federation("iid")
    given = {
        "rounds": 3,
        "clients_per_round": 2,
        "local_steps": 1,
        "batch_size": 5,
        "lr": 0.1,
        "seed": 0,
    }
    return measured_runs.measured(
        fed, fl.models.softmax_regression(fed, seed=0), fl.FedAvg(), **given | settings
    )


def test_every_case_and_seed_is_a_unit_of_its_own() -> None:
    for experiment in EXPERIMENTS.values():
        if not experiment.after:
            units = [(tuple(case.items()), seed) for case, seed in experiment.units({})]
            assert len(set(units)) == len(units) >= 1


def test_a_run_that_diverges_at_once_is_chance_from_the_first_round() -> None:
    """A rate of 10³⁸ overflows float32 in the first steps, before any round is recorded."""
    found, curve = tiny_run(lr=1e38, local_steps=20)
    assert found["diverged"] is True
    assert curve.test_accuracy.tolist() == [0.1] * 3
    assert found["end_loss"] == pytest.approx(math.log(10)) and found["end_accuracy"] == 0.1


def test_the_configuration_with_the_best_mean_is_chosen_and_the_first_of_equals() -> None:
    def row(
        method: str, lr: float, parameter: float | None, accuracies: list[float]
    ) -> list[dict[str, Any]]:
        about = {"partition": "two_labels", "method": method, "lr": lr, "parameter": parameter}
        return [
            about | {"seed": seed, "end_accuracy": value} for seed, value in enumerate(accuracies)
        ]

    rows = row("fedavg", 0.1, None, [0.5, 0.7]) + row("fedavg", 0.2, None, [0.9, 0.2])
    rows += row("fedprox", 0.1, 0.01, [0.5, 0.5]) + row("fedprox", 0.1, 1.0, [0.75, 0.75])
    rows += row("fedprox", 0.2, 1.0, [1.0, 0.5])
    assert tuning.chosen({"tuning_digits": pd.DataFrame(rows)}) == [
        {"partition": "two_labels", "method": "fedavg", "lr": 0.1},
        {"partition": "two_labels", "method": "fedprox", "lr": 0.1, "parameter": 1.0},
    ]


def test_the_best_mu_of_fedprox_is_chosen_on_other_seeds_and_dropping_has_less_work() -> None:
    tried = [
        ("synthetic(1,1)", 0.9, 0.1, 2.0),
        ("synthetic(1,1)", 0.9, 0.1, 1.0),
        ("synthetic(1,1)", 0.9, 1.0, 1.6),
    ]
    table = pd.DataFrame(tried, columns=["data", "stragglers", "mu", "end_loss"])
    first, *others = fedprox_synthetic.chosen({"fedprox_tuning": table})
    assert first == {"data": "synthetic(1,1)", "stragglers": 0.9, "best": 0.1}
    assert others and all("best" not in one for one in others)
    short = {"rounds": 2, "local_epochs": 2, "eval_every": 1, "batch_size": 100}
    found = fedprox_synthetic.run(0, data="iid", stragglers=0.9, best=0.1, **short)
    rows = {row["algorithm"]: row for row in found if "table" not in row}
    assert {name: row["mu"] for name, row in rows.items()} == {
        "keep": 0.0,
        "best": 0.1,
        "one": 1.0,
        "drop": None,
    }
    points = [row for row in found if row.get("table") == "curves" and row["algorithm"] == "keep"]
    assert [point["round"] for point in points] == [1, 2]
    assert {
        row["algorithm"] for row in fedprox_synthetic.run(0, data="iid", stragglers=0.0, **short)
    } == {"keep"}
    tuned = fedprox_synthetic.tune(0, data="iid", stragglers=0.0, **short)
    assert {row["algorithm"] for row in tuned} == {f"mu={mu:g}" for mu in fedprox_synthetic.MUS}


def test_corrected_gradients_are_plain_ones_before_the_first_controls() -> None:
    ratios = mechanisms.noted(mechanisms.Corrected(), 3)
    assert ratios[0] == 1.0 and (ratios[1:] != 1.0).all()


def test_a_strong_proximal_term_holds_models_together() -> None:
    free, held = (mechanisms.noted(mechanisms.Apart(mu), 3) for mu in (0.0, 10.0))
    assert (held < free).all()


@pytest.mark.slow
def test_more_skew_moves_variance_from_within_clients_to_between_them() -> None:
    rows = [row for split in local_work.SPLITS for row in local_work.constants(3, split=split)]
    total = [row["noise"] + row["dissimilarity"] ** 2 for row in rows]
    assert total == pytest.approx([total[0]] * 3, rel=1e-4)
    noise = [row["noise"] for row in rows]
    assert noise == sorted(noise, reverse=True)
    for row in rows:  # theorem and data know the same constants
        a = (1 + (20 - 4) / (4 * 20)) * row["gradient"] ** 2
        b = row["noise"] + row["smoothness"] * (row["gap"] + row["gradient"] ** 2)
        assert row["best_steps"] == pytest.approx(math.sqrt(b / a))


def test_partial_work_has_a_row_for_each_rule_and_the_best_mu_by_its_end() -> None:
    short = {"rounds": 2, "local_epochs": 2}
    found = [
        row for row in partial_work.stragglers(0, stragglers=0.0, **short) if "table" not in row
    ]
    rows = {row["algorithm"]: row for row in found}
    assert list(rows) == ["drop", "keep", "mu=0.01", "mu=0.1", "mu=1", "nova", "six", "best"]
    assert rows["best"]["end_accuracy"] == max(
        rows[f"mu={mu:g}"]["end_accuracy"] for mu in partial_work.MUS
    )
    assert rows["drop"]["drift"] == rows["keep"]["drift"]  # without stragglers nobody is dropped
    assert rows["six"]["bytes"] == 0.3 * rows["keep"]["bytes"]


def test_a_model_that_knows_the_labels_of_the_last_cohort_leans_towards_it() -> None:
    """Labels take turns: each is 10 points better after the
    rounds whose cohort holds more of it.
    """
    turn = (np.arange(skew.LAST + 1)[:, None] + np.arange(2)) % 2
    shares = 0.3 + 0.4 * turn
    accuracy = np.array([0.5, 0.8]) + 0.1 * turn
    found = {lag: skew.leaning(accuracy, shares, lag) for lag in skew.LAGS}
    assert [found[lag]["gap"] for lag in skew.LAGS] == pytest.approx([-0.1, 0.1, -0.1, 0.1])
    assert found[0]["held_gap"] is None
    alone = skew.leaning(accuracy, 1.0 * turn, 0)
    assert alone["held_gap"] == pytest.approx(0.1)


def test_equal_moves_are_common_and_unrelated_ones_share_what_chance_gives() -> None:
    assert float(skew.common_share(torch.ones(4, 7))) == pytest.approx(1)
    assert float(skew.common_share(torch.eye(5))) == pytest.approx(1 / 5)
    assert float(skew.common_share(torch.tensor([[1.0], [-1.0]]))) == 0
