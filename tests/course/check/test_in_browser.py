"""Questions on a page: chosen with the keyboard, kept, told and scored; quizzes that answer without
a script.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from fedlab_course.check import questions
from fedlab_course.check.questions import Bank, Option, Prediction, Question
from tests.course.publish.visit import Visit, site_of, violations, written

pytestmark = pytest.mark.needs_browser

PREDICTIONS = {
    "98-first": Prediction(
        "98-first", "Which $\\mu$?", {"a": "small $\\mu$", "b": "large $\\mu$"}, "b", "So it is."
    ),
    "98-second": Prediction("98-second", "Up?", {"up": "up", "down": "down"}, "down", "It fell."),
}
OPTIONS = (
    Option("one", "There is one more."),
    Option("two", "One and one.", True),
    Option("three", "One too many."),
    Option("$\\infty$", "That is more than can be counted."),
)


@pytest.fixture
def bank(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Bank(PREDICTIONS, {"98-q": Question("98-q", "1 + 1?", OPTIONS)})
    monkeypatch.setattr(questions, "of_chapter", lambda number: asked)


@pytest.fixture
def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bank: None) -> Path:
    found: list[dict[str, str]] = []
    monkeypatch.setattr(questions, "publish", found.append)
    questions.predict("98-first")
    questions.predict("98-second")
    questions.outcome("98-first")
    questions.outcome("98-second")
    questions.quiz("98")
    questions.score("98")
    return site_of(tmp_path, *found)


@pytest.fixture
def page(chromium: Any, page_of: Path) -> Iterator[Any]:
    visit = Visit(chromium, page_of)
    with visit as page:
        assert visit.is_clean()
        yield page


def test_a_choice_is_kept_told_and_scored(page: Any) -> None:
    assert "none is recorded" in page.inner_text("fedlab-score")
    told = page.locator("fedlab-outcome")
    assert told.first.inner_text().strip() == "Show the answer without choosing"
    page.locator("fedlab-predict input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")  # on to the second option
    assert "Noted" in page.locator("fedlab-predict").first.inner_text()
    assert (
        "✓ As you predicted: large" in told.first.inner_text()
        and "So it is." in told.first.inner_text()
    )
    told.nth(1).locator("summary").click()  # without a choice
    assert "It fell." in told.nth(1).inner_text() and "No prediction." in told.nth(1).inner_text()
    told.nth(1).locator("summary").click()
    page.locator("fedlab-predict").nth(1).get_by_label("up").check()
    assert "✗ You predicted: up" in told.nth(1).inner_text()
    assert "1 of the 2 that you made came out" in page.inner_text("fedlab-score")
    page.reload()
    assert page.locator("fedlab-predict input").nth(1).is_checked()
    page.click("fedlab-score button")
    assert "none is recorded" in page.inner_text("fedlab-score")
    assert not page.locator("fedlab-predict input").nth(1).is_checked()
    assert "So it is." not in told.first.inner_text()


def test_a_quiz_says_why_and_axe_finds_nothing(page: Any) -> None:
    quiz = page.locator("fedlab-quiz")
    assert "One and one" not in quiz.inner_text()
    quiz.get_by_label("three").check()
    assert "✗ No. One too many." in quiz.inner_text()
    page.keyboard.press("ArrowUp")
    assert "✓ Right. One and one." in quiz.inner_text() and "One too many" not in quiz.inner_text()
    assert "1 of 1 right" in quiz.inner_text()
    page.reload()
    assert quiz.get_by_label("two").is_checked()
    page.locator("fedlab-predict input").first.check()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_without_a_script_everything_can_be_read(chromium: Any, page_of: Path) -> None:
    with Visit(chromium, page_of, java_script_enabled=False) as page:
        page.locator("fedlab-outcome summary").nth(1).click()
        assert "What happened: down" in page.inner_text("main")
        page.locator("fedlab-quiz").get_by_label("two").check()
        assert "One and one." in page.inner_text("fedlab-quiz")


def test_what_follows_a_prediction_is_hidden_until_a_choice(
    chromium: Any, tmp_path: Path, bank: None
) -> None:
    found: list[dict[str, str]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "publish", found.append)
        questions.predict("98-first")
    asked = new_code_cell(
        'questions.predict("98-first")', outputs=[new_output("display_data", found[0])]
    )
    cells = [
        new_markdown_cell("# Title"),
        asked,
        new_markdown_cell("It is so."),
        new_markdown_cell("## Later"),
    ]
    cells += [
        new_code_cell('questions.predict("98-second")'),
        new_markdown_cell("Hidden until asked."),
    ]
    page_of = written(tmp_path, cells)
    with Visit(chromium, page_of) as page:
        assert (
            not page.get_by_text("It is so.").is_visible()
            and page.get_by_text("Later").first.is_visible()
        )
        page.locator("fedlab-predict").get_by_label("large").check()
        assert (
            page.get_by_text("It is so.").is_visible()
            and not page.get_by_text("Hidden until").is_visible()
        )
        page.get_by_role("button", name="Show what happens").click()
        assert page.get_by_text("Hidden until asked.").is_visible()
