"""Checks of claims in and outside a notebook."""

import numpy as np
import pytest

from fedlab_core.course import claims


@pytest.mark.parametrize(
    ("holds", "sign"),
    [
        (True, "✓"),
        (np.bool_(True), "✓"),
        (np.array([True, True]), "✓"),
        (0, "✗"),
        (np.array([True, False]), "✗"),
        (None, "✗"),
    ],
)
def test_any_truth_value_is_read(holds, sign: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert claims.check("SCAFFOLD is faster", holds, "3 of 3 seeds") is None
    line = capsys.readouterr().out
    assert line.startswith(sign)
    assert "SCAFFOLD is faster (3 of 3 seeds)" in line


def test_a_claim_that_does_not_hold_says_so_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    claims.check("FedAvg ends at 0.75", False)
    assert "does not hold here: FedAvg ends at 0.75\n" in capsys.readouterr().out
