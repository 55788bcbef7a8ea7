"""The rules for notebooks: each finds its fault, and the notebooks of the course have none."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import folders, lint
from fedlab_course.cli import main
from fedlab_course.publish import symbols


def test_the_notebooks_of_the_course_have_no_fault() -> None:
    for path in sorted(folders.NOTEBOOKS.glob("*.ipynb")):
        assert lint.check(path) == [], path


def written(folder: Path, change: Callable[[list], None]) -> Path:
    made = [
        new_markdown_cell(
            "# Title\n\nFedProx with $\\mu$.\n\n## Part\n\n```python\n# not a heading\n```",
            id="title",
        ),
        new_code_cell("mu = 1", id="parameters", metadata={"tags": ["parameters"]}),
        new_code_cell('print("FedProx, μ =", mu)', id="say"),
    ]
    change(made)
    path = folder / "99_planted.ipynb"
    notebook = new_notebook(cells=made)
    nbformat.write(notebook, path)
    return path


def counted(made: list) -> None:
    made[2].execution_count = 4


def attached(kind: str, name: str = "card.png") -> Callable[[list], None]:
    def change(made: list) -> None:
        made[0].attachments = {name: {kind: "AAAA"}}
        made[0].source += "\n\n![A card.](attachment:card.png)"

    return change


def source(number: int, text: str) -> Callable[[list], None]:
    def change(made: list) -> None:
        made[number].source = text

    return change


FAULTS = [
    (counted, "cell say: holds outputs or an execution count"),
    (lambda made: made[1].metadata.pop("tags"), "0 cells have the tag parameters"),
    (lambda made: made[2].metadata.update(tags=["parameters"]), "2 cells have the tag parameters"),
    (source(0, "## No title"), "the first heading must be the title"),
    (source(0, "# One\n\n# Two"), "the only one of level 1"),
    (source(0, "# One\n\n### Three"), "a heading of level 3 follows one of level 1"),
    (source(2, "\n".join(["x = 1"] * 21)), "cell say: has 21 lines that are not blank"),
    (source(2, "x = " + "1" * 95), "cell say: has a line of 99 columns; at most 98"),
    (
        attached("image/svg+xml"),
        "cell title: attachment card.png: is image/svg+xml; must be image/png or image/jpeg",
    ),
    (
        attached("image/png", "other.png"),
        "cell title: attachment card.png: is named in the text, and is missing",
    ),
]


def test_each_fault_is_found(tmp_path: Path) -> None:
    assert lint.check(written(tmp_path, lambda made: None)) == []
    assert lint.check(written(tmp_path, attached("image/png"))) == []
    for change, said in FAULTS:
        faults = lint.check(written(tmp_path, change))
        assert any(said in fault for fault in faults), faults


def test_a_missing_exercise_is_a_fault(tmp_path: Path) -> None:
    path = written(tmp_path, lambda made: None).rename(tmp_path / "02_other.ipynb")
    assert "cell ex-02-local-answer is missing" in "\n".join(lint.check(path))


def test_the_command_lists_the_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, counted)
    assert main(["lint", "--notebooks", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "99_planted.ipynb: cell say: holds outputs" in captured.err
    assert captured.out == "1 fault\n"
    written(tmp_path, lambda made: None)
    assert main(["lint", "--notebooks", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no faults\n"


def test_the_sheet_is_a_table_whose_formulas_the_site_can_show() -> None:
    from fedlab_course.publish.markdown import to_html

    html = to_html(symbols.table())
    assert html.count("<tr>") == len(symbols.SYMBOLS) + 1
    assert html.count("<math") == symbols.table().count("$") / 2
    assert "$" not in html
