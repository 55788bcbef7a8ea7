"""The bench of the clinic: tiny problems on which an algorithm runs in milliseconds, and right answers are known.

A client is a quadratic with one parameter, f_k(w) = a_k/2 (w − b_k)². As data it holds ``sizes[k]`` copies of a sample.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch07_bug_clinic.patients import HEALTHY, Patient

Numbers = Sequence[float] | np.ndarray
START = 2.0
_WORK = {"rounds": 3, "batch_size": None, "lr": 0.1, "loss": "squared_error", "eval_every": 1000, "progress": False}


def draw(seed: int, num_clients: int) -> tuple[np.ndarray, np.ndarray]:
    """Curvatures in [1, 3] and optima around zero, [num_clients] each."""
    rng = np.random.default_rng(seed)
    return rng.uniform(1, 3, num_clients), rng.normal(size=num_clients)


def start(patient: Patient, a: Numbers, b: Numbers, sizes: int | Sequence[int] = 1, **changes: Any) -> fl.Simulation:
    """The patient's simulation on these clients, from w = 2; by default all take part and make 5 steps, three times.

    ``changes``: other settings of :func:`fedlab_core.simulate`.
    """
    fed = fl.synthetic.quadratics(list(a), list(b), sizes)
    model = fl.models.linear(fed, bias=False)
    torch.nn.init.constant_(next(model.parameters()), START)
    steps = {} if "local_epochs" in changes else {"local_steps": 5}
    settings: dict[str, Any] = _WORK | {"clients_per_round": len(a)} | steps | changes
    return fl.Simulation(fed, model, patient.algorithm, **settings)


def end(patient: Patient, a: Numbers, b: Numbers, sizes: int | Sequence[int] = 1, **changes: Any) -> float:
    """The parameter w after the last round; NaN, which equals nothing, if the patient diverged. See :func:`start`."""
    simulation = start(patient, a, b, sizes, **changes)
    try:
        simulation.run()
    except fl.Diverged:
        return float("nan")
    return simulation.state_dict()["params"].item()


def same(u: float, v: float) -> bool:
    """Whether two numbers agree, up to rounding."""
    return bool(abs(u - v) < 1e-8)


def trial(make: Any) -> tuple[list[bool], list[bool], list[bool]]:
    """What a class with a bug and a method ``passes(patient, seed)`` says of FedAvg and of itself, under five seeds.

    The third list: whether the class ends where FedAvg ends, or nowhere.
    """
    test, healthy, sick = make(), HEALTHY["FedAvg"], Patient("yours", "FedAvg", make())
    problems = [draw(seed, 3) for seed in range(5)]
    ends = [(end(sick, *one, sizes=[1, 2, 4]), end(healthy, *one, sizes=[1, 2, 4])) for one in problems]
    unlike = [not same(mine, right) and abs(mine) < 100 for mine, right in ends]
    said = [[test.passes(patient, seed) for seed in range(5)] for patient in (healthy, sick)]
    return said[0], said[1], unlike
