"""The pages for instructors name exercises, predictions and chapters that exist."""

import re

from fedlab_course import folders, outline
from fedlab_course.check import questions, registry

TEACHING = folders.NOTEBOOKS.parent / "docs" / "teaching"
# tools/timings.py writes that
PAGES = sorted(path for path in TEACHING.glob("*.md") if path.name != "timings.md")
PREDICTIONS = {
    name
    for chapter in outline.CHAPTERS
    for name in questions.of_chapter(chapter.number).predictions
}
EXERCISES = {
    f"{int(chapter.number)}.{number}"
    for chapter in outline.CHAPTERS
    for number, _ in enumerate(registry.of_chapter(chapter.stem), start=1)
}


def test_every_prediction_and_exercise_that_is_named_exists() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = {"-".join(found) for found in re.findall(r"`(\d\d)-([a-z][a-z0-9-]*)`", text)}
    exercises = {exercise.id for exercise in registry.every()}
    assert named <= PREDICTIONS | exercises
    assert set(re.findall(r"exercises? (\d+\.\d+)", text)) <= EXERCISES


def test_both_plans_of_lessons_teach_every_core_chapter() -> None:
    core = {int(chapter.number) for chapter in outline.CHAPTERS if chapter.track == "core"}
    six = re.findall(
        r"^## \d.*\(chapters? ([^)]*)\)",
        (TEACHING / "six-lessons.md").read_text("utf-8"),
        re.MULTILINE,
    )
    twelve = re.findall(
        r"^\| \d+ \|([^|]*)\|", (TEACHING / "twelve-lessons.md").read_text("utf-8"), re.MULTILINE
    )
    for plan, lessons in (("six", six), ("twelve", twelve)):
        assert core <= {
            int(number) for lesson in lessons for number in re.findall(r"\d+", lesson)
        }, plan
