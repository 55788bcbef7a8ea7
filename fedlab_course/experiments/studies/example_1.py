"""[004] example 1, in one dimension: where do shifted weights lead, and where does FedSSO with
clusters?

f_k(x) = (x − e_k)² for N clients of equal size; the optimum is the mean of the e_k.

- "weights": FedAvg with the weights 1/N + Δρ_k rests at the mean + Σ Δρ_k e_k, eq. (6), for Σ Δρ_k
  = 0. Its "if and
  only if" is false: in "balanced", Δρ ≠ 0 and the e_k differ, but Σ Δρ_k e_k = 0. M = Σ Δρ_k F_k*,
  the device heterogeneity of theorem 1, is 0 in all cases, since F_k* = 0; the bias is not.
- "clusters": FedSSO with the same client of each cluster in every round rests at Σ n_c/N e_c, eq.
  (11), with e_c where
  that client has its minimum, and within (1/N) Σ n_c δ_c of the optimum, δ_c = max |e_k − e_c|.
  "fedavg" has the same clients, and rests at their plain mean.

The runs are the library's, in float64, to the fixed point: K = 5 full local steps at η = 0.1, 200
rounds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.synthetic import quadratics
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.problems import linear

SPREAD = (0.0, 1.0, 2.0, 7.0)
SHIFTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {  # e_k, Δρ_k
    "no_shift": (SPREAD, (0.0, 0.0, 0.0, 0.0)),
    "shifted": (SPREAD, (0.05, 0.05, 0.0, -0.1)),
    "balanced": (SPREAD, (0.05, -0.1, 0.05, 0.0)),
    "iid": ((3.0, 3.0, 3.0, 3.0), (0.05, 0.05, 0.0, -0.1)),
}
CLUSTERS = ((0.0, 0.1, 0.2, 0.3), (2.0, 2.3), (9.0, 9.2))
SIZES = tuple(map(len, CLUSTERS))
EXACT = 12  # decimals; what lies beyond is rounding error, and + 0.0 makes 0 of −0
HEARD = (3, 5, 7)  # of the eight clients in a row: the last of each cluster


@dataclass(frozen=True)
class Weighted(fl.Algorithm):
    """FedAvg with a given weight for each client of the cohort, in its order."""

    weights: tuple[float, ...]

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Σ ρ_k y_k, [P]."""
        return torch.tensor(self.weights, dtype=torch.float64) @ updates.params


def bias_of(minima: tuple[float, ...], algorithm: fl.Algorithm, **settings: Any) -> float:
    """How far from the optimum a run from 0 ends, to rounding errors."""
    fed = quadratics([2.0] * len(minima), minima)
    fixed: dict[str, Any] = {
        "rounds": 200,
        "eval_every": 200,
        "local_steps": 5,
        "batch_size": None,
        "lr": 0.1,
        "clients_per_round": len(minima),
        "loss": "squared_error",
        "progress": False,
    }
    params = fl.simulate(fed, linear(), algorithm, **fixed | settings).params
    assert params is not None
    return round(float(params[0]) - float(np.mean(minima)), EXACT) + 0.0


def run(seed: int, *, part: str, case: str) -> list[ResultRow]:
    """Where it rests beside the closed form; ``bias`` is the distance to the optimum, with its
    sign.
    """
    bias, closed, further = _weights(case) if part == "weights" else _clusters(case)
    error = round(abs(bias - closed), EXACT)
    return [
        {"bias": bias, "abs_bias": abs(bias), "closed_form": closed} | further | {"error": error}
    ]


def _weights(case: str) -> tuple[float, float, ResultRow]:
    minima, shifts = SHIFTS[case]
    weights = tuple(1 / len(shifts) + shift for shift in shifts)
    heterogeneity = float(np.dot(shifts, np.zeros(len(shifts))))  # F_k* = 0 for every client
    bias = bias_of(minima, Weighted(weights))
    return bias, float(np.dot(shifts, minima)), {"device_heterogeneity": heterogeneity}


def _clusters(case: str) -> tuple[float, float, ResultRow]:
    """FedSSO, with the true clusters given, has the weights n_c/N of algorithm 1 of [004]."""
    minima = tuple(value for cluster in CLUSTERS for value in cluster)
    heard = np.array(minima)[list(HEARD)]
    own = np.array(SIZES) / sum(SIZES)
    weights = own if case == "fedsso" else np.full(len(SIZES), 1 / len(SIZES))
    algorithm = Weighted(tuple(own.tolist())) if case == "fedsso" else fl.FedAvg()
    always = fl.sampling.Bernoulli(np.isin(np.arange(len(minima)), HEARD).astype(float))
    bias = bias_of(minima, algorithm, availability=always)
    farthest = [
        max(abs(value - centre) for value in cluster)
        for cluster, centre in zip(CLUSTERS, heard, strict=True)
    ]
    bound = float(np.dot(SIZES, farthest)) / sum(SIZES)
    return (
        bias,
        float(weights @ heard) - float(np.mean(minima)),
        {"bound": bound, "slack": bound - abs(bias)},
    )


_WEIGHTS = [{"part": "weights", "case": case} for case in SHIFTS]
_CLUSTERS = [{"part": "clusters", "case": case} for case in ("fedsso", "fedavg")]
EXAMPLE_1 = Experiment("example_1", run, [*_WEIGHTS, *_CLUSTERS])
