"""The explorer in the chapter that students open, in JupyterLab, in a real browser.

Sliders by keyboard, curves in the page's data, Stop, no errors.
"""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from fedlab_core.one_page import draw_cohort
from fedlab_core.randomness import stream
from fedlab_course import folders
from tests.browser.lab import Notebook, wait_until

ARTEFACTS = Path(__file__).resolve().parents[2] / "build" / "browser"
CHAPTER = "02_fedprox.ipynb"

pytestmark = pytest.mark.needs_browser


@pytest.fixture(scope="module")
def notebook(lab: str, folder: Path, chromium) -> Iterator[Notebook]:
    chapter = nbformat.read(folders.NOTEBOOKS / CHAPTER, as_version=4)
    for cell in chapter.cells:
        # a rate at which springs of 2 and more diverge
        cell.source = cell.source.replace("lr=1.0", "lr=0.05")
    # the rest is run with all chapters
    needed = ("dataset =", "from fedlab_course import Explorer")
    code = [
        cell
        for cell in chapter.cells
        if cell.cell_type == "code" and cell.source.startswith(needed)
    ]
    chapter.cells = [cell for cell in chapter.cells if cell.cell_type == "markdown" or cell in code]
    nbformat.write(chapter, folder / CHAPTER)
    opened = Notebook(chromium, lab.format(CHAPTER))
    opened.run()
    opened.scroll_to("Explorer(")
    yield opened
    ARTEFACTS.mkdir(parents=True, exist_ok=True)
    opened.page.screenshot(path=ARTEFACTS / f"{Path(CHAPTER).stem}.png")
    opened.page.close()


def rounds(number: int, *names: str) -> Callable[[dict[str, list[float]]], Any]:
    """The curves, once they are those of ``names`` and each has ``number`` points: one method draws
    before another.
    """

    def complete(curves: dict[str, list[float]]) -> Any:
        return (
            curves
            if sorted(curves) == sorted(names) and {len(y) for y in curves.values()} == {number}
            else None
        )

    return complete


def test_the_default_run_appears_and_grows_to_its_end(notebook: Notebook) -> None:
    curves = notebook.wait_for(rounds(50, "FedAvg", "FedProx μ=1"))
    assert all(0 < value <= 1 for y in curves.values() for value in y)


def test_mu_by_keyboard_changes_one_curve_and_leaves_the_other(notebook: Notebook) -> None:
    before = notebook.curves()
    cells = "window.jupyterapp.shell.currentWidget.content.widgets.length"
    count = notebook.page.evaluate(cells)
    notebook.press("μ of FedProx", "b")  # which adds a cell, if JupyterLab hears it
    notebook.press("μ of FedProx", "ArrowRight")
    after = notebook.wait_for(rounds(50, "FedAvg", "FedProx μ=2"))
    assert after["FedAvg"] == before["FedAvg"]
    assert after["FedProx μ=2"] != before["FedProx μ=1"]
    assert notebook.page.evaluate(cells) == count


def test_stop_ends_training_and_a_new_E_starts_it(notebook: Notebook) -> None:
    before = notebook.curves()

    def underway(curves: dict[str, list[float]]) -> bool:
        return curves.keys() == before.keys() and all(
            y != before[name][: len(y)] for name, y in curves.items()
        )

    def all_told(curves: dict[str, list[float]]) -> Any:
        """The curves, once they have as many points as the status says."""
        told = re.match(r"stopped, (\d+) of", notebook.status())
        return curves if told and sum(map(len, curves.values())) == int(told[1]) else None

    notebook.press("rounds", "End")
    notebook.press("clients a round K", "End")
    notebook.press("local epochs E", "End")
    notebook.wait_for(lambda c: underway(c) and "training" in notebook.status())
    notebook.explorer.locator("button", has_text="Stop").click()
    stopped = notebook.wait_for(all_told)
    assert min(map(len, stopped.values())) < 200
    time.sleep(3)  # the round that was under way may still come, and nothing after it
    count = sum(map(len, stopped.values()))
    stopped = notebook.wait_for(all_told)
    assert sum(map(len, stopped.values())) <= count + 1
    notebook.press("rounds", "Home")
    notebook.press("clients a round K", "Home")
    notebook.press("local epochs E", "Home")
    curves = notebook.wait_for(rounds(5, *stopped))
    assert all(curves[name] != stopped[name][:5] for name in curves)


def test_every_control_has_a_name_a_real_value_and_a_place_in_the_tab_order(
    notebook: Notebook,
) -> None:
    for handle in notebook.explorer.get_by_role("slider").all():
        label = handle.get_attribute("aria-label")
        row = notebook.explorer.locator(
            ".widget-hslider", has=notebook.page.get_by_text(label, exact=True)
        )
        assert (
            handle.get_attribute("aria-valuetext") == row.locator(".widget-readout").inner_text()
        ), label
        assert handle.get_attribute("tabindex") == "0", label
    for role, names in {
        "slider": (
            "μ of FedProx",
            "labels per client",
            "local epochs E",
            "learning rate η",
            "clients a round K",
        ),
        "combobox": ("split", "show", "against"),
        "button": ("Run", "Stop", "Keep curves", "The same in Python"),
        "spinbutton": ("seed",),
    }.items():
        for name in names:
            assert notebook.explorer.get_by_role(role, name=name).count() == 1, name


