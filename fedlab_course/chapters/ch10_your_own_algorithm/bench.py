"""The small problem on which exercise 10-momentum runs an algorithm: two quadratics of unequal sizes."""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl

A, B, SIZES = np.array([1.0, 3.0]), np.array([0.0, 1.0]), np.array([1, 3])
START, STEPS, ROUNDS = 2.0, 5, 3
_WORK: dict[str, Any] = {"rounds": ROUNDS, "clients_per_round": 2, "local_steps": STEPS, "batch_size": None, "lr": 0.1}


def _simulation(algorithm: fl.Algorithm) -> fl.Simulation:
    fed = fl.synthetic.quadratics(A.tolist(), B.tolist(), SIZES.tolist())
    model = fl.models.linear(fed, bias=False)
    torch.nn.init.constant_(next(model.parameters()), START)
    return fl.Simulation(fed, model, algorithm, **_WORK, loss="squared_error", progress=False)


def run(make: Any, beta: float, resume: bool = False) -> tuple[list[float], list[str]]:
    """Run the algorithm ``make(beta)``. Return w after each round, and the names in ``server.state`` after round 1.

    ``resume``: the first instance runs all rounds. Then a new instance goes back to the state after round 1 and runs
    the other rounds again. An answer that keeps its velocity outside of ``server.state`` gives other numbers there.
    """
    simulation = _simulation(make(beta))
    next(simulation)
    state = simulation.state_dict()
    if resume:
        simulation.run()
        simulation = _simulation(make(beta))
        simulation.load_state_dict(state)
    path = [state["params"].item(), *(simulation.state_dict()["params"].item() for _ in simulation)]
    return path, list(state["algorithm"])
