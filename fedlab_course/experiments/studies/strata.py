"""The variance of the mean of 10 of 100 clients' models on the digits: simple random against systematic sampling.

All clients train one round (five epochs) from the mean of their probes. The strata are the clients' label sets, which
no server knows, or the clusters that OPTICS finds in the probes. ``ratio``: the systematic variance, in closed form,
over the simple one.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal, label_sets

COHORT = 10


class Watched(fl.FedSSO):
    """FedSSO that keeps what its clients send back."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """As FedSSO, [P]."""
        server.state["models"] = updates.params
        return super().aggregate(server, updates)


def one_round(fed: fl.FederatedDataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The models [N, P] of all clients after the first round, and the clusters [N] of their probes."""
    work = DIGITS | {"rounds": 1, "clients_per_round": fed.num_clients, "seed": seed, "progress": False}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=seed), Watched(), **work)
    next(simulation)
    state = simulation.state_dict()["algorithm"]
    return state["models"].double().numpy(), state["clusters"].numpy()


def run(seed: int, *, split: str) -> list[Row]:
    """One row for the label sets and one for the clusters."""
    fed = deal(split, seed)
    models, clusters = one_round(fed, seed)
    simple, rows = theory.simple_variance(models, COHORT), list[Row]()
    for name, strata in (("labels", label_sets(fed, split)), ("optics", clusters)):
        variance = theory.systematic_variance(models, strata, COHORT)
        rows.append({"strata": name, "simple": simple, "systematic": variance, "ratio": variance / simple})
    return rows


STRATA = Experiment("c04_strata", run, [{"split": split} for split in ("iid", "two labels", "one label")])
