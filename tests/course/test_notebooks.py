"""The real notebooks: tidy as committed, and running from top to bottom."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from fedlab_core.course import harness, parameters
from fedlab_core.course.outputs import PLOTLY

NOTEBOOKS = sorted(harness.NOTEBOOKS.glob("*.ipynb"))
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
LONGEST_CELL = 20
SECONDS = 80  # twice what the quick profile may take on an idle machine with two cores: tests share theirs


def headings(notebook) -> Iterator[int]:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text = re.sub(r"^(```|~~~).*?^\1", "", cell.source, flags=re.DOTALL | re.MULTILINE)
            yield from (len(mark) for mark in re.findall(r"^(#{1,6}) ", text, flags=re.MULTILINE))


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@each
def test_nothing_that_was_run_is_committed(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert "widgets" not in notebook.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
            assert "execution" not in cell.metadata


@each
def test_metadata_are_small_and_stable(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert (notebook.nbformat, notebook.nbformat_minor >= 5) == (4, True)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "version" not in notebook.metadata.get("language_info", {})
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)


@each
def test_parameters_are_declared_once_with_types_and_help(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    tagged = [cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    declared = parameters.declared(path)
    assert {"profile", "dataset", "seeds"} <= set(declared)
    assert all(entry.help for entry in declared.values())
    lines = [line for line in tagged[0].source.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) == len(declared), "the parameters cell holds parameters only, one a line"


@each
def test_headings_start_with_one_title_and_skip_no_level(path: Path) -> None:
    levels = list(headings(nbformat.read(path, as_version=4)))
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@each
def test_code_cells_are_short_and_install_nothing(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert cell.source.strip(), "an empty cell"
            assert len(cell.source.splitlines()) <= LONGEST_CELL, cell.source.splitlines()[0]
            assert not re.search(r"^\s*[!%]", cell.source, flags=re.MULTILINE), "no shell and no magics"


@each
def test_links_lead_to_notebooks_that_exist(path: Path) -> None:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)#\s]+\.ipynb)", text):
        assert (path.parent / target).is_file(), target


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def quick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[harness.Result, Path]:
    """A notebook run in the quick profile: the result and the folder written."""
    out = tmp_path_factory.mktemp("quick")
    return harness.run_course(only=[request.param.stem], out=out)[0], out


def test_it_runs_in_the_quick_profile(quick) -> None:
    result, _ = quick
    assert result.error is None
    assert result.status == "ok"
    assert result.seconds < SECONDS


def test_its_figures_have_text_alternatives(quick) -> None:
    result, out = quick
    notebook = nbformat.read(out / "notebooks" / f"{result.name}.ipynb", as_version=4)
    shown = [output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])]
    figures = [data[PLOTLY]["layout"] for data in shown if PLOTLY in data]
    assert figures
    assert [layout.get("title") for layout in figures if not layout.get("meta", {}).get("alt")] == []


def test_its_page_loads_nothing_from_elsewhere(quick) -> None:
    result, out = quick
    html = (out / "site" / f"{result.name}.html").read_text(encoding="utf-8")
    assert re.findall(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"'](?!data:|assets/)[^\"']*", html) == []


@each
@pytest.mark.needs_data("mnist")
def test_it_runs_on_mnist(path: Path, tmp_path: Path) -> None:
    assert harness.run_course(only=[path.stem], dataset="mnist", out=tmp_path)[0].error is None
