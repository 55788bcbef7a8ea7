"""The figures of chapters: the data that they draw, their descriptions, and bad values."""

import math

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course.chapters.ch06_shootout import figures as figures_06


def test_two_values_have_the_cauchy_interval():
    # With one degree of freedom Student's law is Cauchy's: its 97.5 %
    # quantile is tan(0.475 π), and s/√2 = |a − b|/2.
    found = t_interval([0.2, 0.6])
    half = math.tan(0.475 * math.pi) * 0.2
    assert (found.mean, found.low, found.high) == pytest.approx((0.4, 0.4 - half, 0.4 + half))
    assert found.half_width == pytest.approx(half) and found.runs == 2


def test_three_values_have_the_quantile_with_a_closed_form():
    # With two degrees of freedom the quantile of p is (2p − 1) / √(2p(1 − p)).
    p = 0.95
    values = [1.0, 2.0, 4.5]
    half = (2 * p - 1) / math.sqrt(2 * p * (1 - p)) * math.sqrt(np.var(values, ddof=1) / 3)
    assert t_interval(values, level=0.9).half_width == pytest.approx(half)


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [([0.5], 0.95, "n ≥ 2"), ([0.5, math.nan], 0.95, "finite"), ([0.5, 0.6], 95, "level")],
)
def test_bad_values_are_refused_by_name(values, level, message) -> None:
    with pytest.raises(ValueError, match=message):
        t_interval(values, level)


def race():
    data = fl.load_dataset("digits")
    fed = fl.FederatedDataset(data, fl.partition.iid(data.train.y, num_clients=10, seed=0))
    settings = {
        "rounds": 3,
        "clients_per_round": 4,
        "local_steps": 2,
        "batch_size": 10,
        "lr": 0.05,
        "progress": False,
    }
    rules = {"FedAvg": fl.FedAvg(), "SCAFFOLD": fl.Scaffold()}
    return {
        name: fl.simulate(fed, fl.models.mlp(fed, seed=0), rule, **settings)
        for name, rule in rules.items()
    }


def test_the_curves_by_updates_have_the_accuracies_of_their_runs() -> None:
    runs = race()
    figure = figures_06.by_updates(runs, title="runs")
    assert figure.layout.xaxis.type == "log"
    for name, history in runs.items():
        (curve,) = (trace for trace in figure.data if trace.name == name)
        np.testing.assert_allclose(curve.y, history.frame.test_accuracy)
        np.testing.assert_allclose(curve.x, history.frame.server_updates)
