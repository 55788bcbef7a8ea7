"""The check in a real kernel, as nbgrader runs it."""

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.check import exercises
from fedlab_course.harness import kernel

IMPORTS = "import numpy as np\nimport torch\nimport fedlab_core as fl\nfrom fedlab_course import exercises"
STEP = exercises.get("02-prox-step")


@pytest.mark.slow
def test_taking_nbgrader_s_variable_away_does_not_make_a_check_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    away = 'import os\nos.environ.pop("NBGRADER_EXECUTION")'
    check = f'exercises.check("{STEP.id}", lambda y, w, gradient, mu, lr: y)'
    notebook = new_notebook(cells=[new_code_cell(source) for source in [IMPORTS, away, check]])
    with kernel.environment() as workspace:
        config = kernel.manager_config(workspace)
        NotebookClient(notebook, kernel_name=kernel.KERNEL, allow_errors=True, timeout=120, config=config).execute()
    errors = [output.ename for cell in notebook.cells for output in cell.outputs if output.output_type == "error"]
    assert errors == ["NotSolved"]
