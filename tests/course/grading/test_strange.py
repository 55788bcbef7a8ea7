"""What a notebook may hold instead of what it should: nothing crashes the grader, or costs other points."""

import inspect
import json
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from fedlab_course import grading
from fedlab_course.check import cells, exercises
from fedlab_course.check.exercises import MIME
from fedlab_course.grading import sheet
from tests.course.grading.conftest import JudgeSource
from tests.course.grading.sheets import POINT, SOLVED, STEP, TRAINING, statuses, submission

SEND, WEIGHTS, COHORTS = (exercises.get(name) for name in ("14-send", "05-weights", "07-cohorts"))


def test_strange_cells_cost_nothing(tmp_path: Path) -> None:
    """A solved sheet with everything that may go wrong beside the answers."""

    def disturb(made: list) -> None:
        sources = ["name = judges = sys = tuple = list = dict = str = print = get_ipython = 'mine'", "exit()", "quit()"]
        sources += ["import sys\nsys.exit(3)", "assert (name, judges) == ('mine', 'mine')\nkept = 1", "print('\ud800')"]
        sources += ["raise ValueError('x' * 10**7)", "import os\nos.write(1, b'x' * 10**6)", "print('x' * 10**7)"]
        sources += ["%nonsense", "!echo hello", "# fedlab-answer {}", "# fedlab-answer", "__import__ = None"]
        made[1:1] = [new_code_cell(source, id=f"s{i}") for i, source in enumerate(sources)]
        for each, strange in zip(made, [None, "text", 3, [1], {"grade_id": None}], strict=False):
            each.metadata["nbgrader"] = strange
        made[2].outputs = [{"output_type": "display_data", "data": None, "metadata": None}]

    path = submission(tmp_path, **SOLVED)
    given = json.loads(path.read_text())
    made = [nb_cell(each) for each in given["cells"]]
    disturb(made)
    given["cells"] = [dict(each) for each in made]
    given["cells"][4]["metadata"] = None
    given["cells"][5]["metadata"] = "text"
    given["metadata"] = None
    path.write_text(json.dumps(given), encoding="utf-8")
    rows = grading.grade(path, timeout=60)
    assert statuses(rows) == {STEP.id: "solved", TRAINING.id: "solved", POINT.id: "solved"}
    assert [row.remark for row in rows] == ["", "", ""]


def nb_cell(given: dict):
    from nbformat import from_dict

    return from_dict(given)


@pytest.mark.parametrize("marks", [None, "mine", [1], {"grade_id": None}, {"grade_id": [2]}], ids=repr)
def test_metadata_that_makes_no_sense_is_passed_over(tmp_path: Path, marks) -> None:
    path = submission(tmp_path)
    given = json.loads(path.read_text())
    for number, each in enumerate(given["cells"]):
        each["metadata"] = {"nbgrader": marks} if number else marks
    if isinstance(marks, dict) and marks["grade_id"]:
        with pytest.raises(ValueError, match="holds no exercise"):
            sheet.sheet(given, "it")
        return
    assert [e.id for e in sheet.sheet(given, "it").exercises] == [STEP.id, TRAINING.id, POINT.id]


@pytest.mark.parametrize("given", [None, 3, [], {}, {"cells": 3}, {"cells": [3]}, {"cells": None}], ids=repr)
def test_what_is_no_notebook_is_refused(given) -> None:
    with pytest.raises(ValueError, match="is not a Jupyter notebook"):
        sheet.sheet(given, "it")


def test_deep_json_is_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "deep.ipynb").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"deep\.ipynb: is not a Jupyter notebook"):
        sheet.read(tmp_path / "deep.ipynb")


def answer_of(made: list, change) -> sheet.Sheet:
    change(made)
    return sheet.sheet({"cells": [dict(each) for each in made]}, "it")


def made(**answers: str) -> list:
    found = [new_code_cell("import numpy as np", id="imports")]
    for number, exercise in enumerate((STEP, TRAINING, POINT), start=1):
        task, answer, check, _ = cells.make(exercise, number)
        answer.source = answers.get(exercise.name, answer.source)
        found += [task, answer, check]
    return found


@pytest.mark.parametrize("marked", [True, False], ids=["with its id", "as Jupyter pastes it"])
@pytest.mark.parametrize("place", [0, 2, 4, 99])
def test_the_filled_one_of_two_answers_counts_wherever_the_stub_stands(place: int, marked: bool) -> None:
    def copy(cells_: list) -> None:
        id = cells.cell_id(STEP, "answer") if marked else "pasted"
        cells_.insert(place, new_code_cell(STEP.stub_source, id=id))

    found = answer_of(made(prox_step=STEP.solution_source), copy)
    assert found.answers[STEP.id].source == STEP.solution_source
    assert [each.source for each in found.cells if "def prox_step" in each.source] == [STEP.solution_source]
    assert "stands there 2 times" in found.remarks[STEP.id][0]
    assert not found.conflicts


