"""Moving pictures in JupyterLab, which has uses of its own for the keys."""

from pathlib import Path

import pytest

from tests.browser.lab import Notebook, write

pytestmark = pytest.mark.needs_browser
SCENE = """from fedlab_course import scene
scene.play({"stays": lambda w, k, gradient, eta, steps: w}, title="Nobody walks")"""


def test_the_keys_belong_to_the_picture(lab: str, folder: Path, chromium) -> None:
    write(folder / "scene.ipynb", "pass", SCENE)
    notebook = Notebook(chromium, lab.format("scene.ipynb"))
    notebook.run()
    moment = notebook.page.get_by_label("moment")
    moment.wait_for()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    notebook.page.evaluate(f"{active} = 1")
    moment.focus()
    before = notebook.page.evaluate(active)
    for key in ("ArrowUp", "ArrowRight", "ArrowLeft", "b"):
        notebook.page.keyboard.press(key)
    assert moment.input_value() == "1"
    assert notebook.page.evaluate(active) == before
    assert moment.evaluate("node => node === document.activeElement")
    notebook.page.get_by_role("button", name="Next round").press("b")  # which adds a cell elsewhere
    cells = "window.jupyterapp.shell.currentWidget.content.widgets.length"
    assert notebook.page.evaluate(cells) == 2
    assert notebook.faults == []
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()
