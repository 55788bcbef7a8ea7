"""The best number of local steps by the bound of FedSSO's paper [004]."""

import numpy as np
import pytest

from fedlab_course.theory import LocalStepsBound


@pytest.mark.parametrize("gap", [0.0, 7.25, 100.0])
def test_best_number_of_local_steps_is_the_least_of_eq_35(gap: float) -> None:
    """A = (1 + 90/1000)·4 = 4.36, B = 1 + 4Γ + 4·4/0.5 = 33 + 4Γ."""
    known = {"noise": 1.0, "smoothness": 4.0, "convexity": 0.5, "gradient": 2.0}
    bound = LocalStepsBound(gap=gap, num_clients=100, clients_per_round=10, **known)
    assert bound.best_local_steps == pytest.approx(np.sqrt((33 + 4 * gap) / 4.36))
    grid = np.linspace(0.5, 20, 4000)
    least = grid[np.argmin([bound.rounds(e) for e in grid])]
    assert least == pytest.approx(bound.best_local_steps, abs=0.005)
