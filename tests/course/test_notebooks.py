"""The real notebooks: parameters, links and commands, beside what ``lint`` says of them; then, run to the end."""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders
from fedlab_course.harness import parameters, run
from fedlab_course.site.outputs import PLOTLY
from tests.course.light import light_grids
from tests.course.site.visit import Visit, violations

NOTEBOOKS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


@each
def test_it_is_valid_and_carries_no_times(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any("execution" in cell.metadata for cell in notebook.cells)


@each
def test_metadata_are_small_and_stable(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert (notebook.nbformat, notebook.nbformat_minor >= 5) == (4, True)
    assert notebook.metadata.kernelspec.name == "python3"
    assert "version" not in notebook.metadata.get("language_info", {})


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
def test_cells_install_nothing(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            assert not re.search(r"^\s*[!%]", cell.source, flags=re.MULTILINE), "no shell and no magics"


@each
def test_links_lead_to_notebooks_that_exist(path: Path) -> None:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    for target in re.findall(r"\]\(([^)#\s]+\.ipynb)", text):
        assert (path.parent / target).is_file(), target


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def quick(request, tmp_path_factory: pytest.TempPathFactory, trained: Path) -> Iterator[tuple[run.Result, Path]]:
    """A notebook run in the quick profile: the result and the folder written."""
    out = tmp_path_factory.mktemp("quick")
    with light_grids(out, trained):
        yield run.run_course(only=[request.param.stem], out=out)[0], out


def test_it_runs_in_the_quick_profile(quick) -> None:
    result, _ = quick
    assert result.error is None
    assert result.status == "ok"


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


def test_its_page_is_light_to_load(quick) -> None:
    result, out = quick
    html = (out / "site" / f"{result.name}.html").read_bytes()
    assert len(gzip.compress(html)) <= 1_500_000  # beside the one file of Plotly


@pytest.mark.needs_browser
def test_its_page_has_no_faults_in_light_and_dark_near_and_far(quick, chromium) -> None:
    pytest.importorskip("axe_playwright_python")
    result, out = quick
    visit = Visit(chromium, out / "site" / f"{result.name}.html", 1400, 900, color_scheme="light")
    with visit as page:
        page.wait_for_function("document.querySelectorAll('.canvas:not(:has(.main-svg))').length === 0")
        assert visit.faults == []  # before axe, which asks for style sheets that a page on disk may not fetch
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 667, "height": 467})  # 1000 × 700 at 150 %
        page.wait_for_function("document.querySelector('.canvas')._fullLayout.width < 640")
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        assert violations(page) == []
