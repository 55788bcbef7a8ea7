"""What SCAFFOLD's correction and FedProx's proximal term do to clients along a run, on digits with
two labels a client.

"corrections", [000]: before each round, the mean distance over all clients from ∇F_k(w) − c_k + c
to ∇F(w), divided by that from ∇F_k(w) to ∇F(w): below 1 the corrected gradient is the better
estimate. ``ratio``: its mean over rounds 2 to 10 ("early") and 41 to 50 ("late"); in round 1 all
control variates are zero.

"distances", [001]: after the local work, the root mean squared distance between two clients'
models. ``distance``: its mean over the rounds, for FedProx over μ.
"""

from collections.abc import Iterable

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal

WINDOWS = {"early": slice(1, 10), "late": slice(40, 50)}
MUS = (0.0, 0.01, 0.1, 1.0)


class Corrected(fl.Scaffold):
    """SCAFFOLD that notes how far corrected gradients are from that of the federation."""

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
        """As SCAFFOLD's."""
        everyone = np.arange(server.num_clients)
        gradients = server.gradients(everyone)
        whole = torch.from_numpy(server.fed.weights).to(gradients) @ gradients
        after = gradients - server.state["c_clients"][everyone] + server.state["c"]
        far, near = ((vectors - whole).norm(dim=1).mean() for vectors in (gradients, after))
        server.state["noted"] = near / far
        return super().cohorts(server)


class Apart(fl.FedProx):
    """FedProx that notes the root mean squared distance between two clients' models."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """As FedProx, [P]."""
        # E‖y_i − y_j‖² is twice the variance
        server.state["noted"] = (2 * updates.params.var(0).sum()).sqrt()
        return super().aggregate(server, updates)


def noted(algorithm: fl.Algorithm, seed: int) -> np.ndarray:
    """What the ``algorithm`` notes in each round."""
    fed = deal("two labels", seed)
    settings = DIGITS | {"eval_every": DIGITS["rounds"], "seed": seed, "progress": False}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=seed), algorithm, **settings)
    return np.array([float(simulation.state_dict()["algorithm"]["noted"]) for _ in simulation])


def corrections(seed: int) -> list[ResultRow]:
    """A row for each window of rounds."""
    rows = noted(Corrected(), seed)
    return [
        {"window": name, "ratio": float(rows[rounds].mean())} for name, rounds in WINDOWS.items()
    ]


def distances(seed: int, *, mu: float) -> list[ResultRow]:
    """One row."""
    return [{"distance": float(noted(Apart(mu), seed).mean())}]


CORRECTIONS = Experiment("corrections", corrections, [{}])
DISTANCES = Experiment("distances", distances, [{"mu": mu} for mu in MUS])
