"""What docs/teaching says about the chapters: sections, exercises, predictions and pages that are there."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from fedlab_course import folders
from fedlab_course.chapters import outline
from fedlab_course.check import bank

TEACHING = folders.NOTEBOOKS.parent / "docs" / "teaching"
PAGES = sorted(TEACHING.glob("*.md"))
GENERATED = {"timings.md"}  # tools/timings.py writes it
PREDICTION = re.compile(r"`(\d\d)-([a-z][a-z0-9-]*)`")
EXERCISE = re.compile(r"\b(\d+)\.(\d+)\b")


def read(name: str) -> str:
    return (TEACHING / name).read_text(encoding="utf-8")


@cache
def headings(chapter: str) -> list[str]:
    """The headings of a chapter without their marks."""
    [path] = folders.NOTEBOOKS.glob(f"{chapter}_*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [match[1].strip() for match in re.finditer(r"^#+ (.*)$", text, re.MULTILINE)]


def exercises(chapter: str) -> dict[str, str]:
    """Number → title of the exercises of a chapter."""
    found = [re.fullmatch(r"Exercise (\d+\.\d+): (.*)", heading) for heading in headings(chapter)]
    return {match[1]: match[2] for match in found if match}


def predictions(chapter: str) -> set[str]:
    return set(bank.of_chapter(chapter).predictions)


def chapters(words: str) -> list[str]:
    return [f"{int(number):02d}" for number in re.findall(r"\d+", words)]


def lessons() -> list[tuple[str, list[str], str]]:
    """Each lesson of both plans: its name, its chapters, and all that is said of it."""
    found = []
    for part in re.split(r"^## (?=\d)", read("six-lessons.md"), flags=re.MULTILINE)[1:]:
        title, rest = part.split("\n", 1)
        named = re.search(r"\(chapters? ([^)]*)\)", title)
        assert named, title
        found.append((f"six-{title[0]}", chapters(named[1]), rest.split("\n## ")[0]))
    for row in re.findall(r"^\| (\d+) \|([^|]*)\|(.*)$", read("twelve-lessons.md"), re.MULTILINE):
        found.append((f"twelve-{row[0]}", chapters(row[1]), row[2]))
    return found


LESSONS = lessons()
LESSON = pytest.mark.parametrize(
    ("named", "text"), [lesson[1:] for lesson in LESSONS], ids=[name for name, *_ in LESSONS]
)


def test_both_plans_are_read_whole() -> None:
    assert [name for name, *_ in LESSONS] == [f"six-{n}" for n in range(1, 7)] + [f"twelve-{n}" for n in range(1, 13)]
    core = {chapter.number for chapter in outline.CHAPTERS if chapter.track == "core"}
    for plan in ("six", "twelve"):
        assert core <= {chapter for name, named, _ in LESSONS if name.startswith(plan) for chapter in named}, plan


@LESSON
def test_predictions_of_a_lesson_belong_to_its_chapters(named: list[str], text: str) -> None:
    asked = {f"{chapter}-{word}" for chapter, word in PREDICTION.findall(text)}
    assert asked, "a lesson asks for a prediction at least"
    assert asked <= set().union(*map(predictions, named))


@LESSON
def test_exercises_of_a_lesson_belong_to_its_chapters(named: list[str], text: str) -> None:
    there = set().union(*map(exercises, named))
    assert {".".join(number) for number in EXERCISE.findall(text)} <= there


@pytest.mark.parametrize(("named", "text"), [lesson[1:] for lesson in LESSONS[:6]])
def test_sections_of_a_lesson_are_headings_of_its_chapters(named: list[str], text: str) -> None:
    rows = [line for line in text.splitlines() if line.startswith("|")]
    sections = {section for row in rows for section in re.findall(r"(?<!\*)\*([^*|]+)\*(?!\*)", row)}
    assert sections
    assert sections <= {heading for chapter in named for heading in headings(chapter)}


@pytest.mark.parametrize(("named", "text"), [lesson[1:] for lesson in LESSONS[:6]])
def test_what_is_graded_bears_the_title_of_its_exercise(named: list[str], text: str) -> None:
    for number, title in re.findall(r"exercise (\d+\.\d+) \(([^)]*)\)\.", text):
        [chapter] = chapters(number.split(".")[0])
        assert exercises(chapter)[number].lower() == title.lower()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_prediction_that_is_named_exists(page: Path) -> None:
    for chapter, word in PREDICTION.findall(page.read_text(encoding="utf-8")):
        assert f"{chapter}-{word}" in predictions(chapter), f"{page.name}: {chapter}-{word}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert link in GENERATED or (page.parent / link).is_file(), f"{page.name}: {link}"


def test_the_pattern_lesson_names_sections_and_exercises_of_its_chapter() -> None:
    _, pattern = read("twelve-lessons.md").split("## How one lesson runs")
    rows = "\n".join(line for line in pattern.splitlines() if line.startswith("|"))
    [(named, _)] = [(named, text) for name, named, text in LESSONS if name == "twelve-6"]
    there = [heading for chapter in named for heading in headings(chapter)]
    sections = re.findall(r"(?<!\*)\*([^*|]+)\*(?!\*)", rows)
    assert sections
    assert set(sections) <= set(there)
    assert {".".join(number) for number in EXERCISE.findall(rows)} <= set().union(*map(exercises, named))


def test_the_concept_map_names_chapters_and_draws_arrows_between_ideas() -> None:
    text = read("concept-map.md")
    ideas = dict(re.findall(r'(\w+)\["([^"]*)"\]', text))
    known = {int(chapter.number) for chapter in outline.CHAPTERS}
    assert {int(re.search(r"\((\d+)\)$", label)[1]) for label in ideas.values()} == known
    ends = re.findall(r"(\w+)(?:\[[^\]]*\])? --> (\w+)", text)
    assert ends
    assert {end for arrow in ends for end in arrow} <= set(ideas)
