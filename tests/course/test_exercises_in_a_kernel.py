"""The check in a real kernel: it judges the answer that was written last, or says why it does not."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.check import exercises
from fedlab_course.harness import kernel

STEP, MOMENTUM = exercises.get("02-prox-step"), exercises.get("10-momentum")
FAILING = {
    "a syntax error": lambda source: source.rstrip() + " +\n",
    "a line too many that is not Python": lambda source: source.rstrip() + "\n    return (\n",
    "a name that does not exist": lambda source: "missing_name\n" + source,
}


def verdicts(exercise: exercises.Exercise, *answers: str) -> list[dict]:
    """The verdict after each of ``answers`` was run, one after another in one kernel; errors do not stop it."""
    check = f'exercises.check("{exercise.id}", {exercise.name})'
    sources = [source for answer in answers for source in (answer, check)]
    imports = "import numpy as np\nimport torch\nimport fedlab_core as fl\nfrom fedlab_course import exercises"
    notebook = new_notebook(cells=[new_code_cell(source) for source in [imports, *sources]])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config).execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs if exercises.MIME in output.get("data", {})]
    return [output["data"][exercises.MIME] for output in outputs]


@pytest.mark.parametrize("exercise", [STEP, MOMENTUM], ids=["function", "class"])
def test_a_right_answer_does_not_stand_for_a_later_one_whose_cell_failed(exercise: exercises.Exercise) -> None:
    right = exercise.solution_source
    answers = [right, *(text for change in FAILING.values() for text in (change(right), right))]
    found = verdicts(exercise, *answers)
    assert [each["status"] for each in found] == ["solved", *["wrong", "solved"] * len(FAILING)]
    for each in found[1::2]:
        assert each["hint"].startswith(f"The cell with your latest `{exercise.name}` stopped with an error.")
        assert each["points"] == 0


def test_other_cells_do_not_make_an_answer_old() -> None:
    helper = f"def {STEP.name}_again(*arguments):\n    return {STEP.name}(*arguments)"
    inside = "if True:\n" + "".join(f"    {line}\n" for line in STEP.solution_source.splitlines())
    failing = f"{STEP.name}("
    found = verdicts(STEP, STEP.solution_source, helper, failing, inside, f"{STEP.name} = {STEP.name}", "1 / 0")
    assert [each["status"] for each in found] == ["solved"] * 6


def test_taking_nbgrader_s_variable_away_does_not_make_a_check_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    away, imports = 'import os\nos.environ.pop("NBGRADER_EXECUTION")', "from fedlab_course.check import exercises"
    check = f'exercises.check("{STEP.id}", lambda y, w, gradient, mu, lr: y)'
    notebook = new_notebook(cells=[new_code_cell(source) for source in [imports, away, check]])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config).execute()
    errors = [output.ename for cell in notebook.cells for output in cell.outputs if output.output_type == "error"]
    assert errors == ["NotSolved"]
