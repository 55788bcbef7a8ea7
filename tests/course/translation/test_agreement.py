"""What is compared without knowing the language."""

import ast
from pathlib import Path

import pytest

from fedlab_course.translation import extraction
from fedlab_course.translation.agreement import differences, wrong_terms

SOURCE = "After 10 rounds $w$ moves by 0.5, see [this](a.ipynb) and `f(x)`.<!-- 01-a holds -->"


def test_the_same_things_in_another_order_agree() -> None:
    text = "见[此](a.ipynb)和 `f(x)`：在 10 轮之后，$w$ 移动 0.5。<!-- 01-a holds -->"
    assert differences(SOURCE, text) == []


@pytest.mark.parametrize(
    ("lost", "word"),
    [
        ("10", "numbers"),
        ("0.5", "numbers"),
        ("$w$", "formulas"),
        ("(a.ipynb)", "addresses"),
        ("`f(x)`", "code"),
        ("<!-- 01-a holds -->", "marks"),
    ],
)
def test_what_is_lost_is_named(lost: str, word: str) -> None:
    [fault] = differences(SOURCE, SOURCE.replace(lost, ""))
    assert word in fault and lost.strip("()") in fault


def test_fields_of_code_must_be_the_same() -> None:
    assert differences("{count} rounds", "{number} 轮") != []
    assert differences("{count} rounds", "{count} 轮") == []


def test_a_word_that_is_not_the_term_is_found(tmp_path: Path) -> None:
    page = tmp_path / "glossary.xx.md"
    page.write_text(
        "| English | 中文 | not used |\n|---|---|---|\n| client | 客户端 | 客户机、用户端 |\n",
        encoding="utf-8",
    )
    assert wrong_terms("每个客户端", page) == []
    assert wrong_terms("每个用户端", page) == ["用户端 is not used for “client”"]


def test_no_call_for_a_word_is_inside_an_f_string() -> None:
    """There Python 3.11 hides it from extraction."""
    hidden = []
    for folder in extraction.packages().values():
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr) and _asks_for_a_word(node):
                    hidden.append(f"{path}:{node.lineno}")
    assert hidden == []


def _asks_for_a_word(string: ast.JoinedStr) -> bool:
    """True for a call of ``_`` with a literal in an f-string."""
    return any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "_"
        and isinstance(node.args[0], ast.Constant)
        for node in ast.walk(string)
    )
