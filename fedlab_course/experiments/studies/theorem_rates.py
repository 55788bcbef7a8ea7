"""Theorems 1 and 2 of [004]: with η_t = β/(t + γ), the error F(w_T) − F* falls as O(E²/T) on
strongly convex problems.

T counts local steps; β = 2/μ, γ = 8L/μ (Li et al. 2020, which [004] follows), E steps a round at
the rate of their first. Problems are drawn anew for each seed. "exact": full gradients of all 20
clients; "all", theorem 1: batches of ``BATCH``; "sampled", theorem 2: the same with 4 of the 20.

``slope_T``: of log(error) against log(T + γ), least squares over ``TIMES``. ``excess``: the last
error. Table "theorem_rates_growth": ``slope_E`` of log(error) against log(E), the mean over T ≥
500; with exact gradients one step a round has no drift, and it is that against log(E − 1) for the
other E.

"error_floor", section 3.5: does a constant rate leave an error floor, and η_0/(1 + t/100) in round
t none? ``FLOORS`` has the problems: two scalar quadratics, with FedAvg's fixed point Σ p(1−q)b / Σ
p(1−q), q_k = (1 − η a_k)^10, and softmax regression with two labels a client. ``excess_early``,
``excess_end``: F(w) − F*, the mean over the 20 rounds up to the 100th, and up to the last;
``log10_fall``: powers of ten between them; ``log10_end``: that of the latter; ``floor``: the closed
form, where there is one.
"""

import math

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.data.synthetic import quadratic_optimum
from fedlab_core.data.synthetic import quadratics as scalar_quadratics
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import parameters
from fedlab_course.experiments.problems import Problem, linear, quadratics, softmax

TIMES = (50, 100, 200, 500, 1000, 2000, 5000)
STEPS = (1, 2, 5, 10)
BATCH = 5
A = (1.0, 3.0)
B = (0.0, 1.0)
LOCAL_STEPS = 10
LR = 0.1
AVERAGED = 20


def errors(problem: Problem, participation: str, local_steps: int, seed: int) -> np.ndarray:
    """F(w_T) − F* at each T of ``TIMES``."""
    beta = 2 / problem.convexity
    gamma = 8 * problem.smoothness / problem.convexity
    settings = {
        "rounds": TIMES[-1] // local_steps,
        "local_steps": local_steps,
        "eval_every": TIMES[-1],
        "seed": seed,
    }
    settings["clients_per_round"] = 4 if participation == "sampled" else problem.fed.num_clients
    batch_size = None if participation == "exact" else BATCH
    simulation = problem.simulation(
        **settings, batch_size=batch_size, lr=lambda t: beta / (t * local_steps + gamma)
    )
    due = {time // local_steps for time in TIMES}
    excesses = []
    for record in simulation:
        if record.round in due:
            excesses.append(problem.excess(parameters(simulation)))
    return np.array(excesses)


def rates(seed: int, *, participation: str) -> list[ResultRow]:
    """A row for each E, and one of the growth with E."""
    made = quadratics(seed)
    errors_at = np.stack([errors(made, participation, steps, seed) for steps in STEPS])  # [E, T]
    times = np.log(np.array(TIMES) + 8 * made.smoothness / made.convexity)
    rows: list[ResultRow] = [
        {"local_steps": steps, "slope_T": slope(times, np.log(row)), "excess": row[-1]}
        for steps, row in zip(STEPS, errors_at, strict=True)
    ]
    late = np.log(errors_at[:, np.array(TIMES) >= 500]).mean(axis=1)
    exact = int(participation == "exact")
    return [
        *rows,
        {
            "table": "growth",
            "slope_E": slope(np.log(np.array(STEPS[exact:]) - exact), late[exact:]),
        },
    ]


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

    return Problem(
        scalar_quadratics(A, B), linear(), fl.FedAvg(), "squared_error", min(A), max(A), excess
    )


# Problem: how it is made, clients per round, local steps, batch
# size, rate, rounds, and the early round.
FLOORS = {
    "quadratics": (two_quadratics, 2, LOCAL_STEPS, None, LR, 3_000, 100),
    "softmax_digits": (lambda seed: softmax(seed), 4, 5, 10, 0.05, 5_000, 100),
    "softmax_mnist": (lambda seed: softmax(seed, "mnist", 100), 10, 5, 10, 0.05, 1_000, 100),
}


def floor(seed: int, *, problem: str, rate: str) -> list[ResultRow]:
    """One run, at a "constant" or a "decaying" ``rate``."""
    make, cohort, local_steps, batch_size, lr, rounds, early = FLOORS[problem]
    made = make(seed)
    settings = {
        "rounds": rounds,
        "clients_per_round": cohort,
        "local_steps": local_steps,
        "batch_size": batch_size,
    }
    schedule = lr if rate == "constant" else lambda t: lr / (1 + t / 100)
    simulation = made.simulation(**settings, lr=schedule, seed=seed, eval_every=rounds)
    windows: dict[int, list[float]] = {early: [], rounds: []}
    for record in simulation:
        for end, values in windows.items():
            if end - AVERAGED < record.round <= end:
                values.append(made.excess(parameters(simulation)))
    first, last = (float(np.mean(values)) for values in windows.values())
    known = None
    if problem == "quadratics" and rate == "constant":
        known = made.excess(torch.tensor([fixed_point()], dtype=torch.float64))
    row = {"excess_early": first, "excess_end": last, "log10_fall": math.log10(first / last)}
    return [row | {"log10_end": math.log10(last), "floor": known}]


_FLOORS = [
    {"problem": problem, "rate": rate} for problem in FLOORS for rate in ("constant", "decaying")
]
THEOREM_RATES = Experiment(
    "theorem_rates", rates, [{"participation": part} for part in ("exact", "all", "sampled")]
)
ERROR_FLOOR_EXACT = Experiment("error_floor_exact", floor, _FLOORS[:2], digits=17)
ERROR_FLOOR = Experiment("error_floor", floor, _FLOORS[2:])
