"""The rules for chapters: each finds its fault in a chapter that has none otherwise."""

from collections.abc import Callable
from dataclasses import replace

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from fedlab_course import lint as rules
from fedlab_course import outline, reading
from fedlab_course.check import questions
from fedlab_course.check.questions import Bank, Option, Prediction, Question
from fedlab_course.evidence import judging

PREDICTIONS = {
    f"99-{name}": Prediction(f"99-{name}", "What?", {"a": "A", "b": "B"}, "a", "It is.")
    for name in "pqr"
}
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
    next(id for id, one in judging.stored().items() if one.finding.verdict == word)
    for word in ("holds", "undecided")
)


def notebook() -> nbformat.NotebookNode:
    asked = "\n".join(f'questions.predict("{id}")\nquestions.outcome("{id}")' for id in PREDICTIONS)
    cells = [
        new_markdown_cell("# Planted\n\n**Time**: 1 minutes to read", id="title"),
        new_code_cell(
            'dataset = "digits"\nmu = 0.1', id="given", metadata={"tags": ["parameters"]}
        ),
        new_code_cell('data, build_model, setting = chapter.begin("99", globals())', id="begin"),
        new_markdown_cell("## Part\n\nWe take $z$ and $\\mu$.", id="part"),
        new_code_cell(asked, id="run"),
        new_markdown_cell(
            f"It ends higher. <!-- {HOLDS} holds, live --> So be it. <!-- exact -->", id="seen"
        ),
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
    (
        source("seen", "Est plus haut. <!-- 999-9 holds -->"),
        "'999-9 holds': must be a stored statement",
    ),
    (source("seen", f"Es steigt. <!-- {HOLDS} -->"), "is 'holds'"),
    (
        source("seen", f"<!-- live, {HOLDS} undecided -->"),
        f"'{HOLDS} undecided': the stored verdict on",
    ),
    (source("seen", f"<!-- live,\n{UNDECIDED} holds -->"), "is 'undecided'"),
    (
        source("seen", "<!-- approximately -->"),
        "'approximately': must be a stored statement, 'live' or 'exact'",
    ),
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
    (
        source("begin", f'chapter.begin("99")\nclaims.stored{(HOLDS,) * 4}'),
        "in section: 4; at most 3",
    ),
]


def test_a_chapter_keeps_its_limits() -> None:
    for change, words in LONG:
        assert any(fault.startswith(words) for fault in faults(change)), words


def test_a_student_meets_formulas_questions_and_verdicts_and_no_comments() -> None:
    counted = reading.length(notebook())
    text = 7 + 7 + 6 + 4 + 5 * 3  # title and time, the part, what was seen, what to remember
    asked = 3 * 3 + 3 * (1 + 3)  # three predictions with two options, three questions with three
    assert (counted.cells, counted.words, counted.verdicts, counted.folded) == (
        8,
        text + asked,
        0,
        3 * 2,
    )
    assert counted.lines == 3  # two parameters, and chapter.begin; the rest only speaks


def test_predictions_are_told_after_they_are_asked() -> None:
    late = 'questions.outcome("99-p")\nquestions.predict("99-p")'
    found = faults(
        lambda cells: cells["run"].update(
            source=cells["run"].source.replace(
                'questions.predict("99-p")\nquestions.outcome("99-p")', late
            )
        )
    )
    assert len(found) == 1 and "99-p needs one questions.predict" in found[0]


def test_code_and_upright_words_are_no_letters() -> None:
    assert (
        faults(source("part", "## Part\n\n`$q$` and $\\text{quick}$ and $\\operatorname{arg} z$."))
        == []
    )


def test_a_symbol_of_the_chapter_is_not_on_the_sheet() -> None:
    taken = replace(CHAPTER, also={"\\mu": "another thing", "z": "a letter"})
    assert any("on the symbol sheet already" in fault for fault in rules.faults(notebook(), taken))


COURSE_FILE = "`results/COURSE.md`"
CLAIMS_FILE = "`results/claims/001.md`"


def beside(call: str, sentence: str, before: str = "") -> list[str]:
    """The faults of a chapter with a section that shows stored statements."""
    made = notebook()
    made.cells[6:6] = [
        new_markdown_cell(f"{before}\n\n## Shown", id="shown-title"),
        new_code_cell(call, id="shown"),
        new_markdown_cell(f"{sentence}\n\n## The next section", id="shown-seen"),
    ]
    return list(rules.faults(made, CHAPTER))


FEW = 'claims.stored("03-few-end")'  # 03-few-start compares the same runs
CLAIM = 'claims.stored("001-3a", more=["001-3b"])'  # 001-3c and 001-3d are on the same claim


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ('claims.stored("03-few-end", "03-few-start")', ""),
        ('claims.stored("03-few-end", more=["03-few-start"])', ""),
        ('claims.stored("03-few-end")\nclaims.stored("03-few-start")', ""),
        (FEW, f"Not shown: the start ({COURSE_FILE}).<!-- not shown: 03-few-start -->"),
        (CLAIM, f"Not shown: the rest ({CLAIMS_FILE}).<!-- not shown: 001-3 -->"),
        (CLAIM, f"Not shown: the rest ({CLAIMS_FILE}).<!-- not shown: 001-3c, 001-3d -->"),
    ],
)
def test_a_whole_question_is_no_fault(call: str, sentence: str) -> None:
    assert beside(call, sentence) == []


@pytest.mark.parametrize(
    ("call", "sentence", "words"),
    [
        (FEW, "", "section 'Shown': shows 03-few-end and not 03-few-start, on the same question"),
        (CLAIM, "", "section 'Shown': shows 001-3a and not 001-3c, 001-3d, on the same question"),
        (
            CLAIM,
            f"Not shown: the CNN ({CLAIMS_FILE}).<!-- not shown: 001-3c -->",
            "shows 001-3a and not 001-3d",
        ),
        (FEW, "The start, too.<!-- not shown: 03-few-start -->", 'needs a sentence "Not shown: …"'),
        (
            FEW,
            f"Not shown: the start ({CLAIMS_FILE}).<!-- not shown: 03-few-start -->",
            'needs a sentence "Not shown: …" with `results/COURSE.md` before 03-few-start',
        ),
        (
            FEW + '\nclaims.stored("03-few-start")',
            f"Not shown: the start ({COURSE_FILE}).<!-- not shown: 03-few-start -->",
            "names 03-few-start as not shown, which is not left out there",
        ),
        (
            'claims.stored("03-few-end", "03-few-start")',
            f"Not shown: another claim ({CLAIMS_FILE}).<!-- not shown: 001-3 -->",
            "names 001-3 as not shown, which is not left out there",
        ),
    ],
)
def test_a_part_of_a_question_is_found(call: str, sentence: str, words: str) -> None:
    (fault,) = beside(call, sentence)
    assert words in fault


def test_a_sentence_of_another_section_does_not_count() -> None:
    sentence = f"Not shown: the start ({COURSE_FILE}).<!-- not shown: 03-few-start -->"
    found = beside(FEW, "", before=sentence)
    assert len(found) == 2
    assert "section 'Part': names 03-few-start as not shown" in found[0]
    assert "section 'Shown': shows 03-few-end" in found[1]
