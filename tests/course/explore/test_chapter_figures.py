"""The figures of chapters: the data that they draw, their descriptions, and bad values."""

import math

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_core.plots import describe
from fedlab_course import figures
from fedlab_course.chapters.ch06_shootout import figures as figures_08


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


def test_intervals_draw_each_value_the_mean_and_its_interval_from_top_to_bottom() -> None:
    values = {"FedAvg": [0.90, 0.92, 0.94], "SCAFFOLD": [0.95, 0.96, 0.97]}
    figure = figures.intervals(values, reference=0.0)
    seeds, mean = (trace for trace in figure.data if set(trace.y) == {"FedAvg"})
    assert list(seeds.x) == values["FedAvg"]
    assert mean.x == pytest.approx((0.92,))
    assert mean.error_x.array[0] == pytest.approx(t_interval(values["FedAvg"]).half_width)
    means = [trace for trace in figure.data if trace.name]
    assert [trace.name for trace in means] == list(values)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"
    looks = fl.plots.style.looks({name: name for name in values})
    assert [(t.marker.color, t.marker.symbol) for t in means] == [
        (o.colour, o.marker) for o in looks.values()
    ]
    (line,) = figure.layout.shapes
    assert (line.x0, line.x1) == (0.0, 0.0)
    assert figure.layout.meta["table"]["rows"][0][1] == "92.0%"


def test_curves_the_optimum_and_points_are_drawn_and_told() -> None:
    lines = {"FedAvg": ([1, 10], [0.5, 0.6]), "FedProx μ=1": ([1, 10], [0.55, 0.7])}
    figure = figures.resting_points(
        lines, optimum=0.75, x_title="μ", points={"simulation": ([10], [0.6])}, log_x=True
    )
    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name) == ["FedAvg", "FedProx μ=1", "simulation", "optimum"]
    assert list(by_name["optimum"].x) == [1, 10] and list(by_name["optimum"].y) == [0.75, 0.75]
    assert by_name["simulation"].mode == "markers" and figure.layout.xaxis.type == "log"
    assert by_name["FedAvg"].line.color != by_name["FedProx μ=1"].line.color
    text = describe(figure)
    assert "the optimum is 0.75" in text and "from 0.5500 at 1 to 0.7000 at 10" in text


def test_forgetting_has_a_row_per_tier_a_column_per_update_and_rings_at_the_trained_tiers() -> None:
    table = [[1.0, 0.0], [0.2, 0.9], [0.8, 0.4]]  # after updates of the tiers 0, 1, 0
    figure = figures.forgetting(table, names=["cats", "dogs"])
    heatmap, rings = figure.data
    np.testing.assert_array_equal(heatmap.z, np.transpose(table))
    assert list(heatmap.x) == [1, 2, 3] and list(heatmap.y) == ["cats", "dogs"]
    assert list(rings.x) == [1, 2, 3] and list(rings.y) == ["cats", "dogs", "cats"]
    # Tier 0 was trained in updates 1 and 3 (1.0 and 0.8, before its
    # second turn 0.2), tier 1 in update 2 (0.9).
    rows = figure.layout.meta["table"]["rows"]
    assert rows == [["cats", 2, "90%", "20%", "80%"], ["dogs", 1, "90%", "–", "40%"]]
    words = fl.plots.describe(figure)
    assert (
        "right after its turn 90%" in words
        and "before its next turn 20%" in words
        and "at the end 60%" in words
    )


def test_forgetting_refuses_equal_names() -> None:
    with pytest.raises(ValueError, match="2 different names"):
        figures.forgetting([[0.1, 0.2]], names=["one"] * 2)


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


def test_each_panel_holds_the_same_accuracies_at_another_price() -> None:
    runs = race()
    figure = figures_08.three_axes(runs)
    for name, history in runs.items():
        curves = [trace for trace in figure.data if trace.name == name]
        assert [trace.xaxis or "x" for trace in curves] == ["x", "x2", "x3"]
        for trace in curves:
            np.testing.assert_allclose(trace.y, history.frame.test_accuracy)
        frame = history.frame
        prices = [frame["round"], frame["server_updates"], frame["bytes_up"] + frame["bytes_down"]]
        for trace, price in zip(curves, prices, strict=True):
            np.testing.assert_allclose(np.asarray(trace.x) * price.iloc[-1] / trace.x[-1], price)
    ends = {trace.name: trace.x[-1] for trace in figure.data if trace.xaxis == "x3"}
    assert ends["SCAFFOLD"] == pytest.approx(2 * ends["FedAvg"])
