"""[004] section 3.5: does a constant rate leave an error floor, and a decaying one none?

``quadratics``: f_1 = ½ x², f_2 = ³⁄₂ (x − 1)², ten full local steps, η = 0.1: FedAvg has the fixed point
Σ p(1−q)b / Σ p(1−q), q_k = (1 − η a_k)^10, and no chance. ``softmax_digits`` and ``softmax_mnist``: softmax
regression with ridge, two labels per client, 4 of 20 (MNIST: 10 of 100) clients a round, five local steps in batches of
10, η_0 = 0.05. The decaying rate is η_0/(1 + t/100) in round t.

``excess_early`` and ``excess_end``: F(w) − F*, the mean over the 20 rounds up to the 100th, and up to the last;
``log10_fall``: how many powers of ten lie between. ``log10_end``: the logarithm of the latter. ``floor``: the closed
form of F − F* at the fixed point, where there is one.
"""

import math

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.data.synthetic import quadratic_optimum, quadratics
from fedlab_course.experiments import problems
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import parameters

A, B, LOCAL_STEPS, LR = (1.0, 3.0), (0.0, 1.0), 10, 0.1
AVERAGED = 20


def fixed_point(lr: float = LR) -> float:
    """Where FedAvg at a constant rate rests on the two quadratics."""
    moved = [1 - (1 - lr * a) ** LOCAL_STEPS for a in A]
    return float(np.dot(moved, B) / sum(moved))


def two_quadratics(seed: int) -> problems.Problem:
    """The two clients above; they are the same for every ``seed``."""
    optimum = quadratic_optimum(A, B)

    def excess(params: torch.Tensor) -> float:
        return 0.5 * float(np.mean(A)) * (float(params[0]) - optimum) ** 2

    return problems.Problem(quadratics(A, B), problems.linear(), fl.FedAvg(), "squared_error", min(A), max(A), excess)


# Problem: how it is made, clients per round, local steps, batch size, rate, rounds, and the early round.
PROBLEMS = {
    "quadratics": (two_quadratics, 2, LOCAL_STEPS, None, LR, 3_000, 100),
    "softmax_digits": (lambda seed: problems.softmax(seed), 4, 5, 10, 0.05, 5_000, 100),
    "softmax_mnist": (lambda seed: problems.softmax(seed, "mnist", 100), 10, 5, 10, 0.05, 1_000, 100),
}


def run(seed: int, *, problem: str, rate: str) -> list[Row]:
    """One run, at a "constant" or a "decaying" ``rate``."""
    make, cohort, local_steps, batch_size, lr, rounds, early = PROBLEMS[problem]
    made = make(seed)
    settings = {"rounds": rounds, "clients_per_round": cohort, "local_steps": local_steps, "batch_size": batch_size}
    schedule = lr if rate == "constant" else lambda t: lr / (1 + t / 100)
    simulation = made.simulation(**settings, lr=schedule, seed=seed, eval_every=rounds)
    windows: dict[int, list[float]] = {early: [], rounds: []}
    for record in simulation:
        for end, found in windows.items():
            if end - AVERAGED < record.round <= end:
                found.append(made.excess(parameters(simulation)))
    first, last = (float(np.mean(found)) for found in windows.values())
    floor = None
    if problem == "quadratics" and rate == "constant":
        floor = made.excess(torch.tensor([fixed_point()], dtype=torch.float64))
    row = {"excess_early": first, "excess_end": last, "log10_fall": math.log10(first / last)}
    return [row | {"log10_end": math.log10(last), "floor": floor}]


_CASES = [{"problem": problem, "rate": rate} for problem in PROBLEMS for rate in ("constant", "decaying")]
ERROR_FLOOR_EXACT = Experiment("error_floor_exact", run, _CASES[:2])
ERROR_FLOOR = Experiment("error_floor", run, _CASES[2:])
