"""Two quadratics as a figure, where FedAvg rests on them, and weight divergence against skew."""

import numpy as np
import pandas as pd
import pytest

from fedlab_course.chapters.ch01_noniid_and_drift import figures


def traces(figure):
    return {trace.name: trace for trace in figure.data}


def test_parabolas_are_lowest_where_they_should_be_and_points_lie_on_their_mean() -> None:
    drawn = traces(figures.parabolas((1, 3), (0, 1), {"optimum": 0.75, "rests": 0.5}))
    for name, lowest in (("f<sub>1</sub>", 0.0), ("f<sub>2</sub>", 1.0), ("F, their mean", 0.75)):
        assert drawn[name].x[np.argmin(drawn[name].y)] == pytest.approx(lowest, abs=0.01)
    # F(w) = (w² + 3(w − 1)²)/4: 3/16 at its lowest, 1/4 in the middle.
    assert drawn["optimum: 0.7500"].y == pytest.approx((3 / 16,))
    assert drawn["rests: 0.5000"].y == pytest.approx((1 / 4,))


def stored() -> pd.DataFrame:
    rows = [
        {"labels_per_client": labels, "seed": seed, "emd": emd, "divergence": div + 0.1 * seed, "common": common}
        for labels, emd, div, common in ((1, 1.8, 0.4, 0.02), (10, 0.0, 0.1, 0.8))
        for seed in (0, 1)
    ]
    return pd.DataFrame(rows)


def test_divergence_goes_from_little_skew_to_much_with_bars_over_seeds() -> None:
    figure = figures.divergence(stored())
    weights, common = figure.data
    assert list(weights.x) == [0.0, 1.8] and weights.text == ("10 labels", "1 label")
    assert list(weights.y) == pytest.approx([0.15, 0.45]) and list(common.y) == pytest.approx([0.8, 0.02])
    assert list(weights.error_y.array) == pytest.approx([0.05, 0.05])
    assert list(common.error_y.arrayminus) == pytest.approx([0, 0])
    (line,) = figure.layout.shapes
    assert line.y0 == line.y1 == pytest.approx(0.1) and line.yref == "y2"
