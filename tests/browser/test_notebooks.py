"""Every notebook, opened in JupyterLab: no broken image, and no error on the page."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_markdown_cell

from tests.browser.lab import Notebook, wait_until, write

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
# Go through the notebook to its end, and wait for each cell until it is rendered.
READ = """async () => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    for (const [index, cell] of notebook.widgets.entries()) {
        await notebook.scrollToItem(index, 'start');
        await cell.ready;
    }
}"""
RENDERED = """() => window.jupyterapp.shell.currentWidget.content.widgets.filter(
    cell => cell.isAttached && !cell.isPlaceholder()
        && (cell.model.type !== 'markdown'
            || cell.node.querySelector('.jp-MarkdownOutput')?.hasChildNodes())).length"""
PENDING = """() => Array.from(document.querySelectorAll('.jp-Notebook img'))
    .filter(image => !image.complete).length"""
BROKEN = """() => Array.from(document.querySelectorAll('.jp-Notebook img'))
    .filter(image => image.naturalWidth === 0)
    .map(image => `broken image: ${image.outerHTML.slice(0, 200)}`)"""
# what JupyterLab writes in the place of such an image
UNKNOWN_IMAGE = "Cannot render unknown image mime type"

pytestmark = pytest.mark.needs_browser


def faults_of(notebook: Notebook) -> list[str]:
    """Errors of the page, once every cell is rendered, and broken images; ends the kernel and
    closes the page.
    """
    page = notebook.page
    cells = page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length")
    page.evaluate(READ)
    wait_until(lambda: page.evaluate(RENDERED) == cells)
    wait_until(lambda: page.evaluate(PENDING) == 0)
    found = [*notebook.faults, *page.evaluate(BROKEN)]
    found += [UNKNOWN_IMAGE] * page.get_by_text(UNKNOWN_IMAGE).count()
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    page.close()
    return found


@pytest.mark.slow
def test_every_notebook_opens_without_an_error_and_without_a_broken_image(
    lab: str, folder: Path, chromium: Any
) -> None:
    assert len(NOTEBOOKS) >= 15
    found = {}
    for path in NOTEBOOKS:
        shutil.copy(path, folder)
        found[path.name] = faults_of(Notebook(chromium, lab.format(path.name)))
    assert found == {path.name: [] for path in NOTEBOOKS}


def test_an_attachment_that_is_missing_or_is_no_picture_is_found(
    lab: str, folder: Path, chromium: Any
) -> None:
    missing = new_markdown_cell("![missing](attachment:missing.png)")
    damaged = new_markdown_cell("![damaged](attachment:damaged.png)")
    damaged["attachments"] = {"damaged.png": {"image/png": "bm8gcGljdHVyZQ=="}}
    unknown = new_markdown_cell("![unknown](attachment:unknown.tif)")
    unknown["attachments"] = {"unknown.tif": {"image/tiff": "bm8gcGljdHVyZQ=="}}
    above = ["pass"] * 40  # the pictures are far out of sight
    write(folder / "attachments.ipynb", *above, missing, damaged, unknown)
    found = "\n".join(faults_of(Notebook(chromium, lab.format("attachments.ipynb"))))
    for name in ("missing", "damaged", "unknown"):
        assert name in found


def test_an_output_that_writes_an_error_to_the_console_is_found(
    lab: str, folder: Path, chromium: Any
) -> None:
    script = (
        "console.error('planted error'); setTimeout(() => { throw new Error('planted throw'); })"
    )
    write(
        folder / "script.ipynb",
        f'from IPython.display import HTML\nHTML("<p>done</p><script>{script}</script>")',
    )
    notebook = Notebook(chromium, lab.format("script.ipynb"))
    notebook.run()
    notebook.page.locator(".jp-OutputArea p", has_text="done").wait_for()
    assert faults_of(notebook) == ["planted error", "planted throw"]
