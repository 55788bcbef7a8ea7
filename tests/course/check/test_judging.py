"""What a student reads about an answer: every answer gets a verdict in words."""

import contextlib
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fedlab_course.check import exercises, registry
from fedlab_course.check.base import Hint
from fedlab_course.check.exercises import bundle, judge
from fedlab_course.check.tools import call
from tests.course.check.small_exercises import HALF, HALVER, PARTS, Halver, half, parts


def test_a_class_is_an_answer_too() -> None:
    assert judge(HALVER, Halver).status == "solved"
    untouched = judge(HALVER, HALVER.build(HALVER.stub_source))
    assert untouched.status == "open"
    assert "method `once`" in untouched.hint
    partly = HALVER.stub_source.replace("...", "return x * self.factor", 1)
    assert "method `twice`" in judge(HALVER, HALVER.build(partly)).hint
    assert judge(HALVER, half).hint == "`Halver` must stay a class, and yours is of type function."


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("04-systematic", "Write code that returns the cohort, an array"),
        ("04-class", "Write code that yields the cohort of the round"),
        ("06-class", "Write code that yields the cohorts of the round"),
        ("03-class", "Write code that returns a correction"),
    ],
)
def test_an_empty_method_that_must_yield_is_told_so(name: str, words: str) -> None:
    exercise = registry.get(name)
    assert words in judge(exercise, exercise.build(exercise.stub_source)).hint


def endless(x):
    while True:
        with contextlib.suppress(Exception):  # what stops it is no Exception
            time.sleep(1)


def interrupted(x):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("answer", "status", "hint"),
    [
        (None, "open", "nothing called `half`"),
        (..., "open", "nothing called `half`"),
        (7, "wrong", "must stay a function, and yours is of type int"),
        (lambda x, y: x, "wrong", "The first line must stay `def half(x):`"),
        (lambda x: None, "open", "still empty"),
        (lambda x: print(), "wrong", "returns nothing"),
        (lambda x: "half", "wrong", "type str"),
        (
            lambda x: [x, x],
            "wrong",
            "The result must be one number, and yours is an array of 2 numbers",
        ),
        (lambda x: 1 / x, "wrong", "ZeroDivisionError"),
        (lambda x: float("nan"), "wrong", "not finite"),
        (lambda x: exit(3), "wrong", "SystemExit: 3"),
        (endless, "wrong", "Your code was still running after 0.2 s."),
        (interrupted, "wrong", "You stopped your code"),
        (lambda x: x + 1, "wrong", "Half of nothing is nothing. Expected: 0. Your result: 1."),
        (lambda x: x, "wrong", "Half of 4 is 2. Expected: 2. Your result: 4."),
        (
            lambda x: 0.50000001 * x,
            "wrong",
            "Half of 4 is 2. Expected: 2. Your result: 2.00000004.",
        ),
        (lambda x: x // 2, "wrong", "Half of 3 is not 1: do not round."),
        (lambda x: 2.0 * x, "wrong", "You double."),
        (lambda x: np.float32(x) / 2, "solved", ""),
        (lambda x: np.float32(1.0001 * x) / 2, "wrong", "Half of 4 is 2."),
        (lambda x: np.float16(x) / 2, "wrong", "too coarse to compare"),
        (lambda x: int("half"), "wrong", "A word is no number."),
        (
            lambda x: x * 2 if x == 4 else x / 2,
            "wrong",
            "Half of 4 is 2. Expected: 2. Your result: 8.",
        ),
    ],
)
def test_whatever_comes_is_answered_in_words(
    answer, status: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exercises, "LIMIT", 0.2)
    verdict = judge(HALF, answer)
    assert verdict.status == status
    assert hint in verdict.hint
    assert "\n" not in verdict.hint


@pytest.mark.parametrize(
    ("change", "hint"),
    [
        ({}, ""),
        ({0: "medium"}, "Return one of short, long. Yours is 'medium'."),
        (
            {1: [1.0]},
            "The second result must be an array of 3 numbers, and yours is an array of 1 number.",
        ),
        (
            {1: np.array([1.0, 0.5, 3.0])},
            "Three. Your result: ('long', [1, 0.5, 3], [True, False, True], [0, 2]).",
        ),
        (
            {2: [1, 0, 1]},
            "The third result must be a list of 3 truth values, and yours is [1, 0, 1].",
        ),
        ({2: np.array([True, False, True]), 3: np.array([2, 0])}, ""),
        ({3: [0, 1]}, "Your result: ('long', [1, 0.5, 2], [True, False, True], [0, 1])."),
        ({3: [0]}, "The fourth result must be an array of 2 numbers"),
        (None, "Return 4 results, separated by commas: half of it. Yours is of type tuple of 3."),
    ],
)
def test_the_expected_result_says_what_must_come_back(change, hint: str) -> None:
    def answer(x):
        result = list(parts(x))
        if len(x) == 3 and change is not None:
            result = [change.get(place, part) for place, part in enumerate(result)]
        return tuple(result) if change is not None else tuple(result[:3])

    verdict = judge(PARTS, answer)
    assert hint in verdict.hint and (verdict.status == "solved") == (hint == "")


def test_the_student_s_line_is_quoted(tmp_path: Path) -> None:
    path = tmp_path / "cell.py"
    path.write_text("def half(x):\n    return x / missing\n")
    namespace: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    quoted = "NameError: name 'missing' is not defined, in the line `return x / missing`"
    assert quoted in judge(HALF, namespace["half"]).hint


def test_an_answer_that_changes_its_argument_is_told_so() -> None:
    def greedy(w):
        w -= 1
        return w

    given = np.zeros(2)
    with pytest.raises(Hint, match="changes `w` in place"):
        call(greedy, given)
    assert (given == 0).all()


def test_the_verdict_is_shown_and_nothing_is_raised(
    monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    assert exercises.check("99-half", lambda x: x // 2 + (x == 3) / 4) is None
    assert (
        capsys.readouterr().out
        == "✗ not yet: Half. Half of 3 is `1` < 2. Expected: 1.5. Your result: 1.25.\n"
    )
    assert exercises.check("99-half", half) is None
    assert capsys.readouterr().out == "✓ solved: Half\n"


def test_the_verdict_as_html_is_escaped_and_a_title_that_is_a_question_needs_no_full_stop() -> None:
    verdict = judge(HALF, lambda x: x // 2 + (x == 3) / 4)
    assert "Half of 3 is <code>1</code> &lt; 2" in bundle(verdict)["text/html"]
    asked = replace(verdict, title="How much is half?")
    assert bundle(asked)["text/plain"].startswith("✗ not yet: How much is half? Half of 3")


@pytest.mark.parametrize("answer", [lambda x: x // 2, lambda x: None])
def test_under_nbgrader_what_is_not_solved_raises(answer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    monkeypatch.setattr(exercises, "UNDER_NBGRADER", True)
    exercises.check("99-half", half)
    with pytest.raises(exercises.NotSolved):
        exercises.check("99-half", answer)


def test_a_right_answer_may_warn_and_print_to_standard_error(
    monkeypatch: pytest.MonkeyPatch,
    recwarn: pytest.WarningsRecorder,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """nbgrader takes anything there for a failure."""

    def loud(x):
        print("half of", x, file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        return np.where(np.log(np.zeros(1)) < 0, x / 2, 0)[0]

    monkeypatch.setattr(exercises, "get", lambda name: HALF)
    exercises.check("99-half", loud)
    printed = capsys.readouterr()
    assert "half of 3.0" in printed.out and "✓ solved" in printed.out
    assert printed.err == ""
    assert len(recwarn) == 0
