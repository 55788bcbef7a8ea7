"""The small problem on which exercise 10-momentum runs an algorithm: two quadratics of unequal sizes."""

from typing import Any

import numpy as np

from fedlab_course.chapters.ch09_bug_clinic.bench import start
from fedlab_course.chapters.ch09_bug_clinic.patients import Patient

A, B, SIZES = np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([1, 3])
STEPS, ROUNDS = 5, 3


def run(make: Any, beta: float, resume: bool = False) -> tuple[list[float], list[str]]:
    """Run the algorithm ``make(beta)``. Return w after each round, and the names in ``server.state`` after round 1.

    ``resume``: after all rounds a new instance goes back to the state after round 1 and runs the others again, where a
    velocity outside of ``server.state`` is lost.
    """

    def begin() -> Any:
        return start(Patient("yours", "FedAvgM", make(beta)), A, B, SIZES.tolist(), rounds=ROUNDS, local_steps=STEPS)

    simulation = begin()
    next(simulation)
    state = simulation.state_dict()
    if resume:
        simulation.run()
        simulation = begin()
        simulation.load_state_dict(state)
    path = [state["params"].item(), *(simulation.state_dict()["params"].item() for _ in simulation)]
    return path, list(state["algorithm"])
