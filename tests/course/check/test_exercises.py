"""Every registered exercise, three ways: the stub is told what is missing, the solution passes,
mistakes get hints.
"""

import ast
import re

import pytest

from fedlab_course.check import registry
from fedlab_course.check.base import Exercise
from fedlab_course.check.exercises import judge

EVERY = registry.every()
each = pytest.mark.parametrize("exercise", EVERY, ids=lambda exercise: exercise.id)


@each
def test_the_stub_is_told_what_is_missing_and_has_nothing_of_the_solution(
    exercise: Exercise,
) -> None:
    for source in (
        exercise.stub_source,
        exercise.stub_source.replace("...\n", "raise NotImplementedError()\n"),
    ):
        verdict = judge(exercise, exercise.build(source))
        assert (verdict.status, verdict.points, verdict.of) == ("open", 0, exercise.points)
        assert (
            exercise.instead or exercise.missing
        ) in verdict.hint and exercise.name in verdict.hint
    stub = ast.parse(exercise.stub_source).body[0]
    solution = ast.parse(exercise.solution_source).body[0]
    assert stub.name == solution.name
    assert ast.get_docstring(stub) == ast.get_docstring(solution) is not None
    assert exercise.stub_source.splitlines()[0] == exercise.solution_source.splitlines()[0]
    assert "SOLUTION" not in exercise.stub_source + exercise.solution_source
    if isinstance(stub, ast.FunctionDef):
        assert ast.dump(stub.args) == ast.dump(solution.args)
    given = exercise.stub_source.splitlines()
    written = exercise.solution_source.splitlines()
    assert {line.strip() for line in set(given) - set(written)} == {"..."}


@each
def test_the_solution_passes_and_code_that_stops_is_quoted(exercise: Exercise) -> None:
    verdict = judge(exercise, exercise.build(exercise.solution_source))
    assert (verdict.status, verdict.hint, verdict.points) == ("solved", "", exercise.points)
    stops = judge(
        exercise,
        exercise.build(exercise.stub_source.replace("...\n", "raise KeyError('nowhere')\n")),
    )
    assert (
        stops.status == "wrong"
        and "KeyError: 'nowhere'" in stops.hint
        and "Traceback" not in stops.hint
    )


@each
def test_each_usual_mistake_gets_its_own_hint(exercise: Exercise) -> None:
    hints = []
    for mistake in exercise.mistakes:
        verdict = judge(exercise, exercise.build(exercise.with_mistake(mistake)))
        hints.append(verdict.hint)
        assert (verdict.status, verdict.points) == ("wrong", 0), mistake
        assert all(
            words in verdict.hint for words in re.split(r"\{expected\}|\{found\}", mistake.hint)
        ), verdict.hint
        assert "{" not in verdict.hint or not exercise.cases
    assert len(set(hints)) == len(hints) >= 3
