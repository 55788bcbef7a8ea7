"""The check in a real kernel: it judges the answer that was
written last, or says why it does not.
"""

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from fedlab_course.check import exercises, registry
from fedlab_course.check.base import Exercise
from fedlab_course.harness import kernel

IMPORTS = (
    "import numpy as np\nimport torch\nimport fedlab_core as fl\n"
    "from fedlab_course import exercises"
)
STEP = registry.get("02-local")
MOMENTUM = registry.get("08-feddyn")
FAILING = {
    "a syntax error": lambda source: source.rstrip() + " +\n",
    "a line too many that is not Python": lambda source: source.rstrip() + "\n    return (\n",
    "a name that does not exist": lambda source: "missing_name\n" + source,
}


@pytest.fixture
def shell():
    """An IPython shell in this process, as a kernel has it, without a file for its history."""
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


def test_an_answer_counts_unless_its_cell_failed_later(
    shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right answer does not stand for a later one whose cell failed; other cells do not make it
    old.
    """
    shown = []
    monkeypatch.setattr("fedlab_course.display.publish", shown.append)
    shell.run_cell(IMPORTS, store_history=True)

    def run(exercise: Exercise, source: str, status: str) -> None:
        shell.run_cell(source, store_history=True)
        shell.run_cell(f'exercises.check("{exercise.id}", {exercise.name})', store_history=True)
        verdict = shown.pop()[exercises.MIME]
        assert verdict["status"] == status, source
        assert (verdict["points"] == 0) == ("latest" in verdict["hint"]) == (status == "wrong")

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


@pytest.mark.slow
def test_taking_nbgrader_s_variable_away_does_not_make_a_check_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    away = 'import os\nos.environ.pop("NBGRADER_EXECUTION")'
    check = f'exercises.check("{STEP.id}", lambda w, k, gradient, eta, steps, mu: w)'
    notebook = new_notebook(cells=[new_code_cell(source) for source in [IMPORTS, away, check]])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(
            notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config
        ).execute()
    errors = [
        output.ename
        for cell in notebook.cells
        for output in cell.outputs
        if output.output_type == "error"
    ]
    assert errors == ["NotSolved"]
