"""Slides: a title, each prediction before its figure, each figure with what is seen in it, and what
to remember.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import plotly.graph_objects as go
import pytest
from markupsafe import escape
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from fedlab_course import folders, outline
from fedlab_course.check import questions
from fedlab_course.check.questions import Bank, Prediction
from fedlab_course.publish import pages, slides
from fedlab_course.publish.outputs import PLOTLY
from tests.course.publish.visit import Visit, site_of, violations

FIGURE = new_output(
    "display_data", {PLOTLY: json.loads(go.Figure(layout_title="Squares").to_json())}
)
SEEN = (
    "**What we see.** It rises. <!-- live --> Then it falls. A third sentence.\n\n"
    "**Caution.** Not always."
)
Cells = Callable[..., Any]


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> Cells:
    """A maker of code cells with their outputs: of their calls of questions, and ``figures``."""
    spoken: list[dict[str, str]] = []
    monkeypatch.setattr(questions, "publish", spoken.append)

    def cell(source: str, figures: int = 0) -> Any:
        spoken.clear()
        for name, id in re.findall(r"questions\.(predict|outcome)\(\s*\"([^\"]+)\"", source):
            getattr(questions, name)(id)
        said = [new_output("display_data", bundle) for bundle in spoken]
        return new_code_cell(source, outputs=[FIGURE] * figures + said)

    return cell


def test_slides_follow_the_chapter(monkeypatch: pytest.MonkeyPatch, executed: Cells) -> None:
    asked = {
        "98-first": Prediction("98-first", "Which?", {"a": "this", "b": "that"}, "a", "So it is.")
    }
    monkeypatch.setattr(questions, "of_chapter", lambda number: Bank(asked, {}))
    cells = [
        new_markdown_cell("# Title\n\nLead."),
        executed('questions.predict("98-first")'),
        new_markdown_cell(
            "## A part\n\nOne. The loss is\n\n$$F(w) = 1 ,$$\n\n<details>\n\nHidden\n\n$$2$$\n\n"
            "</details>"
        ),
        executed('questions.outcome("98-first")', figures=1),
        new_markdown_cell(SEEN),
        new_markdown_cell("### Explore: sliders"),
        executed("explorer", figures=1),
        new_markdown_cell(
            "## What to remember\n\n- One.\n- Two.\n\n## Further reading\n\n- A book."
        ),
    ]
    made = slides.of(new_notebook(cells=cells), "Title", "What?")
    kinds = ["opening", "predict", "formula", "figure", "outcome", "remember"]
    assert [slide["kind"] for slide in made] == kinds
    titles = ["Title", "Title", "A part", "A part", "A part", "What to remember"]
    assert [slide["title"] for slide in made] == titles
    ask, formula, outcome, remember = (made[place]["parts"][0] for place in (1, 2, 4, 5))
    figure, said = made[3]["parts"]
    shown = {
        ask: ("Which?", "that"),
        formula: ("The loss is",),
        outcome: ("What happened:", "So it is."),
        figure: ("Squares",),
        said: ("It rises. Then it falls.",),
        remember: ("Two.",),
    }
    hidden = {ask: ("So it is",), formula: ("Lead", "Hidden"), said: ("third", "live", "Caution")}
    assert all(words in part for part, every in shown.items() for words in every)
    assert not any(words in part for part, every in hidden.items() for words in every)
    assert "book" not in remember


def test_an_exercise_has_no_slides_and_what_follows_it_has_those_of_its_section(
    executed: Cells,
) -> None:
    check = executed("check", figures=1)
    check["id"] = "ex-98-one-check"
    cells = [
        new_markdown_cell("## A part\n\nText."),
        new_markdown_cell("### Exercise 9.1: Write it\n\nThe whole\nparagraph is\n\n$$1 .$$"),
        check,
        executed("run", figures=1),
        new_markdown_cell("### Explore: sliders"),
        executed("explorer", figures=1),
    ]
    made = slides.of(new_notebook(cells=cells), "Title", "What?")
    assert [(slide["kind"], slide["title"]) for slide in made[1:]] == [
        ("formula", "A part"),
        ("figure", "A part"),
    ]
    assert "The whole\nparagraph is" in made[1]["parts"][0]


def test_what_we_see_is_told_by_the_answer_if_the_figure_came_before_the_question(
    executed: Cells,
) -> None:
    cells = [
        executed("board", figures=1),
        executed('questions.predict("06-updates")'),
        executed('questions.outcome("06-updates")'),
        new_markdown_cell("**What we see.** One. Two. Three."),
    ]
    made = slides.of(new_notebook(cells=cells), "Title", "What?")
    assert [(slide["kind"], len(slide["parts"])) for slide in made[1:]] == [
        ("figure", 1),
        ("predict", 1),
        ("outcome", 2),
    ]


def test_a_marked_text_has_a_slide() -> None:
    text = (
        "## Steps\n\nFirst.\n\n<!-- slide -->\n\n1. Draw.\n2. Average:\n\n$$w .$$\n\n"
        "<!-- end of slide -->\n\nThe goal is\n\n$$F .$$"
    )
    made = slides.of(new_notebook(cells=[new_markdown_cell(text)]), "Title", "What?")
    steps, formulas = (slide["parts"][0] for slide in made[1:])
    assert "<li>Draw.</li>" in steps and "<math" in steps and "First" not in steps
    assert "The goal is" in formulas and "Average" not in formulas


def test_every_deck_asks_each_question_of_its_chapter_before_it_answers(executed: Cells) -> None:
    for chapter in outline.CHAPTERS:
        path = folders.NOTEBOOKS / f"{chapter.stem}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = executed(cell.source).outputs
        made = slides.of(notebook, "Title", "What?")
        kinds = [slide["kind"] for slide in made]
        texts = [str(slide["parts"][0]) for slide in made]
        for id in questions.of_chapter(chapter.number).predictions:
            place = texts.index(str(slides._asked(id)))
            answer = texts.index(str(slides._told(id)))
            assert kinds[place] == "predict" and kinds[answer] == "outcome", id
            assert place < answer, id


def test_each_heading_of_a_text_names_its_own_slides_and_an_animation_has_one() -> None:
    text = "## Steps\n\nOne is\n\n$$1 .$$\n\n## Walks\n\nThey move."
    scene = new_output("display_data", {"text/html": '<figure class="fedlab-scene"></figure>'})
    other = new_output("display_data", {"text/html": "<p>No figure</p>"})
    cells = [new_markdown_cell(text), new_code_cell("scene", outputs=[scene, other])]
    made = slides.of(new_notebook(cells=cells), "Title", "What?")
    assert [(slide["kind"], slide["title"]) for slide in made[1:]] == [
        ("formula", "Steps"),
        ("figure", "Walks"),
    ]
    assert "fedlab-scene" in made[2]["parts"][0]


def deck_of(chapter: outline.Chapter, folder: Path) -> Path:
    """The slides of a chapter whose notebook has only its title."""
    notebook = new_notebook(cells=[new_markdown_cell(f"# {chapter.title}")])
    nbformat.write(notebook, folder / f"{chapter.stem}.ipynb")
    result = {
        "name": chapter.stem,
        "status": "ok",
        "seconds": 1.0,
        "parameters": {},
        "verdicts": [],
        "stored": [],
        "error": None,
    }
    made = pages.page(result, folder, [chapter.stem], folder / "runs")
    pages.build([made], folder / "site", "quick")
    return folder / "site" / f"{chapter.stem}_slides.html"


def test_a_title_slide_has_question_picture_and_lesson(tmp_path: Path) -> None:
    for chapter in outline.CHAPTERS:
        html = deck_of(chapter, tmp_path).read_text(encoding="utf-8")
        opening = html.partition("</section>")[0]
        assert opening.count(chapter.card) == 1
        assert f"<p>{escape(chapter.question)}</p>" in opening
        assert f'<p class="place">{escape(chapter.place)}</p>' in opening


@pytest.mark.needs_browser
@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (1280, "light")])
def test_a_browser_shows_a_title_slide(
    chromium: Any, tmp_path: Path, width: int, scheme: str
) -> None:
    visit = Visit(chromium, deck_of(outline.get("01"), tmp_path), width, color_scheme=scheme)
    with visit as page:
        picture = page.locator(".slide.opening > svg").bounding_box()
        assert picture["width"] >= 250
        assert visit.is_clean()
        assert violations(page) == []


def test_lessons_have_the_names_of_the_teaching_plan() -> None:
    plan = (folders.NOTEBOOKS.parent / "docs" / "teaching" / "six-lessons.md").read_text(
        encoding="utf-8"
    )
    named = re.findall(r"^## (\d) · (.+) \(chapters? (.+)\)$", plan, flags=re.MULTILINE)
    assert tuple(name for _, name, _ in named) == outline.LESSONS
    for number, name, chapters in named:
        for chapter in re.findall(r"\d+", chapters):
            found = outline.get(f"{int(chapter):02d}")
            assert found.place == f"Lesson {number}: {name}"
    assert outline.get("09").place == "Further chapter"


@pytest.mark.needs_browser
def test_a_tall_figure_fits_its_slide(chromium: Any, tmp_path: Path) -> None:
    tall = go.Figure(layout_title="Squares", layout_height=1000)
    html = site_of(tmp_path, tall, text="# Figures\n\n## Part")
    visit = Visit(chromium, html.with_name("00_figures_slides.html"), height=720)
    with visit as page:
        page.wait_for_selector(".main-svg")
        slide = "document.querySelector('.slide.figure')"
        page.wait_for_function(f"Math.round({slide}.getBoundingClientRect().height) === 720")
        canvas = page.locator(".canvas")
        assert canvas.evaluate("(canvas) => canvas.offsetHeight") == 1000
        drawn = canvas.bounding_box()
        assert 400 < drawn["height"] < 720
        assert visit.is_clean()


@pytest.mark.needs_browser
def test_the_keys_go_from_slide_to_slide(chromium: Any, tmp_path: Path) -> None:
    html = site_of(tmp_path, go.Figure(layout_title="Squares"), text="# Figures\n\n## Part")
    visit = Visit(chromium, html.with_name("00_figures_slides.html"))
    with visit as page:
        page.wait_for_selector(".main-svg")
        here = (
            "[...document.querySelectorAll('.slide')].findIndex("
            "(one) => one.getBoundingClientRect().bottom > innerHeight / 2)"
        )
        for key, number in (("ArrowRight", 1), ("Home", 0)):
            page.keyboard.press(key)
            page.wait_for_function(f"{here} === {number}")
        assert visit.faults == []
        assert violations(page) == []
