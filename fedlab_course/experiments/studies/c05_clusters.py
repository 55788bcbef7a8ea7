"""Chapters 4 and 5, 100 clients that hold digits: what do clusters of their probes find, and what do they gain?

"c05_probes": OPTICS over its steepness ξ, in the probes of :mod:`fedlab_course.chapters.ch07_fedmas.probes`.
``surplus``: clusters less the label sets that two clients or more hold; ``alone``: noise clients whose label set nobody
else holds.

"c04_strata": all clients train one round (five epochs) from the mean of their probes; the variance of the mean of 10 of
their models, by simple random and by systematic sampling, in closed form, and their ``ratio``. The strata are the
clients' label sets, which no server knows, or the clusters that OPTICS finds in the probes.

"c05_first", [004] section 3.4.2: every client trains, and the first answers of each cluster count. Each client has a
time of its own, exp(z_k) with z_k from the normal law, times exp(0.25 z) in each round: "first" takes as many of a
cluster as the systematic draw does, and of them the fastest; "random" is the systematic draw. ``asked``: how many
different clients ever took part. Bytes are not compared: "first" also sends the model to everybody.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course import theory
from fedlab_course.chapters.ch07_fedmas.probes import probe
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal, label_sets, measured
from fedlab_course.theory import cluster_quality

SPLITS = ("iid", "two labels", "one label")
XI = (0.1, 0.15, 0.25, 0.4)
COHORT = 10
JITTER = 0.25


def probes(seed: int, *, split: str, kind: str) -> list[Row]:
    """One row for every ξ."""
    fed = deal(split, seed)
    ids = label_sets(fed, split)
    sizes = np.bincount(ids)
    shared = int((sizes >= 2).sum())
    points, rows = probe(fed, kind, seed), []
    for xi in XI if kind == "epoch" else (0.25,):
        labels = clustering.optics(points, xi=xi).labels
        found = cluster_quality.quality(labels, ids)
        row: Row = {"xi": xi, "shared": shared, "clusters": found.num_clusters}
        row |= {"surplus": found.num_clusters - shared, "pure": found.num_pure, "noise": found.num_noise}
        rows.append(row | {"alone": int((sizes[ids] == 1)[labels < 0].sum())})
    return rows


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


def strata(seed: int, *, split: str) -> list[Row]:
    """One row for the label sets and one for the clusters."""
    fed = deal(split, seed)
    models, clusters = one_round(fed, seed)
    simple, rows = theory.simple_variance(models, COHORT), list[Row]()
    for name, groups in (("labels", label_sets(fed, split)), ("optics", clusters)):
        variance = theory.systematic_variance(models, groups, COHORT)
        rows.append({"strata": name, "simple": simple, "systematic": variance, "ratio": variance / simple})
    return rows


@dataclass(frozen=True)
class Heard(fl.FedSSO):
    """FedSSO that notes who took part; with ``first``, the fastest of each cluster."""

    first: bool = False
    times: tuple[float, ...] = ()
    heard: list[int] = field(default_factory=list)

    def describe(self) -> dict[str, Any]:
        """Without ``heard``, which is no setting."""
        return {name: value for name, value in super().describe().items() if name != "heard"}

    def cohorts(self, server: Server) -> list[np.ndarray]:
        """The cohort of the systematic draw, or as many of each cluster, the fastest."""
        drawn = super().cohorts(server)
        if self.first:
            strata = server.state["clusters"].cpu().numpy()
            late = np.array(self.times) * np.exp(JITTER * server.stream("times").standard_normal(server.num_clients))
            drawn = [fastest(cohort, strata, late) for cohort in drawn]
        self.heard.extend(k for cohort in drawn for k in cohort.tolist())
        return drawn


def fastest(cohort: np.ndarray, strata: np.ndarray, times: np.ndarray) -> np.ndarray:
    """As many clients of each stratum as ``cohort`` has, those with the shortest ``times`` [N], in increasing order.

    ``strata`` [N]; −1 counts as a stratum.
    """
    numbers, counts = np.unique(strata[cohort], return_counts=True)
    members = [np.flatnonzero(strata == number) for number in numbers]
    chosen = [some[np.argsort(times[some])[:count]] for some, count in zip(members, counts, strict=True)]
    return np.sort(np.concatenate(chosen))


def first_answers(seed: int, *, split: str, draw: str) -> list[Row]:
    """One row."""
    fed = deal(split, seed)
    times = tuple(np.exp(fl.randomness.stream(seed, "times").standard_normal(fed.num_clients)).tolist())
    algorithm = Heard(first=draw == "first", times=times)
    settings = DIGITS | {"clients_per_round": 10, "seed": seed}
    found, _ = measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **settings)
    kept = {name: found[name] for name in ("end_accuracy", "end_loss", "diverged")}
    return [{"asked": len(set(algorithm.heard))} | kept]


_CASES = [{"split": split, "kind": kind} for split in SPLITS for kind in ("epoch", "sample")]
PROBES = Experiment("c05_probes", probes, _CASES, columns={"kind": "probe"})
STRATA = Experiment("c04_strata", strata, [{"split": split} for split in SPLITS])
_DRAWS = [{"split": split, "draw": draw} for split in SPLITS[1:] for draw in ("random", "first")]
FIRST_ANSWERS = Experiment("c05_first", first_answers, _DRAWS)
