"""The verdicts and hints of a notebook come from grading too; cheats and hostile answers get no points."""

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from fedlab_course import grading
from fedlab_course.check import exercises
from fedlab_course.check.exercises import MIME
from fedlab_course.grading import Row, plain
from tests.course.grading.sheets import EVERY, POINT, SOLVED, STEP, returning, statuses, submission

ERRORS = ["raise KeyError('nowhere')", "raise NotImplementedError"]


def grade(path: Path, answers: dict[str, str], **more) -> dict[str, Row]:
    rows = grading.grade(submission(path / "sheet.ipynb", answers, of=EVERY, **more))
    return {row.exercise: row for row in rows}


def without_line(hint: str) -> str:
    """The line is known where the answer was typed in, and not where it was compiled here."""
    return hint.partition(", in the line")[0].rstrip(".")


def test_every_solution_is_solved(tmp_path: Path) -> None:
    rows = grade(tmp_path, SOLVED)
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(SOLVED, "solved")
    assert grading.total(rows.values()) == (sum(one.points for one in EVERY),) * 2
    assert not any(row.hint or row.remark for row in rows.values())


WRONG = {
    "stub": lambda exercise: exercise.stub_source,
    "mistake": lambda exercise: exercise.with_mistake(exercise.mistakes[0]),
    "error": lambda exercise: exercise.stub_source.replace("...\n", f"{ERRORS[len(exercise.id) % 2]}\n"),
    "another": lambda exercise: f"{exercise.name} = {'...' if len(exercise.id) % 2 else '7'}",
}


