"""How many clusters OPTICS finds in the probes of 100 clients that hold digits, over its steepness ξ.

The probe is an epoch in batches of ten, or a step on one sample, as eq. (9) of [004] has it, at the rate 0.01.
``surplus``: clusters less the groups of clients with the same labels that two clients or more hold; ``alone``: noise
clients with labels that nobody else holds.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.server import Server
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.strata import NUM_CLIENTS, SETTING, SPLITS, federation
from fedlab_course.theory import cluster_quality

PROBES: dict[str, dict[str, int]] = {"epoch": {"epochs": 1, "batch_size": 10}, "sample": {"steps": 1, "batch_size": 1}}
XI = (0.1, 0.15, 0.25, 0.4)


class Probe(fl.Algorithm):
    """Keeps what all clients send back when they train once from the initial model."""

    def __init__(self, **work: Any) -> None:
        self.work = work

    def setup(self, server: Server) -> None:
        """The clients' models [N, P] after the probe."""
        everybody = np.arange(server.num_clients)
        server.state["probe"] = server.probe(everybody, lr=0.01, **self.work).params


def probe(fed: fl.FederatedDataset, kind: str, seed: int) -> torch.Tensor:
    """The clients' models [N, P] after the probe."""
    model, law = fl.models.mlp(fed, seed=seed), SETTING | {"rounds": 1, "clients_per_round": 10, "seed": seed}
    simulation = fl.Simulation(fed, model, Probe(**PROBES[kind]), **law)
    next(simulation)
    found = simulation.state_dict()["algorithm"]["probe"]
    assert isinstance(found, torch.Tensor)
    return found


def run(seed: int, *, split: str, kind: str) -> list[Row]:
    """One row for every ξ."""
    fed = federation(split, seed)
    groups = cluster_quality.label_groups(fed.parts, fed.y)
    ids = groups.ids if split != "iid" else np.zeros(NUM_CLIENTS, np.int64)
    shared = groups.num_shared if split != "iid" else 1
    points, rows = probe(fed, kind, seed), []
    for xi in XI if kind == "epoch" else (0.25,):
        labels = clustering.optics(points, xi=xi).labels
        found = cluster_quality.quality(labels, ids)
        row: Row = {"split": split, "probe": kind, "xi": xi, "seed": seed, "shared": shared}
        row |= {"clusters": found.num_clusters, "surplus": found.num_clusters - shared, "pure": found.num_pure}
        alone = int((np.bincount(ids)[ids] == 1)[labels < 0].sum())
        rows.append(row | {"noise": found.num_noise, "alone": alone})
    return rows


_CASES = [{"split": split, "kind": kind} for split in SPLITS for kind in PROBES]
DIGIT_PROBES = Experiment("c05_probes", run, _CASES, tuple(range(10)))
