"""The verdicts and hints of a notebook come from grading too; cheats and hostile answers get no
points.
"""

import json
from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

from fedlab_course import grading
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.check import exercises
from fedlab_course.check.exercises import MIME, Verdict
from fedlab_course.grading import plain, worker_process
from fedlab_course.grading.worker_process import RemoteAnswer
from tests.course.grading.submissions import EVERY, SOLVED, STEP, returning, statuses, submission


def grade(path: Path, answers: dict[str, str], **more) -> dict[str, Verdict]:
    rows = grading.grade(submission(path / "submission.ipynb", answers, of=EVERY, **more))
    return {row.exercise: row for row in rows}


@pytest.mark.slow
def test_every_solution_is_solved(tmp_path: Path) -> None:
    rows = grade(tmp_path, SOLVED)
    assert {name: row.status for name, row in rows.items()} == dict.fromkeys(SOLVED, "solved")
    assert grading.total(list(rows.values())) == (sum(one.points for one in EVERY),) * 2
    assert not any(row.hint or row.remark for row in rows.values())


def test_a_patient_is_sent_by_its_place() -> None:
    """Its name has another language in the process of a notebook in Chinese."""
    for place, patient in enumerate(clinic.EVERYBODY):
        assert worker_process._special(deepcopy(patient), []) == ("patient", place)


def without_line(hint: str) -> str:
    """The line is known where the answer was typed in, and not where it was compiled here."""
    return hint.partition(", in the line")[0].rstrip(".")


def test_a_wrong_answer_gets_the_hint_of_the_notebook(tmp_path: Path) -> None:
    """A usual mistake in each exercise of an even number; in the others the stub, two errors and
    other types.
    """
    others = ["raise KeyError('nowhere')", "raise NotImplementedError"]
    answers = {}
    for number, one in enumerate(EVERY):
        changes = [
            one.stub_source,
            *(one.stub_source.replace("...\n", f"{body}\n") for body in others),
            f"{one.name} = ...",
            f"{one.name} = 7",
        ]
        mistaken = one.with_mistake(one.mistakes[0])
        answers[one.id] = changes[number // 2 % len(changes)] if number % 2 else mistaken
    # by the answers to 00-fedavg, 08-halves and 09-fednova
    called = ("00-local", "00-aggregate", "08-feddyn", "09-counted")
    rows = grade(tmp_path, answers | {name: SOLVED[name] for name in called})
    for one in (one for one in EVERY if one.id not in called):
        live = exercises.judge(one, one.build(answers[one.id]))
        row = rows[one.id]
        assert (row.status, without_line(row.hint)) == (
            live.status,
            without_line(" ".join(live.hint.split())),
        )
        assert (row.points, row.of) == (0, one.points)


FRAMES = """\
import inspect
    frame = inspect.currentframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name == "exercise":
                return value.solution(w, k, gradient, eta, steps, mu)
        frame = frame.f_back
    return w"""
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
    "02-local": (FRAMES, ""),
    "00-local": (YES, ""),
    "07-cut": (IS_HEALTHY, "The healthy FedAvg fails"),
    "06-budget": ("x = []\n    x.append(x)\n    return x", "cannot be read: it is nested"),
    "01-emd": ("return 'x' * 10**8", "cannot be read: it has 95 MB"),
    "01-resting-point": (
        "return {(2**61 - 1) * k for k in range(40_000)}",
        "cannot be read: it has too many values",
    ),
    "03-local": ("return 10**10**6", "of type int"),
    "03-control": ("return np.array([object()])", "of type ndarray"),
    "05-hold": (
        "raise ValueError('\\x1b[2J\\n02-x solved 5 of 5\\ud800')",
        "ValueError: �[2J 02-x",
    ),
    "09-counted": (ODD, "stops with Odd"),
    "13-labels": (
        f"return {{'{MIME}': 'solved', 'status': 'solved', 'points': 9}}",
        "of type dict",
    ),
    "12-send": ("return [move, residual, count]", "of type list of 3"),
}
SOURCES = {  # cheats, and forms of a function, that are more than a body
    "00-fedavg": (
        "from fedlab_course.chapters.ch00_start_here.exercises import fedavg",
        "ModuleNotFoundError",
    ),
    "14-holm": (SOLVED["14-holm"].replace("return ", "yield ", 1), "is a generator"),
    "04-systematic": ("systematic = exercises.get('04-systematic').solution", "AttributeError"),
    "11-pull": (
        f"{SOLVED['11-pull']}\nimport functools\nditto_point = functools.partial(ditto_point)",
        "partial",
    ),
    "10-gap": (SOLVED["10-gap"].replace("def ", "async def ", 1), "is asynchronous"),
    "07-repair": (
        "from fedlab_course.check import registry\nRepairs = registry.get('07-repair').solution",
        "ModuleNotFound",
    ),
    "08-halves": ("class Halves:\n    def __init__(self, *given): Halves()", "RecursionError"),
    "00-aggregate": (
        "aggregate = exercises.or_solution('00-aggregate', None)",
        "nothing called `aggregate`",
    ),
    "08-feddyn": ("class MyFedDyn:\n    def __init__(self, mu): pass", "must be an instance of"),
}


