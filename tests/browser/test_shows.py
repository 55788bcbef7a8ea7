"""Moving pictures in JupyterLab, which has uses of its own for the keys."""

from pathlib import Path

import pytest

from tests.browser.lab import Notebook, write

pytestmark = pytest.mark.needs_browser


def test_the_arrow_keys_belong_to_the_picture(lab: str, folder: Path, chromium) -> None:
    write(folder / "shows.ipynb", "pass", "from fedlab_course import shows\nshows.drifting()")
    notebook = Notebook(chromium, lab.format("shows.ipynb"))
    notebook.run()
    handle = notebook.page.get_by_role("slider", name="minimum of client 1")
    handle.wait_for()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    handle.focus()
    before = notebook.page.evaluate(active)
    assert handle.get_attribute("aria-valuetext") == "(−1.50, −0.50)"
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft", "Shift+ArrowDown", "Shift+ArrowUp", "b"):
        notebook.page.keyboard.press(key)
    assert handle.get_attribute("aria-valuetext") == "(−1.60, −0.30)"
    assert notebook.page.evaluate(active) == before
    assert handle.evaluate("node => node === document.activeElement")
    notebook.page.get_by_role("button", name="Next round").press("b")  # which adds a cell elsewhere
    assert (
        notebook.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length") == 2
    )
    assert notebook.faults == []
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()