def test_charts_speak_and_show_their_data(notebook: Notebook) -> None:
    chart = notebook.explorer.locator(".fedlab-main fedlab-chart")
    chart.get_by_role("img", name="Line chart of test accuracy").wait_for()
    chart.get_by_text("Description and data").focus()
    notebook.page.keyboard.press("Enter")
    shown = [row.split("\t") for row in chart.get_by_role("table").inner_text().splitlines()]
    assert [row[0] for row in shown] == ["name", *notebook.curves()]
    notebook.page.keyboard.press("Enter")
    assert chart.get_by_role("table").count() == 0


def test_the_code_is_reached_by_tab_and_stays_open_when_it_changes(notebook: Notebook) -> None:
    notebook.explorer.locator("button", has_text="Reset").focus()
    notebook.page.keyboard.press("Tab")
    notebook.page.keyboard.press("Enter")
    code = notebook.explorer.get_by_label("The same in Python")
    assert 'histories["FedProx μ=2"]' in code.input_value()
    notebook.press("μ of FedProx", "ArrowRight")
    wait_until(lambda: 'histories["FedProx μ=5"]' in code.input_value())
    assert code.is_visible()
    notebook.press("μ of FedProx", "ArrowLeft")
    wait_until(lambda: 'histories["FedProx μ=2"]' in code.input_value())


def test_a_round_lights_its_cohort_among_the_clients(notebook: Notebook) -> None:
    notebook.scroll_to("Explorer(")
    curve = notebook.curves()["FedAvg"]
    cohorts = [
        draw_cohort(np.arange(100), 1, stream(0, "cohort", round=t)).tolist() for t in range(1, 6)
    ]
    place = """([x, y]) => {
        const plot = document.querySelector('.fedlab-main .js-plotly-plot');
        const {xaxis, yaxis} = plot._fullLayout;
        const box = plot.getBoundingClientRect();
        return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
    }"""
    veiled = """() => document.querySelector('.fedlab-strip .js-plotly-plot')._fullLayout.shapes
        .map(({x0, x1}) => (x0 + x1) / 2)"""
    for number in (2, 4):
        notebook.page.mouse.move(5, 5)
        wait_until(lambda: notebook.page.evaluate(veiled) == [])
        notebook.page.mouse.move(*notebook.page.evaluate(place, [number, curve[number - 1]]))
        wait_until(lambda: notebook.page.evaluate(veiled))
        assert sorted({*range(100)} - set(notebook.page.evaluate(veiled))) == cohorts[number - 1]
    notebook.page.mouse.move(5, 5)


def test_a_kept_curve_stays_and_makes_the_chart_higher(notebook: Notebook) -> None:
    chart = notebook.explorer.locator(".fedlab-main .js-plotly-plot")
    before = notebook.curves()
    height = chart.evaluate("chart => chart.clientHeight")
    # by the keyboard: a page that moves under load can lose a click
    notebook.explorer.locator("button", has_text="Keep curves").press("Enter")
    notebook.press("μ of FedProx", "ArrowLeft")
    after = notebook.wait_for(rounds(5, "FedAvg", "FedProx μ=1", "FedProx μ=2 (kept)"))
    assert after["FedProx μ=2 (kept)"] == before["FedProx μ=2"]
    wait_until(lambda: chart.evaluate("chart => chart._fullLayout.height") > height)
    wait_until(lambda: chart.evaluate("chart => chart.clientHeight") > height)


def test_charts_are_as_wide_as_their_place(notebook: Notebook) -> None:
    widths = """() => Array.from(document.querySelectorAll('.fedlab-training .js-plotly-plot'),
        plot => [plot.clientWidth, plot._fullLayout.width])"""
    for width in (1100, 700, 1400):
        notebook.page.set_viewport_size({"width": width, "height": 900})
        notebook.scroll_to("Explorer(")  # what is above it has another height now
        wait_until(
            lambda: (
                (found := notebook.page.evaluate(widths))
                and all(abs(room - used) < 2 for room, used in found)
            )
        )


def test_there_was_no_error(notebook: Notebook) -> None:
    alerts = notebook.page.get_by_role("alert")
    wait_until(lambda: not any(alerts.all_inner_texts()))  # a busy kernel may answer late
    assert (
        notebook.page.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']"
        ).count()
        == 0
    )
    assert (
        notebook.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").all_inner_texts()
        == []
    )
    assert notebook.faults == []
