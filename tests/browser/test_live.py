"""Live charts where it is hard: slow machines, small windows, no kernel, no Plotly, a notebook
opened again.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.lab import DRAWN, Notebook, wait_until, write

IMPORT = """\
import fedlab_core as fl
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import Explorer, ideas
from fedlab_course.chapters.ch02_fedprox import ideas as ideas_02
from fedlab_course.chapters.ch03_scaffold import ideas as ideas_03

def line(x, n):
    figure = new_figure(title=None, x_title="x", y_title="y")
    figure.add_scatter(x=x, y=[n + i for i in x], name="FedAvg", mode="lines")
    set_description(figure, f"A line from {n}.", ["x"], [["0"]])
    return figure

def planted(clients=1):
    drawn = {n: line([*range(clients + 1)], n) for n in (1, 2)}
    return ideas.gallery(drawn, "number")"""
SHORT = "Explorer(rounds=5, num_clients=10, clients_per_round=4, local_epochs=1)"
LONG = "Explorer(rounds=1000, local_epochs=20)"
# As another page or a script does it: this page's own JupyterLab is not asked.
RESTART = """async () => {
    const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
    const address = `${kernel.serverSettings.baseUrl}api/kernels/${kernel.id}/restart`;
    const headers = { Authorization: `token ${kernel.serverSettings.token}` };
    const response = await fetch(address, { method: "POST", headers });
    if (!response.ok) throw new Error(`${response.status}`);
}"""

pytestmark = pytest.mark.needs_browser


@pytest.fixture
def open_notebook(lab: str, folder: Path, chromium) -> Iterator:
    """Write a notebook of code cells, open it and run it."""
    opened: list[Notebook] = []

    def start(*cells: str, name: str = "live.ipynb", **browser) -> Notebook:
        write(folder / name, *cells)
        opened.append(Notebook(chromium, lab.format(name), **browser))
        opened[-1].run()
        return opened[-1]

    yield start
    for notebook in opened:
        if not notebook.page.is_closed():
            end(notebook)


def end(notebook: Notebook) -> None:
    """Close the notebook and end its kernel."""
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()


def contrast(page: Page, selector: str) -> float:
    """The contrast of a text against what is painted behind it, as WCAG 2 has it; 0 for one that
    was just replaced.
    """
    colours = page.locator(selector).first.evaluate(
        """node => {
            if (!node.isConnected) return null;
            const numbers = text => text.match(/[\\d.]+/g).map(Number);
            const background = node => numbers(getComputedStyle(node).backgroundColor);
            let behind = node;
            while (background(behind)[3] === 0) behind = behind.parentElement;
            return [numbers(getComputedStyle(node).color), background(behind)];
        }"""
    )
    if colours is None:
        return 0.0

    def luminance(rgb: list[float]) -> float:
        linear = [
            v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            for v in (c / 255 for c in rgb[:3])
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.slow
def test_no_chart_stays_empty_on_a_slow_machine(open_notebook) -> None:
    figures = [
        "ideas_02.over_rates()",
        "planted()",
        "ideas_03.corrections()",
        "planted(clients=200)",
    ]
    notebook = open_notebook(IMPORT, SHORT, SHORT, *figures, slower=4)
    for source in (SHORT, *figures):
        notebook.scroll_to(source)
        wait_until(lambda page=notebook.page: (drawn := page.evaluate(DRAWN)) and all(drawn))
    assert notebook.faults == []


def test_an_explorer_fits_the_window_and_its_chart_stays_in_sight(open_notebook) -> None:
    # a low first cell
    notebook = open_notebook("from fedlab_course import Explorer", SHORT, *["pass"] * 20)
    notebook.scroll_to(SHORT)
    wait_until(lambda: "done" in notebook.status())
    for width, height, most in ((1400, 900, 560), (1000, 700, 579), (390, 844, None)):
        notebook.page.set_viewport_size({"width": width, "height": height})
        if width < 600:
            notebook.page.evaluate(
                "window.jupyterapp.commands.execute('application:toggle-left-area')"
            )
        notebook.scroll_to(SHORT)
        wait_until(lambda: all(notebook.page.evaluate(DRAWN)))
        wait_until(
            lambda width=width, most=most: fits(notebook.explorer.bounding_box(), width, most)
        )
        pane = notebook.page.locator(".jp-WindowedPanel-outer").bounding_box()
        for label in ("μ of FedProx", "rounds"):
            notebook.slider(label).evaluate("slider => slider.scrollIntoView({block: 'end'})")
            chart = notebook.explorer.locator(".fedlab-main .fedlab-canvas").bounding_box()
            slider = notebook.slider(label).bounding_box()
            assert chart["y"] >= pane["y"] - 1, label
            assert chart["y"] + chart["height"] <= pane["y"] + pane["height"] + 1, label
            assert slider["y"] >= chart["y"] + chart["height"] or slider["x"] < chart["x"], label


def fits(box: dict[str, float], width: int, most: int | None) -> bool:
    """Whether a box lies in a window so wide, and is at the
    ``most`` so high, if that is limited.
    """
    return (
        (most is None or box["height"] <= most)
        and box["x"] >= 0
        and box["x"] + box["width"] <= width
    )


@pytest.mark.slow
def test_on_a_telephone_what_changes_out_of_sight_is_drawn(
    lab: str, folder: Path, chromium
) -> None:
    first = "Explorer(rounds=20)"
    write(folder / "narrow.ipynb", IMPORT, first, SHORT, SHORT, *["pass"] * 10)
    notebook = Notebook(chromium, lab.format("narrow.ipynb"), size=(390, 844))
    notebook.page.evaluate("window.jupyterapp.commands.execute('application:toggle-left-area')")
    notebook.run()
    notebook.scroll_to(first)
    wait_until(lambda: "done, 40 of 40" in notebook.status())
    wait_until(lambda: all(notebook.page.evaluate(DRAWN)))
    assert notebook.explorer.locator(".fedlab-main .fedlab-canvas").bounding_box()["width"] > 200
    assert notebook.explorer.locator("button", has_text="Stop").bounding_box()["width"] > 30
    end(notebook)


OWN = """import fedlab_core as fl
from fedlab_course import Explorer
from fedlab_course.chapters import ch07_bug_clinic as clinic
class Mine(fl.Algorithm):
    def __init__(self, pull=0.5):
        self.pull = pull"""


@pytest.mark.slow
def test_a_race_and_a_riddle_fit_the_window_and_a_guess_is_answered(open_notebook) -> None:
    race = f"{SHORT[:-1]}, own=Mine)"
    riddle = f"clinic.who_is_it(1, {SHORT[9:]}"
    notebook = open_notebook(OWN, race, riddle, *["pass"] * 10)
    wait_until(lambda: "done" in notebook.status())
    assert "Mine pull=0.5" in notebook.curves()
    for source in (race, riddle):
        notebook.scroll_to(source)
        cell = notebook.page.locator(".jp-CodeCell", has_text=source[:16])
        explorer = cell.locator(".fedlab-training")
        wait_until(lambda one=explorer: "done" in one.locator(".fedlab-main").inner_text())
        top = explorer.bounding_box()["y"]
        needed = [
            *explorer.get_by_role("slider").all(),
            explorer.locator(".fedlab-main .fedlab-canvas"),
        ]
        needed += [explorer.locator("button", has_text=name) for name in ("Run", "Stop")]
        for one in needed:
            box = one.bounding_box()
            assert box["y"] + box["height"] - top <= 560
    assert explorer.get_by_role("status").filter(has_text="Case 2. It says that it is").count() == 1
    explorer.get_by_label("who is it?").select_option("Patient 1")
    explorer.locator("button", has_text="Name it").press("Enter")
    explorer.get_by_role("status").filter(has_text="it is").filter(has_text="Patient").wait_for()
    assert notebook.faults == []


@pytest.mark.slow
def test_without_jupyterlabs_plotly_the_kernel_sends_its_own_once(open_notebook) -> None:
    notebook = open_notebook("pass")
    notebook.page.evaluate("delete window._JUPYTERLAB['jupyterlab-plotly']")
    frames: list[int] = []
    devtools = notebook.page.context.new_cdp_session(notebook.page)
    devtools.send("Network.enable")
    devtools.on(
        "Network.webSocketFrameReceived",
        lambda event: frames.append(len(event["response"]["payloadData"])),
    )
    notebook.page.evaluate(
        """async cells => {
            const panel = window.jupyterapp.shell.currentWidget;
            const {sharedModel} = panel.content.model;
            sharedModel.insertCells(1, cells.map(source => ({cell_type: 'code', source})));
            await window.jupyterapp.commands.execute('notebook:run-all-cells');
        }""",
        [IMPORT, SHORT, "planted()"],
    )
    wait_until(lambda: len(drawn := notebook.page.evaluate(DRAWN)) == 3 and all(drawn))
    assert sum(size > 1_000_000 for size in frames) == 1
    assert notebook.faults == []


@pytest.mark.slow
def test_a_saved_notebook_shows_its_last_pictures_when_it_is_opened_again(
    open_notebook, folder, lab, chromium
) -> None:
    notebook = open_notebook(IMPORT, SHORT, "planted()", name="saved.ipynb")
    wait_until(lambda: "done" in notebook.status())
    shown = notebook.curves()
    notebook.save()
    saved = json.loads((folder / "saved.ipynb").read_text(encoding="utf-8"))
    assert "widgets" not in saved["metadata"]
    assert len(json.dumps(saved)) < 150_000
    end(notebook)
    again = Notebook(chromium, lab.format("saved.ipynb"))
    again.scroll_to(SHORT)
    plots = again.page.locator(".jp-RenderedPlotly.js-plotly-plot:visible")
    wait_until(lambda: plots.count() == 2)
    lines = plots.first.evaluate(
        "plot => plot._fullData.map(trace => [trace.name, Array.from(trace.y)])"
    )
    assert dict(lines) == shown
    error = again.page.get_by_text("Error displaying widget").first
    assert error.evaluate("node => getComputedStyle(node).fontSize") == "0px"
    assert error.evaluate("node => getComputedStyle(node, '::after').content").startswith(
        '"This explorer moves when'
    )
    end(again)


def lost(notebook: Notebook, number: int = 0) -> str:
    """What an explorer or idea of the notebook says about its connection to the kernel."""
    return notebook.page.locator(".fedlab-lost").nth(number).inner_text()


@pytest.mark.slow
def test_after_a_restart_every_explorer_says_that_it_is_dead_and_the_cell_makes_a_new_one(
    open_notebook,
) -> None:
    notebook = open_notebook(IMPORT, LONG, "ideas_02.over_rates()")
    wait_until(lambda: "training" in notebook.status())
    wait_until(
        lambda: (
            all(notebook.page.evaluate(DRAWN))
            and notebook.page.locator(".fedlab-lost").count() == 2
        )
    )
    notebook.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    for number in (0, 1):
        wait_until(
            lambda number=number: lost(notebook, number).startswith(
                "No longer connected to the kernel: run"
            )
        )
    assert notebook.explorer.evaluate("explorer => explorer.inert")
    assert notebook.status() == ""
    notebook.run()
    wait_until(lambda: "training" in notebook.status())
    assert lost(notebook) == ""
    assert not notebook.explorer.evaluate("explorer => explorer.inert")


def test_a_kernel_that_somebody_else_restarted_is_missed_when_a_control_moves(
    open_notebook,
) -> None:
    """A restart through the server's API is no event on this page: only the missing answer shows
    it.
    """
    notebook = open_notebook(IMPORT, SHORT)
    wait_until(lambda: "done" in notebook.status())
    answer = notebook.explorer.locator(".fedlab-answer")
    notebook.press("μ of FedProx", "ArrowRight")
    wait_until(lambda: answer.text_content())
    wait_until(lambda: "FedProx μ=2" in notebook.curves())
    assert lost(notebook) == ""
    notebook.page.evaluate(RESTART)
    notebook.press("μ of FedProx", "ArrowRight")
    wait_until(
        lambda: lost(notebook).startswith("No longer connected? The kernel does not answer.")
    )
    assert lost(notebook).endswith("run this cell again.")
    notebook.run()
    wait_until(
        lambda: "done" in notebook.status() and notebook.page.locator(".fedlab-lost").count() == 1
    )
    assert lost(notebook) == ""


THEME = "theme => window.jupyterapp.commands.execute('apputils:change-theme', {theme})"
IS_LIGHT = "light => document.body.dataset.jpThemeLight === String(light)"


@pytest.mark.slow
def test_axe_finds_nothing_on_live_charts_also_at_150_percent(open_notebook) -> None:
    pytest.importorskip("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    show = "from fedlab_course import scene\n"
    show += 'scene.play({"stays": lambda w, k, gradient, eta, steps: w}, title="Nobody walks")'
    notebook = open_notebook(IMPORT, SHORT, "ideas_02.over_rates()", show)
    wait_until(lambda: "done" in notebook.status())
    wait_until(lambda: (drawn := notebook.page.evaluate(DRAWN)) and all(drawn))
    found = []
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            notebook.page.evaluate(THEME, theme)
            notebook.page.wait_for_function(IS_LIGHT, arg="Light" in theme)
            for width, height in ((1400, 900), (1400 * 2 // 3, 900 * 2 // 3)):
                notebook.page.set_viewport_size({"width": width, "height": height})
                wait_until(lambda: all(notebook.page.evaluate(DRAWN)))
                scope = {"include": [[".fedlab-explorer"], [".fedlab-scene"]]}
                said = Axe().run(notebook.page, context=scope).response
                assert len(said["passes"]) > 10
                for one in said["violations"]:
                    found.append(f"{theme}, {width} px: {one['id']} at {one['nodes'][0]['html']}")
    finally:
        notebook.page.evaluate(THEME, "JupyterLab Light")
    assert found == []


@pytest.mark.slow
def test_everything_can_be_read_on_a_dark_theme(open_notebook) -> None:
    verdicts = (
        "from fedlab_course.check import claims, exercises\nclaims.check('so', True, 'two seeds')\n"
    )
    verdicts += "claims.check('not so', False, 'three')\nexercises.check('02-local', ...)"
    notebook = open_notebook(f"{verdicts}\n{IMPORT}", SHORT, f"{SHORT[:-1]}, lr=1e30)")
    wait_until(lambda: notebook.page.get_by_role("status").filter(has_text="Diverged").count() == 2)
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            notebook.page.evaluate(THEME, theme)
            notebook.page.wait_for_function(IS_LIGHT, arg="Light" in theme)
            verdict = [
                f".fedlab-{kind} {part}"
                for kind in ("verdict", "exercise")
                for part in ("strong", "div")
            ]
            for text in (".fedlab-note", "[data-kind=result]", ".fedlab-data summary", *verdict):
                wait_until(lambda text=text: contrast(notebook.page, text) >= 4.5)
    finally:
        notebook.page.evaluate(THEME, "JupyterLab Light")
