"""The rules for chapters: each finds its fault in a chapter that has none otherwise."""

from collections.abc import Callable
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import lint as rules
from fedlab_course import reading
from fedlab_course.chapters import outline
from fedlab_course.check import questions
from fedlab_course.check.questions import Bank, Option, Prediction, Question
from fedlab_course.evidence import judging

PREDICTIONS = {f"99-{name}": Prediction(f"99-{name}", "What?", {"a": "A", "b": "B"}, "a", "It is.") for name in "pqr"}
OPTIONS = (Option("A", "Yes.", True), Option("B", "No."), Option("C", "No."))
QUIZ = {f"99-{name}": Question(f"99-{name}", "What?", OPTIONS) for name in "xyz"}
CHAPTER = outline.Chapter(
    stem="99_planted",
    track="core",
    title="Planted",
    question="What?",
    defaults={"dataset": "digits", "mu": 0.1},
    also={"z": "a letter of this chapter"},
)
HOLDS, UNDECIDED = (
    next(id for id, one in judging.stored().items() if one.finding.verdict == word) for word in ("holds", "undecided")
)


def notebook() -> nbformat.NotebookNode:
    asked = "\n".join(f'questions.predict("{id}")\nquestions.outcome("{id}")' for id in PREDICTIONS)
    cells = [
        new_markdown_cell("# Planted\n\n**Time**: 1 minutes to read", id="title"),
        new_code_cell('dataset = "digits"\nmu = 0.1', id="given", metadata={"tags": ["parameters"]}),
        new_code_cell('data, build_model, setting = chapter.begin("99", globals())', id="begin"),
        new_markdown_cell("## Part\n\nWe take $z$ and $\\mu$.", id="part"),
        new_code_cell(asked, id="run"),
        new_markdown_cell(f"It ends higher. <!-- {HOLDS} holds, live --> So be it. <!-- exact -->", id="seen"),
        new_markdown_cell("## What to remember\n\n" + "- One thing.\n" * 5, id="remember"),
        new_code_cell('questions.quiz("99")\nquestions.score("99")', id="end"),
    ]
    return new_notebook(cells=cells)


@pytest.fixture(autouse=True)
def _questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "of_chapter", lambda number: Bank(PREDICTIONS, QUIZ))


def faults(change: Callable[[dict[str, nbformat.NotebookNode]], None] | None = None) -> list[str]:
    made = notebook()
    if change is not None:
        change({cell.id: cell for cell in made.cells})
    return list(rules.faults(made, CHAPTER))


def source(id: str, text: str) -> Callable[[dict[str, nbformat.NotebookNode]], None]:
    return lambda cells: cells[id].update(source=text)


FAULTS = [
    (source("given", 'dataset = "digits"\nmu = 0.2'), "parameters mu differ"),
    (source("begin", "data = 1"), "chapter.begin"),
    (source("end", 'questions.quiz("99")'), "questions.score"),
    (source("end", 'questions.score("99")'), "questions.quiz"),
    (source("remember", "## The end" + " and so on" * 6), "What to remember"),
    (source("part", "## Part\n\nWe take $q$."), "q on no symbol sheet"),
    (source("part", "## Part\n\nWe take $\\psi_k$."), "psi on no symbol sheet"),
    (source("seen", "Est plus haut. <!-- 999-9 holds -->"), "'999-9 holds': must be a stored statement"),
    (source("seen", f"Es steigt. <!-- {HOLDS} -->"), "is 'holds'"),
    (source("seen", f"<!-- live, {HOLDS} undecided -->"), f"'{HOLDS} undecided': the stored verdict on"),
    (source("seen", f"<!-- live,\n{UNDECIDED} holds -->"), "is 'undecided'"),
    (source("seen", "<!-- approximately -->"), "'approximately': must be a stored statement, 'live' or 'exact'"),
    (source("title", "# Planted"), "**Time**: 1 minutes to read"),
]


def test_each_fault_is_found() -> None:
    assert faults() == []
    for change, words in FAULTS:
        assert [words in fault for fault in faults(change)] == [True], (words, faults(change))


LONG = [
    (source("part", "## Part" + " word" * 1800), "words: 18"),
    (source("part", "## Part\n\n<details>" + "word " * 901 + "</details>"), "folded: 9"),
    (source("begin", 'chapter.begin("99")' + "\npass" * 100), "lines: 103; at most 100"),
    (source("begin", f'chapter.begin("99")\nclaims.stored{(HOLDS,) * 4}'), "in section: 4; at most 3"),
]


def test_a_chapter_keeps_its_limits() -> None:
    for change, words in LONG:
        assert any(fault.startswith(words) for fault in faults(change)), words


def test_a_student_meets_formulas_questions_and_verdicts_and_no_comments() -> None:
    counted = reading.length(notebook())
    text = 7 + 7 + 6 + 4 + 5 * 3  # title and time, the part, what was seen, what to remember
    asked = 3 * 3 + 3 * (1 + 3)  # three predictions with two options, three questions with three
    assert (counted.cells, counted.words, counted.verdicts, counted.folded) == (8, text + asked, 0, 3 * 2)
    assert counted.lines == 3  # two parameters, and chapter.begin; the rest only speaks


def test_predictions_are_told_after_they_are_asked() -> None:
    late = 'questions.outcome("99-p")\nquestions.predict("99-p")'
    found = faults(
        lambda cells: cells["run"].update(
            source=cells["run"].source.replace('questions.predict("99-p")\nquestions.outcome("99-p")', late)
        )
    )
    assert len(found) == 1 and "99-p needs one questions.predict" in found[0]


def test_code_and_upright_words_are_no_letters() -> None:
    assert faults(source("part", "## Part\n\n`$q$` and $\\text{quick}$ and $\\operatorname{arg} z$.")) == []


def test_a_symbol_of_the_chapter_is_not_on_the_sheet() -> None:
    taken = replace(CHAPTER, also={"\\mu": "another thing", "z": "a letter"})
    assert any("on the symbol sheet already" in fault for fault in rules.faults(notebook(), taken))
