"""The trade-off between two tasks, and what DBSCAN finds for each radius."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch06_forgetting import figures as figures_06
from fedlab_course.chapters.ch07_fedmas import figures as figures_07

POINTS = {"EWC": [[0.0, 0.1, 0.9], [10.0, 0.8, 0.7]], "spring": [[1.0, 0.5, 0.5]]}


def test_tradeoff_draws_a_point_per_strength() -> None:
    figure = figures_06.tradeoff(POINTS)
    assert [trace.name for trace in figure.data] == ["EWC", "spring"]
    assert list(figure.data[0].x) == [0.9, 0.7] and list(figure.data[0].y) == [0.1, 0.8]
    assert list(figure.data[0].text) == ["0", "10"]
    assert "EWC 80% and 70% at λ=10" in fl.plots.describe(figure)


def test_tradeoff_refuses_accuracies_above_1() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        figures_06.tradeoff({"a": [[0.1, 0.2, 1.2]]})


def test_eps_sweep_draws_three_series_and_the_knee() -> None:
    figure = figures_07.eps_sweep([0.8, 1.2], [[3, 70, 5], [10, 8, 30]], knee=1.1)
    assert [list(trace.y) for trace in figure.data] == [[3, 10], [70, 8], [5, 30]]
    assert figure.layout.shapes[0].x0 == 1.1
    assert figure.layout.annotations[0].x == pytest.approx(np.log10(1.1))
    assert "at 0.8 3 tiers, 70 noise clients" in fl.plots.describe(figure)
