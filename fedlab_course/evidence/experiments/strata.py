"""The variance of the mean of 10 of 100 clients' models on the digits, by simple random and by systematic sampling.

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
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.theory import cluster_quality

NUM_CLIENTS, COHORT = 100, 10
SETTING = {"local_epochs": 5, "batch_size": 10, "lr": 0.05, "progress": False}
SPLITS = ("iid", "two labels", "one label")


def federation(split: str, seed: int) -> fl.FederatedDataset:
    """The digits on 100 clients."""
    data, law = fl.load_dataset("digits"), {"num_clients": NUM_CLIENTS, "seed": seed}
    if split == "iid":
        return fl.FederatedDataset(data, fl.partition.iid(data.train.y, **law))
    count = 1 if split == "one label" else 2
    return fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, labels_per_client=count, **law))


class Watched(fl.FedSSO):
    """FedSSO that keeps what its clients send back."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """As FedSSO, [P]."""
        server.state["models"] = updates.params
        return super().aggregate(server, updates)


def one_round(fed: fl.FederatedDataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The models [N, P] of all clients after the first round, and the clusters [N] of their probes."""
    model = fl.models.mlp(fed, seed=seed)
    simulation = fl.Simulation(fed, model, Watched(), **SETTING, rounds=1, clients_per_round=NUM_CLIENTS, seed=seed)
    next(simulation)
    state = simulation.state_dict()["algorithm"]
    return state["models"].double().numpy(), state["clusters"].numpy()


def run(seed: int, *, split: str) -> list[Row]:
    """One row for the label sets and one for the clusters."""
    fed = federation(split, seed)
    models, clusters = one_round(fed, seed)
    labels = cluster_quality.label_groups(fed.parts, fed.y).ids if split != "iid" else np.zeros(NUM_CLIENTS, np.int64)
    simple, rows = theory.simple_variance(models, COHORT), []
    for name, strata in (("labels", labels), ("optics", clusters)):
        variance = theory.systematic_variance(models, strata, COHORT)
        about = {"split": split, "strata": name, "seed": seed, "simple": simple, "systematic": variance}
        rows.append(about | {"ratio": variance / simple})
    return rows


STRATA = Experiment("c04_strata", run, [{"split": split} for split in SPLITS], tuple(range(10)))
