"""Figures on the grid of their sliders: every position is there, shared parts once, and gaps are told."""

import json
from typing import Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import pytest

from fedlab_course import grid
from fedlab_course.chapters.ch01_noniid_and_drift import ideas as ideas_01
from fedlab_course.chapters.ch02_fedprox import ideas as ideas_02
from fedlab_course.chapters.ch03_scaffold import ideas as ideas_03
from fedlab_course.chart import ladder

CURVE = np.sin(np.arange(50) / 7)


def draw(a: float, b: int) -> go.Figure:
    if a == 3:
        raise ValueError("a=3: must be below 3")
    figure = go.Figure(layout={"meta": {"alt": f"a={a:g}, b={b}"}})
    figure.add_scatter(y=CURVE, name="always the same", marker_color=["#123456"] * 50)
    figure.add_scatter(y=[a, b, float("nan")], name="moved")
    return figure


def sliders() -> dict[str, Any]:
    return {"a": ladder("α", (0.5, 1 / 3, 3), 0.5, "tip"), "b": ladder("b", range(4), 2, "tip")}


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
    bundle = grid.bundle(draw, sliders())
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
    text = json.dumps(grid.bundle(draw, sliders())[grid.MIME])
    assert text.count(f"{CURVE[20]:.6g}") == 1
    assert text.count('"always the same"') == 1
    assert '"color": ["#123456"' in text


@pytest.mark.parametrize(("options", "start"), [(200, 0), (200, 199), (121, 57)])
def test_a_grid_that_is_too_long_says_what_it_leaves_out(options: int, start: int) -> None:
    slider = ladder("x", range(options), start, "tip")
    (told,) = grid.bundle(lambda x: go.Figure(layout_title=str(x)), {"x": slider})[grid.MIME]["sliders"]
    kept = [int(text) for text in told["options"]]
    assert len(kept) <= grid.CELLS
    assert kept == sorted(kept)
    assert kept[told["start"]] == start
    assert (kept[0], kept[-1]) == (0, options - 1)
    assert sorted(kept + [int(text) for text in told["left_out"]]) == list(range(options))


def test_a_grid_that_is_too_heavy_is_thinned() -> None:
    rng = np.random.default_rng(0)
    slider = ladder("x", range(64), 5, "tip")
    stored = grid.bundle(lambda x: go.Figure(go.Scatter(y=rng.normal(size=5000))), {"x": slider})[grid.MIME]
    assert grid.size(stored) <= grid.BYTES
    assert stored["sliders"][0]["left_out"]
    assert len(stored["cells"]) == len(stored["sliders"][0]["options"])


@pytest.mark.parametrize(
    ("widget", "values"),
    [
        (ipywidgets.IntSlider(value=4, min=0, max=6, step=2, description="n"), [0, 2, 4, 6]),
        (ipywidgets.FloatSlider(value=0.3, min=0.1, max=0.5, step=0.1, description="n"), [0.1, 0.2, 0.3, 0.4, 0.5]),
        (ipywidgets.Dropdown(options=["p", "q"], value="q", description="n"), ["p", "q"]),
    ],
)
def test_other_widgets_have_positions_too(widget: Any, values: list[Any]) -> None:
    slider = grid.Slider.of(widget)
    found = [value for _, value in slider.options]
    assert found == values or found == pytest.approx(values)
    assert type(found[0]) is type(widget.value)
    assert found[slider.start] == widget.value or found[slider.start] == pytest.approx(widget.value)


def test_a_widget_without_positions_is_refused() -> None:
    with pytest.raises(ValueError, match="slider 'free'"):
        grid.Slider.of(ipywidgets.Text(description="free"))


def test_the_ideas_of_the_course_fit_without_gaps() -> None:
    for idea in (ideas_01.local_steps(live=False), ideas_02.proximal(live=False), ideas_03.corrections(live=False)):
        stored = grid.build(idea.figure, {name: grid.Slider.of(one) for name, one in idea.sliders.items()})
        assert not any(slider["left_out"] for slider in stored["sliders"])
        assert not any("error" in cell for cell in stored["cells"])
        assert grid.size(stored) < 100_000
