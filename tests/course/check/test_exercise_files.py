"""Exercises as they are written: code and words that do not fit together are refused, and the
notebooks have the cells of their exercises.
"""

import ast
import builtins
import re
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import folders
from fedlab_course.check import cells, exercises, registry
from fedlab_course.check.base import Exercise, Mistake
from tests.course.check.small_exercises import HALF, check_halver

NOTEBOOKS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))


def test_an_unknown_exercise_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"02-loal.*Did you mean '02-local'"):
        exercises.check("02-loal", None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"solution": check_halver}, "BEGIN SOLUTION"),
        ({"cases": ()}, "cases or a check"),
    ],
)
def test_a_badly_written_exercise_is_refused(changes: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        replace(HALF, **changes)


def test_a_mistake_that_changes_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold 'x / 3'"):
        HALF.with_mistake(Mistake("x / 3", "x", ""))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[exercise]]\nid = '99-half'\ntitel = 'Half'", "titel"),
        ("[[exercise]]\nid = '99-third'", "99-third"),
        (
            "[[exercise]]\nid = '99-proof'\ntitle = 'P'\ntask = 't'\nsolution = 's'",
            "no words for 99-half",
        ),
        ("[[exercise]\n", "Decode"),
        (
            "[[exercise]]\nid = '99-half'\n[[exercise]]\nid = '98-proof'\nsolution = 's'",
            "id='98-proof': must be 99-",
        ),
    ],
)
def test_words_that_do_not_match_the_code_are_refused(
    text, said: str, tmp_path, monkeypatch
) -> None:
    (tmp_path / "exercises.toml").write_text(text)
    stands_for = type("Module", (), {"EXERCISES": (HALF,)})
    monkeypatch.setattr("importlib.import_module", lambda name: stands_for)
    with pytest.raises(ValueError, match=rf"exercises.toml: .*{said}"):
        registry._of(
            type("Chapter", (), {"folder": tmp_path, "stem": "99_planted", "number": "99"})
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_exercises_and_imports_what_they_use(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    registered = registry.of_chapter(path.stem)
    assert cells.drift(notebook, registered) == []
    own = [one for one in registered if isinstance(one, Exercise)]
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    known = set(dir(builtins)).union(*(bound(ast.parse(source)) for source in code))
    for one in own:
        tree = ast.parse(one.solution_source)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert used - bound(tree) <= known and "exercises" in known


def bound(tree: ast.AST) -> set[str]:
    """All names that code gives a meaning, wherever it does."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found


def chapter():
    closing = new_markdown_cell(f"{cells.CLOSING}\n\n- it", id="seen")
    return new_notebook(
        cells=[new_markdown_cell("# T", id="t"), new_code_cell("1", id="one"), closing]
    )


THIRD = replace(HALF, id="99-third")


def order(notebook) -> list[str]:
    """The cells of a notebook, with one name in place of the four cells of an exercise."""
    names = [re.sub("^ex-99-(.*)-task$", r"\1", cell.id) for cell in notebook.cells]
    return [name for name in names if not name.startswith("ex-")]


def test_cells_are_written_before_the_closing_and_renewed_in_place() -> None:
    notebook = chapter()
    cells.write(notebook, [HALF])
    wanted = ["t", "one", "exercises", *(cells.cell_id(HALF, part) for part in cells.PARTS), "seen"]
    assert [cell.id for cell in notebook.cells] == wanted
    nbformat.validate(notebook)
    notebook.cells[4].source = "def half(y): ..."
    # the task and the answer, moved
    notebook.cells[1:1] = [notebook.cells.pop(3), notebook.cells.pop(3)]
    assert any("answer" in fault for fault in cells.drift(notebook, [HALF]))
    cells.write(notebook, [HALF, THIRD])
    assert cells.drift(notebook, [HALF, THIRD]) == []
    assert notebook.cells[2].source == HALF.stub_source.strip()
    assert order(notebook) == ["t", "half", "one", "exercises", "third", "seen"]
    cells.write(notebook, [])
    assert order(notebook) == ["t", "one", "exercises", "seen"]


def test_drift_is_found_in_every_part() -> None:
    for part in cells.PARTS:
        notebook = chapter()
        cells.write(notebook, [HALF])
        found = next(cell for cell in notebook.cells if cell.id == cells.cell_id(HALF, part))
        found.source += " "
        assert cells.drift(notebook, [HALF]) == [
            f"cell ex-99-half-{part} is not what the exercise says"
        ]
        notebook.cells.remove(found)
        assert cells.drift(notebook, [HALF]) == [f"cell ex-99-half-{part} is missing"]
        assert len(cells.drift(notebook, [])) == 3
