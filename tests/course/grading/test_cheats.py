"""Ways that gave full points, or more, without an answer: they get none, and a remark."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from fedlab_course import folders, grading
from fedlab_course.check.exercises import MIME
from fedlab_course.grading import sheet
from fedlab_course.grading.remarks import tampering
from tests.course.grading.conftest import JudgeSource
from tests.course.grading.sheets import CHAPTER, IMPORTS, POINT, STEP, TRAINING, cell, points, statuses, submission

WRONG = "def prox_step(y, w, gradient, mu, lr):\n    return y"
VERDICT = f'{{"exercise": "{STEP.id}", "title": "", "status": "solved", "hint": "", "points": 3000, "of": 1}}'
EVERYWHERE = {  # a cell after the imports
    "display": f"""\
import IPython.core.display_functions as shown, fedlab_course.display as look
look.publish = lambda bundle: shown.publish_display_data({{"{MIME}": {VERDICT}}})""",
    "import path": """\
import sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        print(name)
sys.meta_path.insert(0, Finder())""",
    "a hook after the cell": f"""\
from IPython.display import display
get_ipython().events.register("post_run_cell", lambda result: display({{"{MIME}": {VERDICT}}}, raw=True))""",
    "np.allclose": "np.allclose = lambda *arguments, **more: True",
    "the check": "exercises.check = lambda *arguments: None",
    "a class of that name": "class exercises:\n    check = staticmethod(print)",
    "what judges": "import fedlab_course.grading.judging as j\nj.judge = lambda *arguments: j.Finding('solved', '')",
    "what answers": """\
import fedlab_course.answering.serving as serving
serving.describe = lambda answer: serving.algorithms
serving.asdict = lambda described: {"kind": "function", "parameters": ["2", "2", "\\x1b"]}
serving.Serving.run = lambda self: self._line.send({"returned": True, "points": 3000, "status": "solved"})""",
    "the path of the package": "import fedlab_course\nfedlab_course.__path__ = ['/tmp']",
    "the simulation": """\
import fedlab_core as fl
fl.Simulation = fl.simulate = None""",
    "nbgrader's variable": "import os\nos.environ.pop('NBGRADER_EXECUTION', None)",
}
BREAKS = ["what answers", "the path of the package"]  # nothing can be judged after these
IN_THE_ANSWER = {  # in place of the answer
    "the solution, imported": "from fedlab_course.chapters.ch02_fedprox.exercises import prox_step",
    "the registry": f"""\
prox_step = __import__('fedlab_course.check.registry', fromlist=['get']).get('{STEP.id}').solution""",
    "the solution, asked for": f"prox_step = exercises.get('{STEP.id}').solution",
    "frames": """\
import inspect
def prox_step(y, w, gradient, mu, lr):
    frame = inspect.currentframe()
    while frame:
        for name, value in list(frame.f_locals.items()):
            if name == "exercise":
                return value.solution(y, w, gradient, mu, lr)
        frame = frame.f_back
    return y""",
    "an object that is equal to anything": """\
