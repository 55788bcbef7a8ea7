"""[004] example 1, in one dimension: where weights that are shifted lead, and where FedSSO with clusters does.

f_k(x) = (x − e_k)² for N clients of equal size; the optimum is the mean of the e_k.

- "weights": FedAvg with the weights 1/N + Δρ_k rests at the mean + Σ Δρ_k e_k, eq. (6), for Σ Δρ_k = 0. Its "if and
  only if" is false: in "balanced", Δρ ≠ 0 and the e_k differ, but Σ Δρ_k e_k = 0. M = Σ Δρ_k F_k*, the device
  heterogeneity of theorem 1, is 0 in all cases, since F_k* = 0; the bias is not.
- "clusters": FedSSO that always hears the same client of each cluster rests at Σ n_c/N e_c, eq. (11), with e_c where
  that client has its minimum, and within (1/N) Σ n_c δ_c of the optimum, δ_c = max |e_k − e_c|. "fedavg" is heard from
  the same clients, and rests at their plain mean.

The runs are the library's, in float64, to the fixed point: K = 5 full local steps at η = 0.1, 200 rounds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.synthetic import quadratics
from fedlab_core.sampling import Availability
from fedlab_core.server import Server
from fedlab_course.evidence.experiments.base import Experiment, Row

SPREAD = (0.0, 1.0, 2.0, 7.0)
SHIFTS: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {  # e_k, Δρ_k
    "no_shift": (SPREAD, (0.0, 0.0, 0.0, 0.0)),
    "shifted": (SPREAD, (0.05, 0.05, 0.0, -0.1)),
    "balanced": (SPREAD, (0.05, -0.1, 0.05, 0.0)),
    "iid": ((3.0, 3.0, 3.0, 3.0), (0.05, 0.05, 0.0, -0.1)),
}
CLUSTERS = ((0.0, 0.1, 0.2, 0.3), (2.0, 2.3), (9.0, 9.2))
EXACT = 12  # decimals; what lies beyond is rounding error, and + 0.0 makes 0 of −0
HEARD = (3, 5, 7)  # of the eight clients in a row: the last of each cluster


@dataclass(frozen=True)
class Shifted(fl.Algorithm):
    """FedAvg whose weights are n_k/n + Δρ_k, with ``shifts`` Δρ_k that add up to 0."""

    shifts: tuple[float, ...]

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Σ (n_k/n + Δρ_k) y_k, [P]."""
        weights = server.fed.weights[updates.clients] + np.array(self.shifts)[updates.clients]
        return torch.from_numpy(weights) @ updates.params


@dataclass(frozen=True)
class Clustered(fl.Algorithm):
    """FedSSO of one client per cluster, with the true clusters given: the weights n_c/N of algorithm 1 of [004]."""

    sizes: tuple[int, ...]

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Σ n_c/N y_c over those who were heard, one per cluster in their order, [P]."""
        return torch.tensor(self.sizes, dtype=torch.float64) / sum(self.sizes) @ updates.params


@dataclass(frozen=True)
class Always(Availability):
    """The same clients are there in every round."""

    clients: tuple[int, ...]
    num_clients: int

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        """Who is there, bool [N]."""
        return np.isin(np.arange(self.num_clients), self.clients)


def rest(minima: tuple[float, ...], algorithm: fl.Algorithm, **settings: Any) -> float:
    """Where a run from 0 ends, to rounding errors."""
    fed = quadratics([2.0] * len(minima), minima)
    model = nn.Linear(1, 1, bias=False).double()
    nn.init.zeros_(model.weight)
    fixed: dict[str, Any] = {"rounds": 200, "eval_every": 200, "local_steps": 5, "batch_size": None, "lr": 0.1}
    fixed |= {"clients_per_round": len(minima), "loss": "squared_error", "progress": False}
    params = fl.simulate(fed, model, algorithm, **fixed | settings).params
    assert params is not None
    return float(params[0])


def run(seed: int, *, part: str, case: str) -> list[Row]:
    """Where it rests beside the closed form; ``bias`` is the distance to the optimum, with its sign."""
    row = _weights(case) if part == "weights" else _clusters(case)
    row["error"] = round(abs(row["bias"] - row["closed_form"]), EXACT)
    return [{"part": part, "case": case, "seed": seed} | row]


def _weights(case: str) -> Row:
    minima, shifts = SHIFTS[case]
    bias = round(rest(minima, Shifted(shifts)) - float(np.mean(minima)), EXACT) + 0.0
    closed = float(np.dot(shifts, minima))
    heterogeneity = float(np.dot(shifts, np.zeros(len(shifts))))  # F_k* = 0 for every client
    return {"bias": bias, "abs_bias": abs(bias), "closed_form": closed, "device_heterogeneity": heterogeneity}


def _clusters(case: str) -> Row:
    minima = tuple(value for cluster in CLUSTERS for value in cluster)
    sizes = tuple(len(cluster) for cluster in CLUSTERS)
    heard, optimum = np.array(minima)[list(HEARD)], float(np.mean(minima))
    weights = np.array(sizes) / sum(sizes) if case == "fedsso" else np.full(len(sizes), 1 / len(sizes))
    algorithm: fl.Algorithm = Clustered(sizes) if case == "fedsso" else fl.FedAvg()
    bias = round(rest(minima, algorithm, availability=Always(HEARD, len(minima))) - optimum, EXACT) + 0.0
    farthest = [max(abs(value - centre) for value in cluster) for cluster, centre in zip(CLUSTERS, heard, strict=True)]
    bound = float(np.dot(sizes, farthest)) / sum(sizes)
    closed = float(weights @ heard) - optimum
    return {"bias": bias, "abs_bias": abs(bias), "closed_form": closed, "bound": bound, "slack": bound - abs(bias)}


_CASES = [{"part": "weights", "case": case} for case in SHIFTS]
_CASES += [{"part": "clusters", "case": case} for case in ("fedsso", "fedavg")]
EXAMPLE_1 = Experiment("example_1", run, _CASES, (0,))
