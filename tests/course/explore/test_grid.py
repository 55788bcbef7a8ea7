"""Figures on the grid of their sliders: every position is there, shared parts once, and gaps are
told.
"""

import json
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from fedlab_course.explore import grid
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

CURVE = np.sin(np.arange(50) / 7)


def draw(a: float, b: int) -> go.Figure:
    if a == 3:
        raise ValueError("a=3: must be below 3")
    figure = go.Figure(layout={"meta": {"alt": f"a={a:g}, b={b}"}})
    figure.add_scatter(y=CURVE, name="always the same", marker_color=["#123456"] * 50)
    figure.add_scatter(y=[a, b, float("nan")], name="moved")
    return figure


def sliders() -> dict[str, Any]:
    return {"a": slider("α", (0.5, 1 / 3, 3), 0.5, "tip"), "b": slider("b", range(4), 2, "tip")}


def whole(stored: dict[str, Any], value: Any) -> Any:
    """``value`` with its references followed."""
    if isinstance(value, list):
        return [whole(stored, one) for one in value]
    if isinstance(value, dict):
        return (
            whole(stored, stored["values"][value["$"]])
            if "$" in value
            else {k: whole(stored, v) for k, v in value.items()}
        )
    return value


def test_every_position_holds_the_figure_that_is_drawn_for_it() -> None:
    bundle = Idea(draw, sliders()).bundle()
    stored = json.loads(json.dumps(bundle[grid.MIME]))  # as it comes out of a notebook
    first, second = stored["sliders"]
    assert (first["label"], first["options"], first["start"]) == ("α", ["0.333333", "0.5", "3"], 1)
    assert (second["options"], second["start"]) == (["0", "1", "2", "3"], 2)
    assert len(stored["cells"]) == 12
    for i, a in enumerate((1 / 3, 0.5, 3)):
        for b in range(4):
            cell = whole(stored, stored["cells"][4 * i + b])
            if a == 3:
                assert cell == {"error": "a=3: must be below 3"}
                continue
            assert cell["layout"]["meta"]["alt"] == f"a={a:g}, b={b}"
            assert cell["data"][0]["y"] == pytest.approx(CURVE.tolist(), rel=1e-5, abs=1e-12)
            assert cell["data"][1]["y"] == [pytest.approx(a, rel=1e-5), b, None]
    assert bundle["text/plain"] == "a=0.5, b=2"
    assert bundle["application/vnd.plotly.v1+json"]["layout"]["meta"]["alt"] == "a=0.5, b=2"


def test_what_figures_share_is_stored_once_and_colours_stay_below_their_key() -> None:
    text = json.dumps(Idea(draw, sliders()).bundle()[grid.MIME])
    assert text.count(f"{CURVE[20]:.6g}") == 1
    assert text.count('"always the same"') == 1
    assert '"color": ["#123456"' in text
