"""Chapter 4, 100 clients that hold digits: what do clusters of their probes find, and what do they
gain?

"probes": OPTICS over its steepness ξ, in the probes of
:mod:`fedlab_course.methods.probes`. ``surplus``: clusters less the label sets that two
clients or more hold.

"strata": after one round (five epochs) from the mean of all probes, the variance of the mean of
10 of the models by simple random and by systematic sampling, and their ``ratio``. Strata are the
true label sets or clusters of OPTICS.
"""

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal, label_sets
from fedlab_course.methods.probes import probe
from fedlab_course.theory import cluster_quality

SPLITS = ("iid", "two labels", "one label")
XI = (0.1, 0.15, 0.25, 0.4)
COHORT = 10


def probes(seed: int, *, split: str, kind: str) -> list[ResultRow]:
    """One row for every ξ."""
    fed = deal(split, seed)
    ids = label_sets(fed, split)
    shared = int((np.bincount(ids) >= 2).sum())
    points = probe(fed, kind, seed)
    rows = []
    for xi in XI if kind == "epoch" else (0.25,):
        labels = clustering.optics(points, xi=xi).labels
        quality = cluster_quality.quality(labels, ids)
        row: ResultRow = {"xi": xi, "shared": shared, "clusters": quality.num_clusters}
        rows.append(
            row
            | {
                "surplus": quality.num_clusters - shared,
                "pure": quality.num_pure,
                "noise": quality.num_noise,
            }
        )
    return rows


class RecordingFedSSO(fl.FedSSO):
    """FedSSO that keeps what its clients send back."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """As FedSSO, [P]."""
        server.state["models"] = updates.params
        return super().aggregate(server, updates)


def one_round(fed: fl.FederatedDataset, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The models [N, P] of all clients after the first round,
    and the clusters [N] of their probes.
    """
    work = DIGITS | {
        "rounds": 1,
        "clients_per_round": fed.num_clients,
        "seed": seed,
        "progress": False,
    }
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=seed), RecordingFedSSO(), **work)
    next(simulation)
    state = simulation.state_dict()["algorithm"]
    return state["models"].double().numpy(), state["clusters"].numpy()


def strata(seed: int, *, split: str) -> list[ResultRow]:
    """One row for the label sets and one for the clusters."""
    fed = deal(split, seed)
    models, clusters = one_round(fed, seed)
    simple = theory.simple_variance(models, COHORT)
    rows = list[ResultRow]()
    for name, groups in (("labels", label_sets(fed, split)), ("optics", clusters)):
        variance = theory.systematic_variance(models, groups, COHORT)
        rows.append(
            {"strata": name, "simple": simple, "systematic": variance, "ratio": variance / simple}
        )
    return rows


_CASES = [{"split": split, "kind": kind} for split in SPLITS for kind in ("epoch", "sample")]
PROBES = Experiment("probes", probes, _CASES, columns={"kind": "probe"})
STRATA = Experiment("strata", strata, [{"split": split} for split in SPLITS])
