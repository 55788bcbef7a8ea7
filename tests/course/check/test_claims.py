"""Checks of claims in and outside a notebook."""

import numpy as np
import pandas as pd
import pytest
import torch

from fedlab_course.check import claims, exercises, registry


def test_any_truth_value_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    for holds, sign in (
        (True, "✓"),
        (np.array([True, False], dtype=object), "✗"),
        (np.array([[True, True], [True, False]]), "✗"),
        ([np.bool_(True), True], "✓"),
        (pd.DataFrame({"a": [False], "b": [False]}), "✗"),
        (torch.tensor([True, False]), "✗"),
        (pd.Series([True, True], dtype="boolean"), "✓"),
    ):
        claims.check("SCAFFOLD is faster", holds, "3 of 3 seeds")
        line = capsys.readouterr().out
        assert line.startswith(sign) and "SCAFFOLD is faster. 3 of 3 seeds" in line
    claims.check("FedAvg ends at 0.75", False)
    assert "does not hold here: FedAvg ends at 0.75\n" in capsys.readouterr().out


def test_a_tick_is_for_the_reader_s_own_code(capsys: pytest.CaptureFixture[str]) -> None:
    exercise = registry.get("03-class")
    own = exercise.build(exercise.solution_source)
    claims.check("Your class is right", True, of=[exercises.or_solution("03-class", own)])
    assert capsys.readouterr().out == "✓ holds: Your class is right\n"
    stub = exercise.build(exercise.stub_source)
    claims.check("Your class is right", True, of=[exercises.or_solution("03-class", stub)])
    said, line = capsys.readouterr().out.splitlines()
    assert said.startswith("`MyScaffold` is not solved yet.")
    assert line == "○ with the course's solution: Your class is right"


@pytest.mark.parametrize(
    "holds",
    [
        0.3,  # a number where a comparison was forgotten
        [True, 1],
        torch.tensor([1.0, 2.0], requires_grad=True),
        [],
        np.array([1.0, np.nan]),
        pd.Series([True, pd.NA], dtype="boolean"),
        None,
    ],
    ids=lambda holds: type(holds).__name__,
)
def test_other_values_are_refused(holds, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"(?s)SCAFFOLD is faster.*must be True or False"):
        claims.check("SCAFFOLD is faster", holds)
    assert capsys.readouterr().out == ""
