"""A NameError in a cell below cells that have not run: it says which cells to run first."""

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course import skipped
from fedlab_course.harness import kernel


@pytest.fixture(scope="module")
def errors() -> list[NotebookNode]:
    """The errors of some cells of a kernel that has run the first cell of a chapter, and none of
    the next cells.
    """
    sources = (
        "from fedlab_course import Playground",
        "fed.num_clients",
        "[].missing",
        "def f():\n    return mu\n\nf()",
    )
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(
            notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config
        ).execute()
    return [output for cell in notebook.cells for output in cell.outputs]


def test_a_missing_name_says_to_run_the_cells_above(errors: list[NotebookNode]) -> None:
    missing, _, inside = errors
    assert (missing.ename, missing.evalue) == ("NameError", "name 'fed' is not defined")
    shown = "\n".join(missing.traceback)
    assert "fed.num_clients" in shown  # the traceback stays
    assert (
        "If a cell above defines fed, run the cells above first: menu Run → Run All Above" in shown
    )
    assert shown.count("Run All Above") == 1
    assert "If a cell above defines mu, " in "\n".join(inside.traceback)


def test_other_errors_stay_as_they_are(errors: list[NotebookNode]) -> None:
    assert errors[1].ename == "AttributeError"
    assert "Run All Above" not in "\n".join(errors[1].traceback)


def test_outside_ipython_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(skipped.sys.modules, "IPython", raising=False)
    skipped.install()
