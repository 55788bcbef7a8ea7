"""Questions in JupyterLab: chosen with its keys, told in another cell, and scored."""

from pathlib import Path

import pytest

from fedlab_course.check import questions
from tests.browser.lab import Notebook, write

pytestmark = pytest.mark.needs_browser


def test_a_prediction_is_kept_and_told_in_another_cell(lab: str, folder: Path, chromium) -> None:
    one = next(iter(questions.of_chapter("01").predictions.values()))
    asked = f'questions.predict("{one.id}")'
    told = f'questions.outcome("{one.id}")'
    write(
        folder / "questions.ipynb",
        "from fedlab_course import questions",
        asked,
        told,
        'questions.score("01")',
    )
    notebook = Notebook(chromium, lab.format("questions.ipynb"))
    page = notebook.page
    notebook.run()
    page.locator("fedlab-score .sum").wait_for()
    assert "none is recorded" in page.locator("fedlab-score").inner_text()
    active = "window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    page.locator("fedlab-predict input").first.focus()
    page.keyboard.press("Space")
    for _ in range(list(one.options).index(one.happened)):
        page.keyboard.press("ArrowDown")
    assert page.evaluate(active) == 1  # the keys belong to the question
    page.locator("fedlab-outcome").get_by_text("✓ As you predicted").wait_for()
    assert "1 of the 1 that you made came out" in page.locator("fedlab-score").inner_text()
    assert notebook.faults == []
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.close()
