"""The check in a real kernel: it judges the answer that was written last, or says why it does not."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.check import exercises
from fedlab_course.harness import kernel

IMPORTS = "import numpy as np\nimport torch\nimport fedlab_core as fl\nfrom fedlab_course import exercises"
STEP, MOMENTUM = exercises.get("02-prox-step"), exercises.get("10-momentum")
FAILING = {
    "a syntax error": lambda source: source.rstrip() + " +\n",
    "a line too many that is not Python": lambda source: source.rstrip() + "\n    return (\n",
    "a name that does not exist": lambda source: "missing_name\n" + source,
}


def outputs(*sources: str) -> list:
    """The outputs of cells that run one after another in one kernel; errors do not stop it."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in [IMPORTS, *sources]])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config).execute()
    return [output for cell in notebook.cells for output in cell.outputs]


def test_an_answer_counts_unless_its_cell_failed_later() -> None:
    """A right answer does not stand for a later one whose cell failed; other cells do not make it old."""
    cells, wanted = [], []

    def run(exercise: exercises.Exercise, source: str, status: str) -> None:
        cells.extend([source, f'exercises.check("{exercise.id}", {exercise.name})'])
        wanted.append((exercise.title, status))

    for exercise in (STEP, MOMENTUM):
        right = exercise.solution_source
        run(exercise, right, "solved")
        for change in FAILING.values():
            run(exercise, change(right), "wrong")
            run(exercise, right, "solved")
    helper = f"def {STEP.name}_again(*arguments):\n    return {STEP.name}(*arguments)"
    inside = "if True:\n" + "".join(f"    {line}\n" for line in STEP.solution_source.splitlines())
    for other in (helper, f"{STEP.name}(", inside, f"{STEP.name} = {STEP.name}", "1 / 0"):
        run(STEP, other, "solved")
    found = [one["data"][exercises.MIME] for one in outputs(*cells) if exercises.MIME in one.get("data", {})]
    assert [(one["title"], one["status"]) for one in found] == wanted
    for one in found:
        assert (one["points"] == 0) == ("latest" in one["hint"]) == (one["status"] == "wrong")


def test_taking_nbgrader_s_variable_away_does_not_make_a_check_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    away = 'import os\nos.environ.pop("NBGRADER_EXECUTION")'
    found = outputs(away, f'exercises.check("{STEP.id}", lambda y, w, gradient, mu, lr: y)')
    assert [one.ename for one in found if one.output_type == "error"] == ["NotSolved"]
