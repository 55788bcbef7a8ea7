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
"""

from collections.abc import Callable

import numpy as np

from fedlab_course.experiments import problems
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import parameters

PROBLEMS: dict[str, Callable[[int], problems.Problem]] = {
    "quadratics": problems.quadratics,
    "softmax_digits": problems.softmax,
}
TIMES = (50, 100, 200, 500, 1000, 2000, 5000)
STEPS = (1, 2, 5, 10)
BATCH = 5


def errors(problem: problems.Problem, participation: str, local_steps: int, seed: int) -> np.ndarray:
    """F(w_T) − F* at each T of ``TIMES``."""
    beta, gamma = 2 / problem.convexity, 8 * problem.smoothness / problem.convexity
    settings = {"rounds": TIMES[-1] // local_steps, "local_steps": local_steps, "eval_every": TIMES[-1], "seed": seed}
    settings["clients_per_round"] = 4 if participation == "sampled" else problem.fed.num_clients
    batch_size = None if participation == "exact" else BATCH
    simulation = problem.simulation(**settings, batch_size=batch_size, lr=lambda t: beta / (t * local_steps + gamma))
    due = {time // local_steps for time in TIMES}
    found = [problem.excess(parameters(simulation)) for record in simulation if record.round in due]
    return np.array(found)


def run(seed: int, *, problem: str, participation: str) -> list[Row]:
    """A row for each E, and one of the growth with E."""
    made = PROBLEMS[problem](seed)
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


_PARTS = ("exact", "all", "sampled")
_CASES = [{"problem": problem, "participation": part} for problem in PROBLEMS for part in _PARTS]
THEOREM_RATES = Experiment("theorem_rates", run, _CASES)
