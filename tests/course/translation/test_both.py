"""The whole course in each language: the same figures, verdicts and points."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from fedlab_core import language
from fedlab_course import grading
from fedlab_course.check import claims
from fedlab_course.explore import grid
from fedlab_course.grading import points_table
from fedlab_course.publish import build

LANGUAGES = sorted(language.languages())
DATA = {"x", "y", "z", "error_x", "error_y"}  # of a trace; names choose colours and marks


def executed(out: Path, code: str) -> dict[str, Any]:
    """The notebooks that a run of the whole course in a language leaves, by name."""
    command = [sys.executable, "-m", "fedlab_course", "run", "--out", str(out)]
    variables = os.environ | {language.VARIABLE: code}
    ran = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    folder = out / "notebooks" / ("" if code == language.SOURCE else code)
    return {path.name: nbformat.read(path, as_version=4) for path in folder.glob("*.ipynb")}


def results(notebook: Any) -> Iterator[tuple[str, Any]]:
    """What a notebook found, without words: for each cell its verdicts and the numbers of its
    figures.
    """
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if claims.VERDICT in data:
                yield cell.id, data[claims.VERDICT]["holds"]
            for stored in data.get(claims.STORED, []):
                yield cell.id, (stored["id"], stored["verdict"])
            if grid.PLOTLY in data:
                for trace in data[grid.PLOTLY]["data"]:
                    yield cell.id, {key: numbers(trace[key]) for key in DATA & trace.keys()}


def numbers(value: Any) -> Any:
    """The numbers of a trace, in their places: plain ones, and Plotly's arrays of bytes."""
    if isinstance(value, dict):
        kept = {name: numbers(part) for name, part in value.items()}
        return value if "bdata" in value else kept
    if isinstance(value, list):
        return [numbers(part) for part in value]
    return value if isinstance(value, int | float) else None


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return executed(tmp_path_factory.mktemp("english"), language.SOURCE)


@pytest.mark.slow
@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_changes_words_alone(code: str, english: dict[str, Any], tmp_path: Path) -> None:
    other = executed(tmp_path, code)
    assert other.keys() == english.keys()
    for name, notebook in other.items():
        found = list(results(notebook))
        assert found == list(results(english[name])), name
        assert found, name


@pytest.mark.slow
@pytest.mark.parametrize("code", LANGUAGES)
def test_the_solutions_get_all_points(code: str, tmp_path: Path) -> None:
    for path in build.build("instructor", tmp_path, code):
        points, of = points_table.total(grading.grade(path))
        assert points == of > 0, path.name