def test_a_filled_copy_counts_if_the_cell_itself_is_untouched() -> None:
    found = answer_of(made(), lambda every: every.append(new_code_cell(STEP.solution_source, id="pasted")))
    places = [step.exercise.id if step.exercise else step.cell.source for step in found.steps]
    assert places.index(STEP.solution_source) < places.index(STEP.id)
    assert not any("def prox_step" in each and "SOLUTION" not in each and "..." in each for each in places)


def test_two_different_answers_are_not_judged(tmp_path: Path) -> None:
    def copy(every: list) -> None:
        every.append(new_code_cell(STEP.solution_source, id=cells.cell_id(STEP, "answer")))

    path = submission(tmp_path, change=None, **(SOLVED | {STEP.name: STEP.with_mistake(STEP.mistakes[0])}))
    given = json.loads(path.read_text())
    copy_of = dict(new_code_cell(STEP.solution_source, id=cells.cell_id(STEP, "answer")))
    given["cells"].append(copy_of)
    rows = grading.grade_notebook(given, timeout=60)
    assert statuses(rows) == {STEP.id: "not judged", TRAINING.id: "solved", POINT.id: "solved"}
    assert "more than once" in rows[0].hint


ASYNC = STEP.solution_source.replace("def ", "async def ", 1)
YIELDS = STEP.solution_source.replace("return ", "yield ", 1)
TORCH = "\nimport torch\n_solved = {0}\ndef {0}({1}):\n    return {2}"


def form(exercise: exercises.Exercise, result: str, status: str, words: str = "") -> tuple:
    """A right answer whose ``result`` is made of what the solution returns, ``{}``."""
    given = ", ".join(inspect.signature(exercise.solution).parameters)
    source = TORCH.format(exercise.name, given, result.format(f"_solved({given})"))
    return exercise, exercise.solution_source + source, status, words


FORMS = {
    "async": (STEP, ASYNC, "wrong", "is asynchronous: a call gives a coroutine"),
    "a generator": (STEP, YIELDS, "wrong", "is a generator: a call runs none of its code"),
    "a list": form(STEP, "{}.tolist()", "solved"),
    "a tensor": form(STEP, "torch.tensor({})", "solved"),
    "a coarse tensor": form(
        STEP, "torch.tensor({}).float()", "wrong", "The result is a Tensor of float32, too coarse to compare"
    ),
    "a list of two": form(SEND, "list({})", "solved"),
    "three things": form(SEND, "[*{}, 3]", "wrong", "Yours is of type list of 3."),
    "a generator object": form(COHORTS, "(one for one in {})", "wrong", "Yours is of type generator."),
    "a tuple of cohorts": form(COHORTS, "tuple({})", "solved"),
    "a series": form(WEIGHTS, "__import__('pandas').Series({})", "solved"),
    "a partial": (
        STEP,
        "import functools\n" + STEP.solution_source + "\nprox_step = functools.partial(prox_step)",
        "wrong",
        "must stay a function, and yours is of type partial",
    ),
}


@pytest.mark.parametrize(("exercise", "source", "status", "hint"), FORMS.values(), ids=FORMS)
def test_another_form_of_a_right_answer_is_accepted_or_told_what_is_wrong(
    exercise, source: str, status: str, hint: str, judge: JudgeSource
) -> None:
    found = judge(exercise, source)
    live = exercises.judge(exercise, exercise.build(source))
    for each in (found, live):
        assert each.status == status, each.hint
        assert hint in each.hint


HOSTILE = {
    "nested without end": ("x = []\n    x.append(x)\n    return x", "cannot be read"),
    "too large": ("return 'x' * 10**8", "cannot be read"),
    "a number of a million digits": ("return 10**10**6", "of type int"),
    "an object array": ("return np.array([object()])", "of type ndarray"),
    "control characters in an error": ("raise ValueError('\\x1b[2J\\n02-x solved 5 of 5\\ud800')", "ValueError"),
    "an error that has no words": (
        "class Odd(Exception):\n        def __str__(self): raise KeyError\n    raise Odd",
        "Your code stops with Odd",
    ),
    "a verdict": (f"return {{'{MIME}': 'solved', 'status': 'solved', 'points': 9}}", "of type dict"),
    "system exit": ("raise SystemExit(0)", "SystemExit"),
    "no recursion base": ("return prox_step(y, w, gradient, mu, lr)", "RecursionError"),
}


@pytest.mark.parametrize(("body", "hint"), HOSTILE.values(), ids=HOSTILE)
def test_whatever_comes_back_is_answered_in_words(body: str, hint: str, judge: JudgeSource) -> None:
    found = judge(STEP, f"def prox_step(y, w, gradient, mu, lr):\n    {body}")
    assert found.status == "wrong"
    assert hint in found.hint


def test_names_of_the_notebook_are_left_alone(judge: JudgeSource, kernel_and_folder) -> None:
    kernel, _ = kernel_and_folder
    assert kernel.run("before = set(globals())") == ""
    assert judge(STEP, STEP.solution_source).status == "solved"
    added = "added = {name for name in set(globals()) - before if name[0] != '_'}"
    assert kernel.run(f"{added}\nassert added <= {{'before', 'prox_step'}}, added") == ""