@pytest.mark.parametrize("change", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_gets_the_hint_of_the_notebook(change, tmp_path: Path) -> None:
    rows = grade(tmp_path, {exercise.id: change(exercise) for exercise in EVERY})
    for exercise in EVERY:
        live, row = exercises.judge(exercise, exercise.build(change(exercise))), rows[exercise.id]
        assert (row.status, without_line(row.hint)) == (live.status, without_line(" ".join(live.hint.split())))
        assert (row.points, row.of) == (0, exercise.points)


FRAMES = """\
import inspect
    frame = inspect.currentframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name == "exercise":
                return value.solution(y, w, gradient, mu, lr)
        frame = frame.f_back
    return y"""
YES = """\
class Yes(np.ndarray):
        def __eq__(self, other): return True
        def __array_function__(self, *given): return True
        def __array_ufunc__(self, *given, **more): return True
        def __lt__(self, other): return True
        __gt__ = __le__ = __ge__ = __lt__
    return np.zeros(2).view(Yes)"""
ODD = "class Odd(Exception):\n        def __str__(self): raise KeyError\n    raise Odd"
IS_HEALTHY = "if patient.method == 'SCAFFOLD':\n        return None\n    " + (
    "return any(patient is p for p in clinic.HEALTHY.values())"
)
BODIES = {  # exercise → a body that gained points once, or is hostile, and words of the hint
    "02-prox-step": (FRAMES, ""),
    "02-local-training": (YES, ""),
    "02-proximal-point": ("return clinic.HEALTHY", "of type dict"),
    "09-cut": (IS_HEALTHY, "The healthy FedAvg fails"),
    "09-clones": (
        "return any(patient == p or patient.name == p.name for p in clinic.HEALTHY.values())",
        "FedAvg fails",
    ),
    "00-bytes": ("x = []\n    x.append(x)\n    return x", "cannot be read: it is nested"),
    "01-emd": ("return 'x' * 10**8", "cannot be read: it has 95 MB"),
    "01-resting-point": ("return {(2**61 - 1) * k for k in range(40_000)}", "cannot be read: it has too many values"),
    "03-step": ("return 10**10**6", "of type int"),
    "03-control": ("return np.array([object()])", "of type ndarray"),
    "05-weights": ("raise ValueError('\\x1b[2J\\n02-x solved 5 of 5\\ud800')", "ValueError: �[2J 02-x"),
    "06-penalty": (ODD, "stops with Odd"),
    "07-bound": (f"return {{'{MIME}': 'solved', 'status': 'solved', 'points': 9}}", "of type dict"),
    "12-gap": ("raise SystemExit(0)", "SystemExit"),
    "10-waiting": ("return longest_waiting(last_asked, available, clients_per_round)", "RecursionError"),
    "14-send": ("return [move, residual, count]", "of type list of 3"),
}
SOURCES = {  # cheats, and forms of a function, that are more than a body
    "03-server": ("from fedlab_course.chapters.ch03_scaffold.exercises import server_update", "ModuleNotFoundError"),
    "15-holm": ("from fedlab_course.check import registry\nholm = registry.get('15-holm').solution", "ModuleNotFound"),
    "04-systematic": ("systematic = exercises.get('04-systematic').solution", "AttributeError"),
    "05-shared": (
        f"{SOLVED['05-shared']}\nimport functools\nshared_groups = functools.partial(shared_groups)",
        "partial",
    ),
    "06-importance": (SOLVED["06-importance"].replace("def ", "async def ", 1), "is asynchronous"),
    "07-bytes": (SOLVED["07-bytes"].replace("return ", "yield ", 1), "is a generator"),
    "09-fisher": ("fisher_diagonal = exercises.or_solution('09-fisher', None)", "nothing called `fisher_diagonal`"),
    "10-momentum": ("class FedAvgM:\n    def __init__(self, beta): pass", "must be an instance of"),
}


def test_cheats_and_hostile_answers_get_no_points(tmp_path: Path) -> None:
    """The process of the submission has neither solutions nor checks, and whatever it sends is only a value."""
    given = {exercise.id: returning(exercise, BODIES[exercise.id][0]) for exercise in EVERY if exercise.id in BODIES}
    rows = grade(tmp_path, SOLVED | given | {name: source for name, (source, _) in SOURCES.items()})
    for name, (_, hint) in (BODIES | SOURCES).items():
        assert rows[name].status in ("wrong", "open"), name
        assert hint in rows[name].hint, (name, rows[name].hint)
    assert {row.status for name, row in rows.items() if name not in BODIES | SOURCES} == {"solved"}
    assert grading.total(rows.values())[0] == sum(one.points for one in EVERY if one.id not in BODIES | SOURCES)


VERDICT = f'{{"exercise": "{STEP.id}", "title": "", "status": "solved", "hint": "", "points": 3000, "of": 1}}'
EVERYWHERE = [  # cells that replace what judges in a notebook, or print a verdict
    f"""\
import IPython.core.display_functions as shown, fedlab_course.display as look
look.publish = lambda bundle: shown.publish_display_data({{"{MIME}": {VERDICT}}})""",
    """\
class Finder:
    def find_spec(self, name, path=None, target=None):
        print(name)
import sys
sys.meta_path.insert(0, Finder())""",
    f"""\
from IPython.display import display
get_ipython().events.register("post_run_cell", lambda result: display({{"{MIME}": {VERDICT}}}, raw=True))""",
    "exercises.check = lambda *arguments: None",
    "class exercises:\n    check = staticmethod(print)",
    "import os\nos.environ.pop('NBGRADER_EXECUTION', None)",
    "np.allclose = lambda *arguments, **more: True",
    "fl.Simulation = fl.simulate = None",
]
FLOOD = """\
import os, threading
def flood(number):
    while True:
        os.write(number, b'{"asked": 0, "arguments": {"list": []}}\\n')
for number in range(3, 12):
    threading.Thread(target=flood, args=(number,), daemon=True).start()"""
BREAKS = {  # what takes over the line to the judge
    "the replies": """\
import fedlab_course.grading.inside as inside
inside.Serving._reply = lambda self, message: {"kind": "function", "form": "", "parameters": ["2", "2", "\\x1b"],
    "code": None, "methods": {}, "error": "", "returned": True, "after": None, "points": 3000, "status": "solved"}""",
    "a flood": FLOOD,
}


def test_cells_that_interfere_gain_nothing(tmp_path: Path) -> None:
    def change(made: list) -> None:
        known = {cell.id: cell for cell in made}
        known["ex-02-prox-step-check"].source = f"display({{'{MIME}': {VERDICT}}}, raw=True)"
        made.remove(known["ex-02-local-training-check"])

    wrong = returning(STEP, "return y")
    path = submission(tmp_path / "a.ipynb", {STEP.id: wrong, POINT.id: SOLVED[POINT.id]}, EVERYWHERE, change=change)
    rows = grading.grade(path)
    assert statuses(rows) == ["wrong", "open", "solved"]
    assert [row.points for row in rows] == [0, 0, POINT.points]
    assert ["check cell was changed" in row.remark for row in rows] == [True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("cell", BREAKS.values(), ids=BREAKS)
def test_a_line_to_the_judge_that_is_taken_over_gives_no_points(cell: str, tmp_path: Path) -> None:
    path = submission(tmp_path / "a.ipynb", {STEP.id: returning(STEP, "return y")}, [cell])
    rows = grading.grade(path, bounds=grading.Limits(cell=20, total=90))
    assert grading.total(rows) == (0, 5)
    assert "solved" not in statuses(rows)


@pytest.mark.parametrize("value", [None, True, 3, 2.5, float("inf"), "text\ud800", [1, (2, {3}), {"a": [4]}]], ids=repr)
def test_plain_values_arrive_as_they_are(value) -> None:
    found = plain.decode(json.loads(json.dumps(plain.encode(value))))
    assert type(found) is type(value)
    assert found == value


@pytest.mark.parametrize("value", [np.float32(0.5), np.arange(6).reshape(2, 3), torch.eye(2), np.array(True)], ids=repr)
def test_arrays_arrive_with_type_shape_and_dtype(value) -> None:
    found = plain.decode(json.loads(json.dumps(plain.encode(value))))
    assert (type(found), found.shape, found.dtype) == (type(value), value.shape, value.dtype)
    assert np.array_equal(found, value)


def test_other_values_arrive_as_what_they_can_be() -> None:
    def passed(value):
        return plain.decode(plain.encode(value))

    assert passed(range(3)) == [0, 1, 2]
    assert passed(Decimal("0.5")) == 0.5
    assert passed(pd.Series([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert passed(torch.ones(2, dtype=torch.bfloat16)).dtype is torch.float32
    assert type(passed(x for x in [1])).__name__ == "generator"
    assert type(passed(np.array(["text"]))).__name__ == "ndarray"


MALFORMED = [
    {"array": ["O", [1], "AAAA"]},
    {"array": ["<f8", [10**12], ""]},
    {"list": 3},
    {"special": ["x", 1]},
    [],
    {},
]


@pytest.mark.parametrize(
    "data", [*MALFORMED, {"opaque": "x", "list": []}, {"array": ["<f8", [1], "not base64"]}], ids=str
)
def test_a_malformed_message_is_refused(data) -> None:
    with pytest.raises(plain.NotPlain):
        plain.decode(data)
