"""Means with intervals: Student's law, and a figure that draws it."""

import math

import numpy as np
import plotly.graph_objects as go
import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course import figures


def test_two_values_have_the_cauchy_interval():
    # With one degree of freedom Student's law is Cauchy's: its 97.5 % quantile is tan(0.475 π), and s/√2 = |a − b|/2.
    found = t_interval([0.2, 0.6])
    half = math.tan(0.475 * math.pi) * 0.2
    assert (found.mean, found.low, found.high) == pytest.approx((0.4, 0.4 - half, 0.4 + half))
    assert found.half_width == pytest.approx(half) and found.runs == 2


def test_three_values_have_the_quantile_with_a_closed_form():
    # With two degrees of freedom the quantile of p is (2p − 1) / √(2p(1 − p)).
    p, values = 0.95, [1.0, 2.0, 4.5]
    half = (2 * p - 1) / math.sqrt(2 * p * (1 - p)) * math.sqrt(np.var(values, ddof=1) / 3)
    assert t_interval(values, level=0.9).half_width == pytest.approx(half)


@pytest.mark.parametrize(
    ("values", "level", "message"),
    [
        ([0.5], 0.95, "n ≥ 2"),
        ([[0.5, 0.6]], 0.95, "n ≥ 2"),
        ([0.5, math.nan], 0.95, "finite"),
        ([0.5, 0.6], 1.0, "level"),
        ([0.5, 0.6], 95, "level"),
    ],
)
def test_bad_values_are_refused_by_name(values, level, message):
    with pytest.raises(ValueError, match=message):
        t_interval(values, level)


VALUES = {"FedAvg": [0.90, 0.92, 0.94], "SCAFFOLD": [0.95, 0.96, 0.97]}


def test_a_row_draws_each_value_the_mean_and_its_interval():
    figure = figures.intervals(VALUES)
    assert type(figure) is go.Figure
    seeds, mean = (trace for trace in figure.data if set(trace.y) == {"FedAvg"})
    assert list(seeds.x) == VALUES["FedAvg"]
    assert mean.x == pytest.approx((0.92,)) and mean.error_x.array[0] == pytest.approx(
        t_interval(VALUES["FedAvg"]).half_width
    )


def test_a_name_keeps_its_look_and_the_order_is_that_given():
    figure = figures.intervals(VALUES)
    means = [trace for trace in figure.data if trace.name]
    assert [trace.name for trace in means] == ["FedAvg", "SCAFFOLD"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"
    looks = fl.plots.style.looks({name: name for name in VALUES})
    assert [trace.marker.color for trace in means] == [looks[name].colour for name in VALUES]
    assert [trace.marker.symbol for trace in means] == [looks[name].marker for name in VALUES]


def test_differences_have_a_line_at_zero_and_plain_numbers():
    figure = figures.intervals({"B − A": [-0.5, 1.5]}, reference=0.0, percent=False)
    (line,) = figure.layout.shapes
    assert (line.x0, line.x1) == (0.0, 0.0)
    assert figure.layout.meta["table"]["rows"][0][1] == "0.5"
