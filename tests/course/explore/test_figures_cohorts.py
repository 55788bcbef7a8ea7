"""Figures of cohorts: what they draw, and what they say in words."""

import numpy as np

import fedlab_core as fl
from fedlab_course.chapters.ch04_who_is_asked import figures


def test_missing_labels_are_shares_of_cohorts() -> None:
    figure = figures.missing({"blind": np.array([0, 2, 2, 3]), "from strata": np.array([0, 0])})
    blind, strata = figure.data
    assert list(blind.y[:4]) == [0.25, 0, 0.5, 0.25] and sum(blind.y) == 1
    assert strata.y[0] == 1
    assert blind.marker.pattern.shape != strata.marker.pattern.shape  # told apart without colours
    assert figure.layout.meta["table"]["rows"] == [["blind", "1.75", 0, 3], ["from strata", "0.00", 0, 0]]
    assert "blind 1.75" in fl.plots.describe(figure)


def test_variances_have_a_bar_for_each_split_and_room_on_their_axis() -> None:
    figure = figures.variances({"blind": {"IID": 0.01, "one label": 0.08}, "strata": {"IID": 0.01, "one label": 2e-3}})
    assert [list(bars.x) for bars in figure.data] == [["IID", "one label"]] * 2
    assert list(figure.data[1].y) == [0.01, 2e-3]
    low, high = (10**limit for limit in figure.layout.yaxis.range)
    assert low < 2e-3 and high > 0.08
    assert "one label, strata 0.002" in fl.plots.describe(figure)


def test_a_mark_has_the_look_of_its_line() -> None:
    lines = {"FedAvg": [1.0, 2.0, 2.5], "Hájek": [1.5, 2.2, 2.5]}
    marks = {"Hájek": (0.4, 2.1), "systematic": (0.4, 2.3)}
    figure = figures.rests_by_presence([0.1, 0.4, 1.0], lines, optimum=2.5, band=0.1, marks=marks)
    drawn = {trace.name: trace for trace in figure.data}
    assert drawn["Hájek, one run"].marker.color == drawn["Hájek, formula"].line.color
    assert drawn["Hájek, one run"].marker.color != drawn["FedAvg, formula"].line.color
    assert (drawn["systematic, one run"].x, drawn["systematic, one run"].y) == ((0.4,), (2.3,))
    assert ["FedAvg, formula", "1.000", "2.000", "2.500"] in figure.layout.meta["table"]["rows"]
    (band,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert (band.y0, band.y1) == (2.4, 2.6)
