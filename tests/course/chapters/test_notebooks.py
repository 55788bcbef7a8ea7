"""The chapters: their cells and links, and one run of each,
which every test of this file looks at.
"""

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders, outline
from fedlab_course.harness import course_plan, course_run, notebook_parameters
from fedlab_course.publish.outputs import PLOTLY
from tests.course.light import light_grids
from tests.course.publish.visit import Visit, violations

NOTEBOOKS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))


def test_notebooks_are_valid_small_and_stable() -> None:
    assert [path.stem for path in NOTEBOOKS] == [chapter.stem for chapter in outline.CHAPTERS]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not any("execution" in cell.metadata for cell in notebook.cells), path
        assert (notebook.nbformat, notebook.nbformat_minor >= 5) == (4, True), path
        assert notebook.metadata.kernelspec.name == "python3", path
        assert "version" not in notebook.metadata.get("language_info", {}), path


def test_parameters_are_declared_once_with_types_and_help() -> None:
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        (tagged,) = (cell for cell in cells if "parameters" in cell.metadata.get("tags", []))
        declared = notebook_parameters.declared(path)
        assert {"profile", "dataset"} <= set(declared) and {"seed", "seeds"} & set(declared), path
        assert all(entry.help for entry in declared.values()), path
        lines = [
            line for line in tagged.source.splitlines() if line.strip() and not line.startswith("#")
        ]
        assert len(lines) == len(declared), (
            f"{path}: the parameters cell must have only parameters, one a line"
        )


def test_cells_install_nothing_and_links_lead_to_notebooks() -> None:
    for path in NOTEBOOKS:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                assert not re.search(r"^\s*[!%]", cell.source, flags=re.MULTILINE), path
            else:
                for target in re.findall(r"\]\(([^)#\s]+\.ipynb)", cell.source):
                    assert (path.parent / target).is_file(), (path, target)


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def quick(
    request, tmp_path_factory: pytest.TempPathFactory, trained: Path
) -> Iterator[tuple[course_run.Result, Path]]:
    """A notebook run in the quick profile: the result and the folder written."""
    out = tmp_path_factory.mktemp("quick")
    with light_grids(out, trained):
        yield course_run.run_course(course_plan.Options(only=[request.param.stem], out=out))[0], out


def test_it_runs_in_the_quick_profile_and_its_figures_have_text_alternatives(quick) -> None:
    result, out = quick
    assert (result.status, result.error) == ("ok", None)
    notebook = nbformat.read(out / "notebooks" / f"{result.name}.ipynb", as_version=4)
    shown = [
        output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", [])
    ]
    figures = [data[PLOTLY]["layout"] for data in shown if PLOTLY in data]
    assert figures
    assert [
        layout.get("title") for layout in figures if not layout.get("meta", {}).get("alt")
    ] == []


def test_its_page_is_light_and_loads_nothing_from_elsewhere(quick) -> None:
    result, out = quick
    html = (out / "site" / f"{result.name}.html").read_text(encoding="utf-8")
    assert (
        re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=[\"'](?!data:|assets/)[^\"']*", html
        )
        == []
    )
    assert len(gzip.compress(html.encode())) <= 1_000_000  # beside the one file of Plotly


@pytest.mark.needs_browser
def test_its_page_fits_a_small_window_and_has_no_faults(quick, chromium) -> None:
    """1000 × 700 at 150 %. Every second page is dark, and axe reads each sixth: all have one style
    sheet.
    """
    result, out = quick
    number = int(result.name[:2])
    scheme = ("light", "dark")[number % 2]
    visit = Visit(chromium, out / "site" / f"{result.name}.html", 667, 467, color_scheme=scheme)
    with visit as page:
        page.wait_for_function(
            "document.querySelectorAll('.canvas:not(:has(.main-svg))').length === 0"
        )
        # before axe, which asks for style sheets that a page on disk may not fetch
        assert visit.is_clean()
        if number % 6 == 0:
            pytest.importorskip("axe_playwright_python")
            assert violations(page) == []
