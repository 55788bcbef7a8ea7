"""Curves on logarithmic axes: what is drawn, and the slopes in their table."""

import numpy as np
import pytest

import fedlab_core as fl
from fedlab_course.chapters.ch12_bounds import figures

X = np.array([1.0, 10.0, 100.0])
TITLES = {"x_title": "rounds", "y_title": "error"}


def test_the_slope_of_a_power_is_its_exponent() -> None:
    figure = figures.power_laws({"run": (X, 3 * X**-1.5), "bound": (X, 50 / X)}, bounds=["bound"], **TITLES)
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert [row[-1] for row in figure.layout.meta["table"]["rows"]] == ["-1.50", "-1.00"]
    words = fl.plots.describe(figure)
    assert "run from 3 to 0.003, slope -1.50" in words and "error against rounds" in words


def test_few_values_are_ticks_and_many_have_powers_of_ten() -> None:
    many = np.geomspace(1, 1000, 30)
    figure = figures.power_laws({"few": (X, X), "more": (X[:2], X[:2])}, **TITLES)
    assert list(figure.layout.xaxis.tickvals) == [1, 10, 100] and figure.layout.xaxis.ticktext == ("1", "10", "100")
    assert figures.power_laws({"many": (many, many)}, **TITLES).layout.xaxis.dtick == 1
    narrow = figures.power_laws({"many": (many, 2 + many / 1000)}, **TITLES)
    assert narrow.layout.yaxis.dtick is None and narrow.layout.yaxis.tickvals is None


def test_two_bounds_differ_in_their_dashes() -> None:
    figure = figures.power_laws({"one": (X, X), "two": (X, 2 * X)}, bounds=["one", "two"], **TITLES)
    assert len({trace.line.dash for trace in figure.data}) == 2


@pytest.mark.parametrize("y", [0.0, np.nan])
def test_what_has_no_logarithm_is_refused(y: float) -> None:
    with pytest.raises(ValueError, match="a must hold positive numbers"):
        figures.power_laws({"a": ([1.0, 2.0], [y, 1.0])}, **TITLES)
