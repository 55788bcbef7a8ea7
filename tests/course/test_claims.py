"""Checks of claims in and outside a notebook."""

import numpy as np
import pandas as pd
import pytest
import torch

from fedlab_course.check import claims


@pytest.mark.parametrize(
    ("holds", "sign"),
    [
        (True, "✓"),
        (np.array([True, False], dtype=object), "✗"),
        (np.array([True, False]), "✗"),
        (np.array([[True, True], [True, False]]), "✗"),
        ([np.bool_(True), True], "✓"),
        (pd.DataFrame({"a": [False], "b": [False]}), "✗"),
        (pd.Series([True, False]), "✗"),
        (torch.tensor([True, False]), "✗"),
        (pd.Series([True, True], dtype="boolean"), "✓"),
    ],
)
def test_any_truth_value_is_read(holds, sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert claims.check("SCAFFOLD is faster", holds, "3 of 3 seeds") is None
    line = capsys.readouterr().out
    assert line.startswith(sign)
    assert "SCAFFOLD is faster. 3 of 3 seeds" in line


@pytest.mark.parametrize(
    "holds",
    [
        0.3,  # a number where a comparison was forgotten
        1,
        np.float64(0.3),
        [True, 1],
        torch.tensor([1.0, 2.0], requires_grad=True),
        [],
        pd.DataFrame({"a": []}),
        np.array([1.0, np.nan]),
        pd.Series([True, pd.NA], dtype="boolean"),
        None,
    ],
    ids=lambda holds: type(holds).__name__,
)
def test_what_is_no_truth_value_is_refused(holds, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"(?s)SCAFFOLD is faster.*must be True or False"):
        claims.check("SCAFFOLD is faster", holds)
    assert capsys.readouterr().out == ""


def test_a_claim_that_does_not_hold_says_so_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    claims.check("FedAvg ends at 0.75", False)
    assert "does not hold here: FedAvg ends at 0.75\n" in capsys.readouterr().out
