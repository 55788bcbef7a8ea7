"""Theorems 1 and 2 of [004]: with η_t = β/(t + γ), the error F(w_T) − F* falls as O(E²/T) on strongly convex problems.

T counts local steps, E a round, as in the proofs; β = 2/μ > 1/(2μ) and γ = 8L/μ (Li et al. 2020, which [004]
follows), so that η_t ≤ 2 η_{t+E}. The rate is that of the first of a round's E steps in all of them: it changes once a
round in the library, by a factor of at most 1 + E/γ. Errors are taken at T = 50, 100, 200, 500, …, 5,000.

``slope_T``: that of log(error) against log(T + γ), least squares. ``excess``: the last error. Table
``theorem_rates_growth``: ``slope_E``, that of log(error) against log(E) for E ∈ {1, 2, 5, 10} at the same T, the
mean over T ≥ 500. There is none with exact gradients: one step a round has no drift then, and its error falls as a
higher power of T, while that of the others grows as (E − 1)².

``participation``: "exact" has full gradients of all clients and no chance but in the data; "all" theorem 1, batches of
``BATCH`` of all 20 clients; "sampled" theorem 2, the same with 4 of the 20, drawn without replacement. The problems
are drawn anew for each seed.

"error_floor", [004] section 3.5: does a constant rate leave an error floor, and a decaying one none?

``quadratics``: f_1 = ½ x², f_2 = ³⁄₂ (x − 1)², ten full local steps, η = 0.1: FedAvg has the fixed point
Σ p(1−q)b / Σ p(1−q), q_k = (1 − η a_k)^10, and no chance. ``softmax_digits`` and ``softmax_mnist``: softmax
regression with ridge, two labels per client, 4 of 20 (MNIST: 10 of 100) clients a round, five local steps in batches of
10, η_0 = 0.05. The decaying rate is η_0/(1 + t/100) in round t.

``excess_early`` and ``excess_end``: F(w) − F*, the mean over the 20 rounds up to the 100th, and up to the last;
``log10_fall``: how many powers of ten lie between. ``log10_end``: the logarithm of the latter. ``floor``: the closed
form of F − F* at the fixed point, where there is one.
"""

import math
from collections.abc import Callable

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.data.synthetic import quadratic_optimum
from fedlab_core.data.synthetic import quadratics as scalar_quadratics
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.problems import Problem, linear, quadratics, softmax
from fedlab_course.experiments.runs import parameters

RATED: dict[str, Callable[[int], Problem]] = {"quadratics": quadratics, "softmax_digits": softmax}
TIMES = (50, 100, 200, 500, 1000, 2000, 5000)
STEPS = (1, 2, 5, 10)
BATCH = 5
A, B, LOCAL_STEPS, LR = (1.0, 3.0), (0.0, 1.0), 10, 0.1
AVERAGED = 20


def errors(problem: Problem, participation: str, local_steps: int, seed: int) -> np.ndarray:
    """F(w_T) − F* at each T of ``TIMES``."""
    beta, gamma = 2 / problem.convexity, 8 * problem.smoothness / problem.convexity
    settings = {"rounds": TIMES[-1] // local_steps, "local_steps": local_steps, "eval_every": TIMES[-1], "seed": seed}
    settings["clients_per_round"] = 4 if participation == "sampled" else problem.fed.num_clients
    batch_size = None if participation == "exact" else BATCH
    simulation = problem.simulation(**settings, batch_size=batch_size, lr=lambda t: beta / (t * local_steps + gamma))
    due = {time // local_steps for time in TIMES}
    found = [problem.excess(parameters(simulation)) for record in simulation if record.round in due]
    return np.array(found)


def rates(seed: int, *, problem: str, participation: str) -> list[Row]:
    """A row for each E, and one of the growth with E."""
    made = RATED[problem](seed)
    found = np.stack([errors(made, participation, steps, seed) for steps in STEPS])  # [E, T]
    times = np.log(np.array(TIMES) + 8 * made.smoothness / made.convexity)
    rows: list[Row] = [
        {"local_steps": steps, "slope_T": slope(times, np.log(row)), "excess": row[-1]}
        for steps, row in zip(STEPS, found, strict=True)
    ]
    if participation == "exact":
        return rows
    late = np.log(found[:, np.array(TIMES) >= 500]).mean(axis=1)
    return [*rows, {"table": "growth", "slope_E": slope(np.log(np.array(STEPS)), late)}]


def slope(x: np.ndarray, y: np.ndarray) -> float:
    """Of the least-squares line."""
    return float(np.polyfit(x, y, 1)[0])


def fixed_point(lr: float = LR) -> float:
    """Where FedAvg at a constant rate rests on the two quadratics."""
    moved = [1 - (1 - lr * a) ** LOCAL_STEPS for a in A]
    return float(np.dot(moved, B) / sum(moved))


def two_quadratics(seed: int) -> Problem:
    """The two clients above; they are the same for every ``seed``."""
    optimum = quadratic_optimum(A, B)

    def excess(params: torch.Tensor) -> float:
        return 0.5 * float(np.mean(A)) * (float(params[0]) - optimum) ** 2

    return Problem(scalar_quadratics(A, B), linear(), fl.FedAvg(), "squared_error", min(A), max(A), excess)


# Problem: how it is made, clients per round, local steps, batch size, rate, rounds, and the early round.
FLOORS = {
    "quadratics": (two_quadratics, 2, LOCAL_STEPS, None, LR, 3_000, 100),
    "softmax_digits": (lambda seed: softmax(seed), 4, 5, 10, 0.05, 5_000, 100),
    "softmax_mnist": (lambda seed: softmax(seed, "mnist", 100), 10, 5, 10, 0.05, 1_000, 100),
}


def floor(seed: int, *, problem: str, rate: str) -> list[Row]:
    """One run, at a "constant" or a "decaying" ``rate``."""
    make, cohort, local_steps, batch_size, lr, rounds, early = FLOORS[problem]
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
    known = None
    if problem == "quadratics" and rate == "constant":
        known = made.excess(torch.tensor([fixed_point()], dtype=torch.float64))
    row = {"excess_early": first, "excess_end": last, "log10_fall": math.log10(first / last)}
    return [row | {"log10_end": math.log10(last), "floor": known}]


_PARTS, _RATES = ("exact", "all", "sampled"), ("constant", "decaying")
_RATED = [{"problem": problem, "participation": part} for problem in RATED for part in _PARTS]
_FLOORS = [{"problem": problem, "rate": rate} for problem in FLOORS for rate in _RATES]
THEOREM_RATES = Experiment("theorem_rates", rates, _RATED)
ERROR_FLOOR_EXACT = Experiment("error_floor_exact", floor, _FLOORS[:2], digits=17)
ERROR_FLOOR = Experiment("error_floor", floor, _FLOORS[2:])
