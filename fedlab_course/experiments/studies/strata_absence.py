"""Example 1 of [004] with clients that are often away: where do five ways to draw and to weigh come
to rest?

Forty quadratics (x − e_k)² in four groups of ten, with e_k within 0.1 of 0, 1, 2 and 7. The last
group is there with probability ``presence``, the others always; four of those who are there are
drawn. 200 rounds of one full step at the rate 0.5/(1 + t), with which x is the mean of what all
rounds so far aimed at.

``off``: x − 2.5 at the end. ``pull``: the standard deviation over the last 100 rounds of what a
round aims at.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.synthetic import quadratics
from fedlab_core.server import Server
from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import parameters

GROUPS = np.repeat([0, 1, 2, 3], 10)
MEANS = np.repeat([0.0, 1.0, 2.0, 7.0], 10) + np.tile(np.linspace(-0.1, 0.1, 10), 4)
COHORT = 4
ROUNDS = 200
WORK: dict[str, Any] = {
    "rounds": ROUNDS,
    "clients_per_round": COHORT,
    "local_steps": 1,
    "batch_size": None,
    "loss": "squared_error",
    "eval_every": ROUNDS,
    "progress": False,
}


class ByInverse(fl.Algorithm):
    """FedAvg whose weight of client k is ρ_k/π_k (Horvitz and Thompson), or that over its sum
    (Hájek).
    """

    def __init__(self, presences: np.ndarray, normalised: bool) -> None:
        self.pi = theory.inclusion(presences, COHORT)
        self.normalised = normalised

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """w + Σ ω_k Δ_k, [P]."""
        omega = torch.from_numpy(server.fed.weights[updates.clients] / self.pi[updates.clients])
        if self.normalised:
            omega = omega / omega.sum()
        return server.params + omega @ (updates.params - server.params)


def algorithms(presences: np.ndarray) -> dict[str, fl.Algorithm]:
    """The methods by name, for clients that are there with probabilities ``presences`` [N]."""
    return {
        "fedavg": fl.FedAvg(),
        "fedsso, one of each": fl.FedSSO(sampling="at_least_one"),
        "fedsso, systematic": fl.FedSSO(),
        "horvitz-thompson": ByInverse(presences, normalised=False),
        "hajek": ByInverse(presences, normalised=True),
    }


def run(seed: int, *, method: str, presence: float) -> list[ResultRow]:
    """One row."""
    presences = np.where(GROUPS == 3, presence, 1.0)
    fed = quadratics([2.0] * len(MEANS), MEANS.tolist())
    model = fl.models.linear(fed, bias=False)
    there = fl.sampling.Bernoulli(presences)
    settings = WORK | {"lr": fl.InverseTime(0.5), "availability": there, "seed": seed}
    simulation = fl.Simulation(fed, model, algorithms(presences)[method], **settings)
    path = np.array([float(parameters(simulation)[0]) for _ in simulation])
    # x moves by 1/(1 + t) of the way to where round t aims
    pulls = np.diff(path) * np.arange(2, ROUNDS + 1)
    return [{"off": path[-1] - MEANS.mean(), "pull": float(pulls[-100:].std(ddof=1))}]


_CASES = [
    {"method": method, "presence": presence}
    for method in algorithms(np.ones(40))
    for presence in (0.4, 0.1)
]
ABSENCE = Experiment("strata_absence", run, _CASES)
