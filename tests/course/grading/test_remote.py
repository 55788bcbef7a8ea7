"""Every registered exercise judged from another process: the same verdicts, and the same hints, as in a notebook."""

import pytest

from fedlab_course.check import exercises
from fedlab_course.check.exercises import Exercise, Mistake
from tests.course.grading.conftest import JudgeSource

EVERY = exercises.every()
MISTAKES = [pytest.param(e, m, id=f"{e.id}: {m.new or 'nothing'}") for e in EVERY for m in e.mistakes]
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.id)


@each
def test_the_solution_is_solved_and_the_stub_is_open(exercise: Exercise, judge: JudgeSource) -> None:
    found = judge(exercise, exercise.stub_source)
    assert found.status == "open"
    assert exercise.missing in found.hint
    found = judge(exercise, exercise.solution_source)
    assert (found.status, found.hint) == ("solved", "")


@pytest.mark.parametrize(("exercise", "mistake"), MISTAKES)
def test_a_usual_mistake_gets_its_hint(exercise: Exercise, mistake: Mistake, judge: JudgeSource) -> None:
    found = judge(exercise, exercise.with_mistake(mistake))
    assert found.status == "wrong"
    assert mistake.hint in found.hint


@each
def test_the_hint_is_that_of_the_notebook(exercise: Exercise, judge: JudgeSource) -> None:
    for source in (
        exercise.with_mistake(exercise.mistakes[0]),
        exercise.stub_source.replace("...\n", "raise KeyError('nowhere')\n"),
        exercise.stub_source.replace("...\n", "raise NotImplementedError\n"),
        f"{exercise.name} = 7",
        f"{exercise.name} = ...",
    ):
        here = exercises.judge(exercise, exercise.build(source))
        there = judge(exercise, source)
        assert there.status == here.status
        # the line is known where the answer was typed in, and not where it was compiled here
        assert there.hint.partition(", in the line")[0].rstrip(".") == here.hint.partition(", in the line")[0].rstrip(
            "."
        )
