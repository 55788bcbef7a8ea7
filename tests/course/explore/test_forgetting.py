"""The course's figures of forgetting and importance: what they draw, in words too, and what they refuse."""

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_course import figures
from fedlab_course.chapters.ch06_forgetting import figures as figures_06

TWO_TIERS = [[1.0, 0.0], [0.2, 0.9], [0.8, 0.4]]  # after updates of the tiers 0, 1, 0


def model(pixels: int = 6, hidden: int = 2, classes: int = 3) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, classes))


def size(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_forgetting_has_a_row_per_tier_and_a_column_per_update():
    figure = figures.forgetting(TWO_TIERS)
    heatmap, rings = figure.data
    assert type(figure) is go.Figure and heatmap.type == "heatmap"
    np.testing.assert_array_equal(heatmap.z, np.transpose(TWO_TIERS))
    assert list(heatmap.x) == [1, 2, 3] and list(heatmap.y) == ["0", "1"]
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    assert list(rings.x) == [1, 2, 3] and list(rings.y) == ["0", "1", "0"]


def test_rings_follow_the_given_order_of_tiers_and_names():
    rings = figures.forgetting(TWO_TIERS, visits=[1, 1, 0], names=["cats", "dogs"]).data[1]
    assert list(rings.y) == ["dogs", "dogs", "cats"]


def test_forgetting_in_words():
    figure = figures.forgetting(TWO_TIERS)
    # Tier 0 was trained in updates 1 and 3 (1.0 and 0.8, before its second turn 0.2), tier 1 in update 2 (0.9).
    assert figure.layout.meta["table"]["rows"] == [["0", 2, "90%", "20%", "80%"], ["1", 1, "90%", "–", "40%"]]
    words = fl.plots.describe(figure)
    assert "right after its turn 90%" in words and "before its next turn 20%" in words and "at the end 60%" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accuracies": [0.1, 0.2]}, "must be a table"),
        ({"accuracies": np.zeros((0, 2))}, "at least one row"),
        ({"accuracies": [[1.2]]}, "from 0 to 1"),
        ({"accuracies": [[np.nan]]}, "from 0 to 1"),
        ({"accuracies": TWO_TIERS, "visits": [0, 1]}, "for each of 3 server updates"),
        ({"accuracies": TWO_TIERS, "visits": [0, 1, 2]}, "0 … 1"),
        ({"accuracies": TWO_TIERS, "names": ["one", "one"]}, "2 different names"),
    ],
)
def test_forgetting_refuses_other_tables(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.forgetting(**arguments)


def test_memory_draws_the_mean_over_seeds_with_a_band():
    figure = figures_06.memory({"λ=0": [[1.0, 0.4], [0.8, 0.2]], "λ=2": [[0.9, 0.6]]})
    band, first, second = figure.data
    assert first.y == pytest.approx([0.9, 0.3]) and second.y == pytest.approx([0.9, 0.6])
    assert list(first.x) == [0, 1] and band.y == pytest.approx([1.0, 0.4, 0.2, 0.8])
    assert first.line.color != second.line.color and first.line.dash != second.line.dash
    assert first.marker.symbol != second.marker.symbol
    assert figure.layout.meta["table"]["rows"] == [["λ=0", 2, 1, "90.0%", "30.0%"], ["λ=2", 1, 1, "90.0%", "60.0%"]]
    assert "λ=0 from 90.0% to 30.0% after 1 updates" in fl.plots.describe(figure)


def test_a_picture_sums_over_the_hidden_units():
    net = model()
    values = torch.zeros(size(net))
    values[: 2 * 6] = torch.arange(12.0)  # weights of the first layer, [hidden, pixels]
    values[12:] = 100.0  # its bias and the second layer are in no picture
    figure = figures_06.importance({"one client": values}, net, (2, 3))
    np.testing.assert_array_equal(figure.data[0].z, [[6, 8, 10], [12, 14, 16]])
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, 16)
    assert [note.text for note in figure.layout.annotations] == ["one client"]


def test_all_pictures_share_one_scale_and_are_described():
    net = model()
    bright, dark = torch.ones(size(net)), torch.zeros(size(net))
    figure = figures_06.importance({"bright": bright, "dark": dark}, net, (2, 3))
    assert {trace.coloraxis for trace in figure.data} == {"coloraxis"} and figure.layout.coloraxis.cmax == 2
    assert "bright 0%; dark 100%" in fl.plots.describe(figure)
    assert [row[0] for row in figure.layout.meta["table"]["rows"]] == ["bright", "dark"]


def test_pictures_need_a_first_layer_that_sees_pixels():
    net = model()
    with pytest.raises(ValueError, match="linear on 3 × 3 pixels"):
        figures_06.importance({"a": torch.ones(size(net))}, net, (3, 3))
    convolution = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2, 2))
    with pytest.raises(ValueError, match="linear on"):
        figures_06.importance({"a": torch.ones(size(convolution))}, convolution, (3, 3))