import numpy as np
class Yes(np.ndarray):
    def __eq__(self, other): return True
    def __array_function__(self, *given): return True
    def __array_ufunc__(self, *given, **more): return True
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
def prox_step(y, w, gradient, mu, lr):
    return np.zeros(2).view(Yes)""",
}
NO_REMARK = {"an object that is equal to anything"}  # this alone is no tampering


@pytest.mark.parametrize("cheat", EVERYWHERE.values(), ids=EVERYWHERE)
def test_a_cell_that_interferes_costs_all_points_and_is_remarked_on(cheat: str) -> None:
    assert tampering(cheat)


def test_a_submission_that_interferes_gets_no_points(tmp_path: Path) -> None:
    """Many ways at once, with a remark for each."""

    def tamper(made: list) -> None:
        cheats = {name: source for name, source in EVERYWHERE.items() if name not in BREAKS}
        made[1:1] = [new_code_cell(source, id=f"cheat-{i}") for i, source in enumerate(cheats.values())]

    found = grading.grade(submission(tmp_path, change=tamper, prox_step=WRONG, proximal_point=POINT.solution_source))
    assert points(found) == 0
    assert set(statuses(found).values()) == {"refused"}
    for number in range(2, 2 + len(EVERYWHERE) - len(BREAKS)):
        assert f"cell {number} (" in found[0].remark


@pytest.mark.parametrize("names", [sorted(set(EVERYWHERE) - set(BREAKS)), ["what answers"]], ids=["mild", "breaking"])
def test_without_the_look_at_the_source_it_gains_nothing_either(
    names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fedlab_course.grading.remarks.tampering", lambda source: [])

    def tamper(made: list) -> None:
        made[1:1] = [new_code_cell(EVERYWHERE[name], id=f"cheat-{i}") for i, name in enumerate(names)]

    found = grading.grade(submission(tmp_path, change=tamper, prox_step=WRONG, proximal_point=POINT.solution_source))
    judged = not set(names) & set(BREAKS)
    assert list(statuses(found).values()) == (["wrong", "open", "solved"] if judged else ["wrong"] * 3)
    assert points(found) == (POINT.points if judged else 0)


def test_an_answer_that_takes_the_solution_is_refused(tmp_path: Path) -> None:
    taken = "from fedlab_course.chapters.ch02_fedprox.exercises import local_training"
    answers = {"prox_step": IN_THE_ANSWER["frames"], "local_training": taken}
    found = grading.grade(submission(tmp_path, proximal_point=POINT.solution_source, **answers))
    assert statuses(found) == {STEP.id: "refused", TRAINING.id: "refused", POINT.id: "solved"}
    assert points(found) == POINT.points
    assert "looks at frames" in found[0].remark
    assert "imports `fedlab_course.chapters.ch02_fedprox.exercises.local_training`" in found[1].remark


@pytest.mark.parametrize("name", IN_THE_ANSWER)
def test_taking_the_solution_fails_in_the_kernel_too(name: str, judge: JudgeSource) -> None:
    """The copy of the packages that a kernel has holds no solution, and no frame below an answer knows of one."""
    assert bool(tampering(IN_THE_ANSWER[name])) is (name not in NO_REMARK)
    found = judge(STEP, f"prox_step = None\n{IN_THE_ANSWER[name]}", allow_errors=True)
    assert found.status in ("open", "wrong")


def test_edited_swapped_and_missing_check_cells_change_nothing_and_are_remarked_on(tmp_path: Path) -> None:
    def change(made: list) -> None:
        cell(made, STEP, "check").source = "print('solved')"
        made.remove(cell(made, TRAINING, "check"))
        answer, check = cell(made, POINT, "answer"), cell(made, POINT, "check")
        made.remove(check)
        made.insert(made.index(answer), check)

    found = grading.grade(submission(tmp_path, change=change, prox_step=WRONG, proximal_point=POINT.solution_source))
    assert statuses(found) == {STEP.id: "wrong", TRAINING.id: "open", POINT.id: "solved"}
    assert [row.remark for row in found] == [
        "Its check cell was changed; judged by our own.",
        "Its check cell is missing.",
        "Its check cell stands before the answer; judged after the answer.",
    ]


def test_a_faked_verdict_in_a_check_cell_is_refused(tmp_path: Path) -> None:
    def change(made: list) -> None:
        cell(made, STEP, "check").source = f"display({{'{MIME}': {VERDICT}}}, raw=True)"

    found = grading.grade(submission(tmp_path, change=change, prox_step=WRONG))
    assert (found[0].status, found[0].points) == ("refused", 0)
    assert f"writes `{MIME.partition('.exercise')[0]}`" in found[0].remark


HARMLESS = [
    IMPORTS,
    "%matplotlib inline\nimport numpy as np\n!ls",
    "from fedlab_course import chapter, claims, exercises, questions",
    "EXAMINATIONS = {'cut': exercises.or_solution('09-cut', cut)}",
    "exercises.check('02-prox-step', prox_step)",
    "import sys\nprint(sys.version, sys.path)",
    "values = [1]\nvalues[0] = 2\nmodel.weight = 3\nself.exercises = 4",
    "np.random.seed(0)\ntorch.manual_seed(1)\nx = np.allclose(a, b)",
    "torch.backends.cudnn.benchmark = True",
    "def broken(:",
    *(exercise.solution_source for exercise in CHAPTER),
]


@pytest.mark.parametrize("source", HARMLESS)
def test_honest_cells_get_no_remark(source: str) -> None:
    assert tampering(source) == []


@pytest.mark.parametrize("path", sorted(folders.NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem[:2])
def test_no_chapter_gets_a_remark(path: Path) -> None:
    try:
        found = sheet.sheet(sheet.read(path), path.name)
    except ValueError as error:
        assert "holds no exercise" in str(error)
        return
    assert [words for each in found.cells for words in tampering(each.handed_in)] == []
    assert not any(found.remarks.values())
    assert not found.conflicts