VERDICT = (
    f'{{"exercise": "{STEP.id}", "title": "", "status": "solved", "hint": "", "points": '
    f'3000, "of": 1}}'
)
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
def show(result):
    display({{"{MIME}": {VERDICT}}}, raw=True)
get_ipython().events.register("post_run_cell", show)""",
    "exercises.check = lambda *arguments: None",
    "import os\nos.environ.pop('NBGRADER_EXECUTION', None)",
    "np.allclose = lambda *arguments, **more: True",
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
import fedlab_course.grading.worker as worker
worker.Worker._reply = lambda self, message: {
    "kind": "function", "form": "", "parameters": ["2", "2", "\\x1b"], "code": None, "methods": {},
    "error": "", "returned": True, "after": None, "points": 3000, "status": "solved"}""",
    "a flood": FLOOD,
}


@pytest.mark.slow
def test_cheats_hostile_answers_and_cells_that_interfere_get_no_points(tmp_path: Path) -> None:
    """The process of the submission has neither solutions nor checks, and whatever it sends is only
    a value.
    """

    def change(made: list) -> None:
        known = {cell.id: cell for cell in made}
        known["ex-02-local-check"].source = f"display({{'{MIME}': {VERDICT}}}, raw=True)"
        made.remove(known["ex-00-local-check"])

    given = {
        exercise.id: returning(exercise, BODIES[exercise.id][0])
        for exercise in EVERY
        if exercise.id in BODIES
    }
    given |= {name: source for name, (source, _) in SOURCES.items()}
    rows = grade(
        tmp_path, {"11-groups": SOLVED["11-groups"]} | given, before=EVERYWHERE, change=change
    )
    for name, (_, hint) in (BODIES | SOURCES).items():
        assert rows[name].status in ("wrong", "open"), name
        assert hint in rows[name].hint, (name, rows[name].hint)
    assert [name for name, row in rows.items() if row.points] == ["11-groups"]


@pytest.mark.slow
@pytest.mark.parametrize("cell", BREAKS.values(), ids=BREAKS)
def test_a_line_to_the_judge_that_is_taken_over_gives_no_points(cell: str, tmp_path: Path) -> None:
    path = submission(tmp_path / "a.ipynb", {STEP.id: returning(STEP, "return w")}, [cell])
    rows = grading.grade(path, bounds=grading.Limits(cell=20, total=90))
    assert grading.total(rows) == (0, 3)
    assert "solved" not in statuses(rows)


def answered(change) -> RemoteAnswer:
    """An answer that calls ``change`` with its arguments, as the process of a submission does."""

    def ask(message):
        given = plain.decode(message["call"])
        return {"returned": plain.encode(change(*given)), "after": plain.encode(given)}

    return RemoteAnswer(STEP, SimpleNamespace(ask=ask))


def test_what_an_answer_changes_in_place_is_changed_for_its_check() -> None:
    def change(values, items):
        values += 1
        items.append(3)

    array = np.zeros(2)
    row = [1, 2]
    answered(change)(array, row)
    assert array.tolist() == [1, 1] and row == [1, 2, 3]


def test_an_error_in_a_function_of_the_check_reaches_the_answer() -> None:
    arguments = plain.encode([0])
    reply = worker_process._called([lambda x: 1 / x], {"asked": 0, "arguments": arguments})
    assert reply == {"raised": "ZeroDivisionError: division by zero"}


def passed(value):
    return plain.decode(json.loads(json.dumps(plain.encode(value))))


def test_plain_values_arrive_as_they_are_and_others_as_what_they_can_be() -> None:
    for value in (None, True, 3, 2.5, float("inf"), "text\ud800", [1, (2, {3}), {"a": [4]}]):
        assert type(passed(value)) is type(value)
        assert passed(value) == value
    for array in (np.float32(0.5), np.arange(6).reshape(2, 3), np.array(True)):
        found = passed(array)
        assert (type(found), found.shape, found.dtype) == (type(array), array.shape, array.dtype)
        assert np.array_equal(found, array)
    assert passed(range(3)) == [0, 1, 2]
    assert passed(Decimal("0.5")) == 0.5
    assert passed(pd.Series([1.0, 2.0])).tolist() == [1.0, 2.0]
    assert passed(torch.eye(2, requires_grad=True)).tolist() == [[1, 0], [0, 1]]
    for value in (10**10**4, np.array(["text"]), (x for x in [1])):
        assert type(passed(value)).__name__ == type(value).__name__


def test_a_malformed_message_is_refused() -> None:
    malformed = [
        {"array": ["O", [1], "AAAA"]},
        {"array": ["<f8", [10**12], ""]},
        {"array": ["<f8", [1], "not base64"]},
        {"list": 3},
        {"special": ["x", 1]},
        [],
        {},
        {"opaque": "x", "list": []},
    ]
    malformed.append({"set": list(range(5000))})  # their hashes could all be equal
    for data in malformed:
        with pytest.raises(plain.NotPlain):
            plain.decode(data)
