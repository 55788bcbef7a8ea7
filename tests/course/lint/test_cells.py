"""The rules for notebooks: each finds its fault, and the notebooks of the course have none."""

import re
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from fedlab_course import folders, lint
from fedlab_course.cli import main
from fedlab_course.publish import glossary, symbols

NOTEBOOKS = sorted(folders.NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_of_the_course_have_no_fault(path: Path) -> None:
    assert lint.check(path) == []


def written(folder: Path, change: Callable[[list], None]) -> Path:
    made = [
        new_markdown_cell("# Title\n\nFedProx with $\\mu$.\n\n## Part\n\n```python\n# not a heading\n```", id="title"),
        new_code_cell("mu = 1", id="parameters", metadata={"tags": ["parameters"]}),
        new_code_cell('print("FedProx, μ =", mu)', id="say"),
    ]
    change(made)
    path = folder / "99_planted.ipynb"
    notebook = new_notebook(cells=made)
    nbformat.write(notebook, path)
    return path


def test_a_tidy_notebook_has_no_fault(tmp_path: Path) -> None:
    assert lint.check(written(tmp_path, lambda made: None)) == []


def output(made: list) -> None:
    made[2].outputs = [new_output("stream", name="stdout", text="x")]


def counted(made: list) -> None:
    made[2].execution_count = 4


def source(number: int, text: str) -> Callable[[list], None]:
    def change(made: list) -> None:
        made[number].source = text

    return change


def renamed(name: str) -> Callable[[list], None]:
    def change(made: list) -> None:
        made[2]["id"] = name

    return change


FAULTS = [
    (output, "cell say: holds outputs"),
    (counted, "cell say: holds outputs or an execution count"),
    (renamed("8f14e45f"), "cell 8f14e45f: its id is drawn by a program"),
    (renamed("8f14e45f-ceea-467f-a9d3-0123456789ab"), "is drawn by a program"),
    (renamed("gDMrFsyHuzIj"), "cell gDMrFsyHuzIj: its id is drawn by a program"),
    (renamed("x3kq0fp2zm1a_"), "is drawn by a program"),
    (lambda made: made[1].metadata.pop("tags"), "0 cells are tagged parameters"),
    (lambda made: made[2].metadata.update(tags=["parameters"]), "2 cells are tagged parameters"),
    (source(0, "## No title"), "the first heading must be the title"),
    (source(0, "# One\n\n# Two"), "the only one of level 1"),
    (source(0, "# One\n\n### Three"), "a heading of level 3 follows one of level 1"),
    (source(2, "\n".join(["x = 1"] * 21)), "cell say: has 21 lines, more than 20"),
    (source(2, "x = " + "1" * 95), "cell say: has a line of 99 columns, more than 98"),
    (source(2, ""), "cell say: is empty"),
    (source(0, "# T\n\nFedprox and scaffold"), "cell title: Fedprox is spelt FedProx"),
    (source(0, "# T\n\nFedprox and Scaffold"), "cell title: Scaffold is spelt SCAFFOLD"),
    (source(0, "# T\n\nLarge mu."), "cell title: mu is written μ in text"),
    (source(2, 'print("with Fedavg here")'), "cell say: Fedavg is spelt FedAvg"),
    (source(2, 'print("lambda is large")'), "cell say: lambda is written λ in text"),
    (source(2, 'def f(tau):\n    """For tau steps of fedavg."""'), "cell say: fedavg is spelt FedAvg"),
]


@pytest.mark.parametrize(("change", "said"), FAULTS, ids=[said for _, said in FAULTS])
def test_each_fault_is_found(tmp_path: Path, change: Callable[[list], None], said: str) -> None:
    faults = lint.check(written(tmp_path, change))
    assert any(said in fault for fault in faults), faults


@pytest.mark.parametrize("name", ["introduction", "Introduction", "two-clusters", "observations"])
def test_a_word_of_twelve_letters_is_a_good_id(tmp_path: Path, name: str) -> None:
    assert lint.check(written(tmp_path, renamed(name))) == []


@pytest.mark.filterwarnings("ignore:Non-unique cell id")
def test_an_id_that_is_used_twice_is_found(tmp_path: Path) -> None:
    path = written(tmp_path, lambda made: None)
    path.write_text(path.read_text().replace('"id": "say"', '"id": "title"'))
    assert "cell title: its id is used twice" in lint.check(path)


def test_a_missing_exercise_is_a_fault(tmp_path: Path) -> None:
    path = written(tmp_path, lambda made: None).rename(tmp_path / "02_other.ipynb")
    assert "cell ex-02-prox-step-answer is missing" in "\n".join(lint.check(path))


@pytest.mark.parametrize(
    "prose",
    [
        "`mu` and `fedprox` in code, $\\mu$ and $$mu$$ in formulas",
        "[text](02_fedprox.ipynb#fedavg) and https://example.org/scaffold",
        "Non-IID data, TFedAvgMas, FedAvgMas and FedAvg",
        "a museum, the beta, eta-squared",
        "```python\nfl.scaffold(mu)\n```",
    ],
)
def test_what_is_not_prose_is_left_alone(prose: str) -> None:
    assert lint.misspelt(prose) == []


def test_a_docstring_may_name_its_arguments(tmp_path: Path) -> None:
    change = source(2, 'def f(tau):\n    """For tau steps."""')
    assert lint.check(written(tmp_path, change)) == []


def test_the_command_lists_the_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, renamed("8f14e45f"))
    assert main(["lint", "--notebooks", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "99_planted.ipynb: cell 8f14e45f" in captured.err
    assert captured.out == "1 fault\n"
    written(tmp_path, lambda made: None)
    assert main(["lint", "--notebooks", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no faults\n"


def test_the_symbol_sheet_names_each_symbol_once() -> None:
    for field in ("sign", "tex"):
        values = [getattr(symbol, field) for symbol in symbols.SYMBOLS]
        assert len(set(values)) == len(values)
    codes = [symbol.code for symbol in symbols.SYMBOLS if symbol.code]
    assert len(set(codes)) == len(codes)
    assert all(symbol.meaning for symbol in symbols.SYMBOLS)


@pytest.mark.parametrize(
    ("sign", "code"),
    [("μ", "mu"), ("α", "alpha"), ("η", "lr"), ("λ", "strength"), ("Ω", "importance"), ("τ_k", "num_steps")],
)
def test_the_names_in_code_are_those_of_the_specification(sign: str, code: str) -> None:
    assert {symbol.sign: symbol.code for symbol in symbols.SYMBOLS}[sign] == code


@pytest.mark.parametrize("sign", ["h_k", "b_k", "u", "v", "I_j", "Γ", "π_k", "ξ", "a_k", "p_k"])
def test_symbols_of_single_chapters_are_on_the_sheet(sign: str) -> None:
    assert sign in {symbol.sign for symbol in symbols.SYMBOLS}


def test_a_letter_with_and_without_an_index_says_so() -> None:
    meanings = {symbol.sign: symbol.meaning for symbol in symbols.SYMBOLS}
    assert "weight" in meanings["a"] and "curvature" in meanings["a"] and "curvature" in meanings["a_k"]


def test_meanings_hold_no_raw_formulas() -> None:
    """Neither operators nor lone letters, but for the word "a"."""
    for text in [*(symbol.meaning for symbol in symbols.SYMBOLS), *glossary.GLOSSARY.values()]:
        words = re.sub(r"\$[^$]*\$", "", text)
        assert not re.search(r"[_^=/\\Σ∝‖⊙]|(?<!')\b[b-zB-Z]\b", words), text


def test_the_sheet_is_a_table_whose_formulas_the_site_can_show() -> None:
    from fedlab_course.publish.markdown import to_html

    html = to_html(symbols.table())
    assert html.count("<tr>") == len(symbols.SYMBOLS) + 1
    assert html.count("<math") == symbols.table().count("$") / 2
    assert "$" not in html
