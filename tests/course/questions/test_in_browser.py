"""Questions on a page: chosen with the keyboard, kept, told and scored; quizzes that answer without a script."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedlab_course.check import questions
from fedlab_course.check.questions import Bank, Option, Prediction, Question
from tests.course.publish.visit import Visit, site_of, violations

pytestmark = pytest.mark.needs_browser

PREDICTIONS = {
    "98-first": Prediction("98-first", "Which $\\mu$?", {"a": "small $\\mu$", "b": "large $\\mu$"}, "b", "So it is."),
    "98-second": Prediction("98-second", "Up?", {"up": "up", "down": "down"}, "down", "It fell."),
}
OPTIONS = (
    Option("one", "There is one more."),
    Option("two", "One and one.", True),
    Option("three", "One too many."),
    Option("$\\infty$", "That is more than can be counted."),
)


@pytest.fixture
def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found: list[dict[str, str]] = []
    monkeypatch.setattr(
        questions, "of_chapter", lambda number: Bank(PREDICTIONS, {"98-q": Question("98-q", "1 + 1?", OPTIONS)})
    )
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
    assert "No prediction" in page.locator("fedlab-outcome").first.inner_text()
    page.locator("fedlab-predict input").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")  # on to the second option
    assert "Noted" in page.locator("fedlab-predict").first.inner_text()
    assert page.locator("fedlab-outcome").first.inner_text().startswith("✓ As you predicted: large")
    page.locator("fedlab-predict").nth(1).get_by_label("up").check()
    assert page.locator("fedlab-outcome").nth(1).inner_text().startswith("✗ You predicted: up")
    assert "1 of the 2 that you made came out" in page.inner_text("fedlab-score")
    page.reload()
    assert page.locator("fedlab-predict input").nth(1).is_checked()
    page.click("fedlab-score button")
    assert "none is recorded" in page.inner_text("fedlab-score")
    assert not page.locator("fedlab-predict input").nth(1).is_checked()


def test_a_quiz_says_why_and_axe_finds_nothing(page: Any) -> None:
    quiz = page.locator(".fedlab-quiz")
    assert "One and one" not in quiz.inner_text()
    quiz.get_by_label("three").check()
    assert "✗ No. One too many." in quiz.inner_text()
    page.keyboard.press("ArrowUp")
    assert "✓ Right. One and one." in quiz.inner_text() and "One too many" not in quiz.inner_text()
    page.locator("fedlab-predict input").first.check()
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 800})
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_without_a_script_everything_can_be_read(chromium: Any, page_of: Path) -> None:
    with Visit(chromium, page_of, java_script_enabled=False) as page:
        assert "What happened: down" in page.inner_text("main")
        page.locator(".fedlab-quiz").get_by_label("two").check()
        assert "One and one." in page.inner_text(".fedlab-quiz")
