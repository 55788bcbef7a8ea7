"""Paths of a parameter: what is drawn, what is said in words, and what is refused."""

import json

import fedlab_core as fl
from fedlab_course.chapters.ch10_your_own_algorithm import figures


def test_every_name_has_a_line_over_its_own_rounds_and_the_optimum_is_marked():
    figure = figures.paths({"FedAvg": [0.5, 0.6], "FedDyn μ=1": [0.7, 0.74, 0.75]}, 0.75)
    assert [trace.name for trace in figure.data] == ["FedAvg", "FedDyn μ=1"]
    assert list(figure.data[1].x) == [1, 2, 3] and list(figure.data[1].y) == [0.7, 0.74, 0.75]
    (shape,) = figure.layout.shapes
    assert (shape.y0, shape.y1) == (0.75, 0.75)
    assert len({(trace.line.color, trace.marker.symbol) for trace in figure.data}) == 2


def test_paths_in_words():
    figure = figures.paths({"FedAvg": [0.5, 0.6], "SCAFFOLD": [0.7, 0.74, 0.75]}, 0.75)
    table = figure.layout.meta["table"]
    assert table["columns"] == ["round", "FedAvg", "SCAFFOLD"]
    assert table["rows"] == [[1, "0.5000", "0.7000"], [2, "0.6000", "0.7400"], [3, "", "0.7500"]]
    words = fl.plots.describe(figure)
    assert "The optimum is 0.75" in words and "FedAvg at 0.6000; SCAFFOLD at 0.7500" in words
    json.dumps(figure.layout.meta)
