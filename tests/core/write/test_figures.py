"""Figures without a browser: what Plotly shows is what is drawn, the same bytes each time, and nothing is left out."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

import fedlab_core as fl
from fedlab_core.plots.style import look
from tests.core.write.pictured import FIGURES, history, race

pytest.importorskip("matplotlib", reason="the extra figures is not installed")

from fedlab_core.write.drawing import draw, settings
from fedlab_core.write.symbols import dashes, displayed, outline
from fedlab_core.write.ticks import formatted
from fedlab_core.write.words import words

STARTS = {".svg": b"<?xml", ".pdf": b"%PDF-", ".png": b"\x89PNG"}


def drawn(figure: go.Figure, width: float = 700, height: float = 450) -> Any:
    with settings("DejaVu Sans"):
        canvas = draw(figure.to_plotly_json(), figure.layout.width or width, figure.layout.height or height)
        canvas.draw_without_rendering()
    return canvas


def curves(canvas: Any, count: int) -> list[Any]:
    """The lines through ``count`` points in all panels."""
    return [line for panel in canvas.axes for line in panel.lines if len(line.get_xdata()) == count]


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_and_nothing_written_lies_beyond_the_page(name: str) -> None:
    figure = FIGURES[name]()
    canvas = drawn(figure)
    width, height = canvas.get_size_inches() * 72
    renderer = canvas.canvas.get_renderer()
    found = [*canvas.texts, *(text for panel in canvas.axes for text in panel.texts)]
    found += [text for legend in canvas.legends for text in legend.get_texts()]
    assert len(found) > 5
    for text in found:
        box = text.get_window_extent(renderer)
        assert box.x0 > -1 and box.y0 > -1 and box.x1 < width + 1 and box.y1 < height + 1, text.get_text()


@pytest.mark.parametrize("suffix", STARTS)
def test_the_same_figure_is_the_same_file_without_a_date(suffix: str, tmp_path: Path) -> None:
    paths = [fl.write.figure(FIGURES["convergence"](), tmp_path / f"{number}{suffix}") for number in range(2)]
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith(STARTS[suffix])
    assert not re.search(rb"<dc:date>|CreationDate|matplotlib (version )?v?\d", first)


def test_a_file_has_the_size_of_the_figure_or_the_one_asked_for(tmp_path: Path) -> None:
    from PIL import Image

    figure = fl.plots.convergence(race())
    for options, size in (({}, (1400, 880)), ({"width": 500, "height": 300, "scale": 1}, (500, 300))):
        with Image.open(fl.write.figure(figure, tmp_path / "figure.png", **options)) as picture:
            assert picture.size == size
    text = fl.write.figure(figure, tmp_path / "figure.svg", width=760).read_text(encoding="utf-8")
    assert 'viewBox="0 0 760 440"' in text
    assert "<dc:description>Line chart of test accuracy" in text


def test_letters_go_into_a_pdf_as_a_font(tmp_path: Path) -> None:
    content = fl.write.figure(FIGURES["drift"](), tmp_path / "drift.pdf").read_bytes()
    assert b"/FontFile2" in content and b"DejaVuSans" in content


def test_curves_keep_their_numbers_colours_and_dashes() -> None:
    figure = fl.plots.convergence(race())
    lines = curves(drawn(figure), 30)
    traces = [trace for trace in figure.data if "lines" in (trace.mode or "")]
    assert len(lines) == len(traces) == 3
    for line, trace in zip(lines, traces, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), trace.x)
        np.testing.assert_array_equal(line.get_ydata(), trace.y)
        assert line.get_linewidth() == trace.line.width
        red, green, blue = (round(255 * part) for part in line.get_color()[:3])
        assert f"#{red:02X}{green:02X}{blue:02X}" == trace.line.color
    assert lines[0].get_linestyle() == "-"
    assert lines[1]._dash_pattern[1] == [9, 3]  # "9px,3px", in pixels whatever the width


def test_heat_maps_have_a_cell_per_number_in_the_colours_of_the_scale() -> None:
    z = [[0.0, 1.0, None], [2.0, 3.0, 4.0]]
    figure = go.Figure(go.Heatmap(z=z, colorscale=[(0, "#000000"), (1, "#ff0000")], showscale=False))
    (cells,) = drawn(figure).axes[0].collections
    assert len(cells.get_paths()) == 5
    np.testing.assert_allclose(cells.get_facecolors()[:, 0], np.array([0, 1, 2, 3, 4]) / 4, atol=1 / 255)
    np.testing.assert_allclose(cells.get_paths()[0].vertices[:4], [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def test_bars_stand_beside_each_other_and_stacks_on_each_other() -> None:
    beside = go.Figure([go.Bar(x=[0, 1], y=[1, 2]), go.Bar(x=[0, 1], y=[3, 4])])
    bars = [patch for patch in drawn(beside).axes[0].patches if patch.get_height() > 1.5 or patch.get_width() < 0.9]
    # Two to a place, of which a fifth stays free: each 0.4 wide, the first ends where the second begins.
    assert [round(bar.get_x(), 9) for bar in bars] == [-0.4, 0.6, 0.0, 1.0]
    assert [round(bar.get_width(), 9) for bar in bars] == [0.4] * 4
    beside.update_layout(barmode="stack")
    feet = [patch.get_y() for patch in drawn(beside).axes[0].patches if round(patch.get_width(), 9) == 0.8]
    assert feet == [0, 0, 1, 2]


def test_a_box_has_the_quartiles_and_whiskers_of_its_values() -> None:
    values = [1, 2, 3, 4, 5, 6, 7, 8, 30]
    canvas = drawn(go.Figure(go.Box(x=values, orientation="h", boxpoints=False, name="a")))
    box = next(patch for patch in canvas.axes[0].patches if round(patch.get_width(), 9) == 4.5)
    # Nine values, positions 9 p + ½: the quartiles lie at 2.75 and 7.25, and 30 is beyond 7.25 + 1.5 · 4.5.
    assert (box.get_x(), box.get_height()) == (2.75, 0.5)
    ends = {tuple(np.round(line.get_xdata(), 9)) for line in canvas.axes[0].lines if len(line.get_xdata()) == 2}
    assert {(1, 2.75), (7.25, 8), (5, 5)} <= ends


def test_every_look_of_the_course_has_its_marker_and_its_dash() -> None:
    looks = [look(slot) for slot in range(49)]
    outlines = {one.marker: outline(one.marker)[0].vertices.tobytes() for one in looks}
    assert len(set(outlines.values())) == len(outlines) == 10
    patterns = {one.dash: str(dashes(one.dash, 2)) for one in looks}
    assert len(set(patterns.values())) == len(patterns) == 7


def test_markers_are_left_out_at_equal_steps_shifted_from_curve_to_curve() -> None:
    assert displayed(5, 9, 0).tolist() == [0, 1, 2, 3, 4]
    assert displayed(50, 9, 0).tolist() == list(range(0, 50, 6))
    assert displayed(50, 9, 1).tolist() == list(range(4, 50, 6))
    assert all(len(displayed(count, 9, before)) <= 9 for count in range(1, 200) for before in range(7))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a &lt; b &amp; &mu;&eta;&alpha;&nbsp;c", "a < b & μηα\xa0c"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
        ("‖y<sub>k</sub> − w‖", r"‖y${}_\mathregular{k}$ − w‖"),
        ("10<sup>−3</sup>", r"10${}^\mathregular{{−}3}$"),
        ("all <b>of it</b>", r"all $\mathbf{of\ it}$"),
        ("$5 and $6", r"\$5 and \$6"),
        ("<i>w</i>: 5<b>%</b>", r"$\mathit{w}$: 5$\mathbf{{\%}}$"),
    ],
)
def test_html_comes_out_as_what_it_means(html: str, expected: str) -> None:
    assert words(html).text == expected


def test_text_that_is_all_bold_is_bold_text() -> None:
    assert (words("<b>all<br>of it</b>").text, words("<b>all<br>of it</b>").bold) == ("all\nof it", True)
    assert not words("<b>some</b> of it").bold


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (0.125, ".1%", "12.5%"),
        (-0.05, "+.0%", "−5%"),
        (0.05, "+.0%", "+5%"),
        (12345.6, ",.0f", "12,346"),
        (12345.6, ",d", "12,346"),
        (0.00012, ".2e", "1.20e−4"),
        (0.01, ".2g", "0.010"),
        (0.00001, ".2g", "0.000010"),
        (99.96, ".3g", "100"),
        (1234.0, ".2g", "1.2e+3"),
        (0.0, ".2g", "0.0"),
        (1234.5, ".2r", "1200"),
        (0.5, "", "0.5"),
        (2.0, ".3~f", "2"),
    ],
)
def test_numbers_are_written_as_d3_writes_them(value: float, form: str, expected: str) -> None:
    assert formatted(value, form) == expected


REFUSED = [
    (go.Figure(go.Pie(values=[1])), "data[0].type='pie'"),
    (go.Figure(go.Scatter(y=[1, 2], line={"shape": "spline"})), "data[0].line.shape='spline'"),
    (go.Figure(go.Scatter(y=[1, 2], line={"smoothing": 1})), "data[0].line.smoothing"),
    (go.Figure(go.Scatter(y=[1, 2], marker={"symbol": "asterisk"})), "the marker symbol 'asterisk'"),
    (go.Figure(go.Scatter(y=[1, 2], stackgroup="a")), "data[0].stackgroup"),
    (go.Figure(go.Scatter(y=[1, 2], mode="markers", marker_color=[1, 2])), "numbers as colours"),
    (go.Figure(go.Scatter(x=["2024-01-01", "2024-02-01"], y=[1, 2])), "layout.xaxis.type='date'"),
    (go.Figure(go.Scatter(y=[1, 2], yaxis="y2"), {"yaxis2": {"overlaying": "y"}}), "layout.yaxis2.overlaying"),
    (
        go.Figure(go.Scatter(y=[1, 2]), {"annotations": [{"text": "a", "x": 0, "y": 1}]}),
        "annotations[0].showarrow=True",
    ),
    (go.Figure(go.Scatter(y=[1, 2]), {"yaxis": {"anchor": "free"}}), "layout.yaxis.anchor='free'"),
    (go.Figure(go.Scatter(y=[1, 2]), {"title": "<u>a</u>"}), "the tag <u>"),
    (go.Figure(go.Scatter(y=[1, 2]), {"title": "$x^2$"}), "the formula '$x^2$'"),
    (go.Figure(go.Scatter(y=[1, 2]), {"xaxis": {"tickformat": "%d"}}), "the number format '%d'"),
    (go.Figure(go.Scatter(y=[1, 2]), {"shapes": [{"type": "path", "path": "M0,0"}]}), "layout.shapes[].path"),
    (go.Figure(go.Scatter(y=[1, 2]), {"updatemenus": [{}], "sliders": [{"active": 0}]}), "layout.sliders[].active"),
]


@pytest.mark.parametrize(("figure", "named"), REFUSED, ids=[named for _, named in REFUSED])
def test_what_the_drawing_does_not_follow_is_named(figure: go.Figure, named: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(named)) as caught:
        fl.write.figure(figure, tmp_path / "figure.svg")
    assert 'engine="browser" can, which needs the package kaleido and Chrome' in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"path": "figure.jpeg"}, "'.jpeg'"),
        ({"width": 0}, "width=0: must be"),
        ({"height": -3}, "height=-3: must be"),
        ({"scale": 0}, "scale=0: must be"),
        ({"engine": "kaleido"}, "engine='kaleido'"),
        ({"font": "No Such Font"}, "font='No Such Font': is not installed"),
        ({"figure": {"data": []}}, "figure dict: must be a plotly.graph_objects.Figure"),
        ({"figure": go.Figure(layout={"title": "客户端"})}, "name a font that has it"),
    ],
)
def test_bad_arguments_are_refused_and_leave_no_file(arguments, message, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"figure": go.Figure(), "path": "figure.svg", **arguments}
    with pytest.raises(ValueError, match=re.escape(message)):
        fl.write.figure(given.pop("figure"), given.pop("path"), **given)
    assert not list(tmp_path.iterdir())


def test_engines_that_are_not_installed_say_what_to_install(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=re.escape("pip install matplotlib")):
        fl.write.figure(go.Figure(), tmp_path / "figure.svg")
    with pytest.raises(ImportError, match="kaleido"):
        fl.write.figure(go.Figure(), tmp_path / "figure.svg", engine="browser")


def test_the_browser_is_asked_for_what_was_asked_for(monkeypatch, tmp_path) -> None:
    asked = {}
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr(go.Figure, "to_image", lambda self, **options: asked.update(options) or b"picture")
    path = fl.write.figure(go.Figure(go.Pie(values=[1])), tmp_path / "pie.png", width=300, height=200, engine="browser")
    assert path.read_bytes() == b"picture"
    assert asked == {"format": "png", "width": 300, "height": 200, "scale": 2}


def test_the_library_is_imported_without_matplotlib() -> None:
    script = "import sys, fedlab_core; print('matplotlib' in sys.modules, hasattr(fedlab_core.write, 'figure'))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["False", "True"]


def test_the_settings_of_matplotlib_stay_the_users_own(tmp_path, monkeypatch) -> None:
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "lines.linewidth", 7.0)
    monkeypatch.setitem(matplotlib.rcParams, "font.family", ["serif"])
    before = dict(matplotlib.rcParams)
    content = fl.write.figure(FIGURES["drift"](), tmp_path / "a.svg").read_bytes()
    assert dict(matplotlib.rcParams) == before
    matplotlib.rcParams.update({"lines.linewidth": 1.0, "axes.facecolor": "red", "font.family": ["monospace"]})
    assert fl.write.figure(FIGURES["drift"](), tmp_path / "b.svg").read_bytes() == content


def test_one_history_is_a_figure_too(tmp_path) -> None:
    assert fl.write.figure(fl.plots.convergence({"FedAvg": history("fedavg", 0)}), tmp_path / "a.svg").is_file()
