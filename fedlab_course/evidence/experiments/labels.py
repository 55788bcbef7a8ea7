"""Chapter 14: which labels a server reads off the moves of 100 clients on the digits, and what noise does to that.

Moves from w_0: the probe of FedSSO and FedMas (one epoch at 0.01), one epoch and five at FedAvg's rate of 0.05; and one
and five epochs from the model after 30 rounds of FedAvg. The probe again as clients may hide it: clipped to the median
norm C of all probes, with noise of σ C in every entry. OPTICS on the same moves, against the clients' label sets.
"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_course.chapters.ch14_what_is_sent import leaks
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.clusters import NUM_CLIENTS
from fedlab_course.theory import cluster_quality

SPLITS = ("iid", "dirichlet", "two labels", "one label")
MOVES: dict[str, dict[str, Any]] = {
    "probe": {"epochs": 1, "lr": 0.01},
    "one epoch": {"epochs": 1, "lr": 0.05},
    "five epochs": {"epochs": 5, "lr": 0.05},
    "one epoch, late": {"epochs": 1, "lr": 0.05},
    "five epochs, late": {"epochs": 5, "lr": 0.05},
}
NOISES = (0.0, 0.001, 0.002, 0.003, 0.005, 0.01, 0.03, 0.1, 0.3)
LATE = {"rounds": 30, "clients_per_round": 20, "local_epochs": 5, "batch_size": 10, "lr": 0.05, "eval_every": 30}


def deal(split: str, seed: int) -> fl.FederatedDataset:
    """The digits over 100 clients."""
    data: fl.Dataset = fl.load_dataset("digits")
    given: dict[str, Any] = {"num_clients": NUM_CLIENTS, "seed": seed}
    if split == "iid":
        return fl.FederatedDataset(data, fl.partition.iid(data.train.y, **given))
    if split == "dirichlet":
        return fl.FederatedDataset(data, fl.partition.dirichlet(data.train.y, alpha=0.3, **given))
    count = 1 if split == "one label" else 2
    parts = fl.partition.labels_per_client(data.train.y, labels_per_client=count, **given)
    return fl.FederatedDataset(data, parts)


def read(seed: int, *, split: str) -> list[Row]:
    """One row per move, noise and rule."""
    fed = deal(split, seed)
    mixes, about = leaks.label_mixes(fed), {"partition": split, "seed": seed}
    model = fl.models.mlp(fed, (200,), seed=seed)
    late = fl.simulate(fed, model, fl.FedAvg(), **LATE, seed=seed, progress=False).params
    with torch.no_grad():
        outputs = model(fed.test.x).softmax(1).mean(0).double().numpy()
    rows = []
    for kind, work in MOVES.items():
        moves, steps = leaks.moves(fed, model, late if kind.endswith("late") else None, seed=seed, **work)
        bias = leaks.scores(moves, model)
        told = leaks.mixes_from(bias, outputs, work["lr"], steps)
        emd, left = _emd(fed_mix(fed), mixes), _emd(told, mixes)
        distances = {"emd": emd, "emd_told": left, "closer": emd - left}
        for noise, sent in _sent(moves, seed) if kind == "probe" else [("", moves)]:
            agrees = _agreement(sent, fed, split) if kind == "probe" else math.nan
            for rule in ("bias", "row"):
                found = vars(leaks.named(leaks.scores(sent, model, rule), mixes))
                rows.append(about | {"move": kind, "noise": noise, "rule": rule} | found | distances)
                rows[-1]["adjusted_rand"] = agrees
    return rows


def fed_mix(fed: fl.FederatedDataset) -> np.ndarray:
    """The label mix of all samples, [C]."""
    return np.bincount(fed.y.numpy(), minlength=fed.num_classes or 0) / len(fed.y)


def _sent(moves: torch.Tensor, seed: int) -> Iterator[tuple[Any, torch.Tensor]]:
    """The moves as they are, under no noise level, and clipped with each of them."""
    yield "", moves
    clip = float(torch.linalg.vector_norm(moves, dim=1).median())
    for noise in NOISES:
        yield noise, leaks.hidden(moves, clip, noise, fl.randomness.stream(seed, "privacy"))


def _emd(told: np.ndarray, true: np.ndarray) -> float:
    """The mean over clients of Σ |told − true|."""
    return float(np.abs(told - true).sum(1).mean())


def _agreement(moves: torch.Tensor, fed: fl.FederatedDataset, split: str) -> float:
    """The adjusted Rand index of OPTICS' clusters of ``moves`` and the label sets; NaN where there are no such sets."""
    if not split.endswith(("label", "labels")):
        return math.nan
    groups = cluster_quality.label_groups(fed.parts, fed.y).ids
    return cluster_quality.quality(clustering.optics(moves).labels, groups).adjusted_rand


LABELS = Experiment("c14_labels", read, [{"split": split} for split in SPLITS], tuple(range(10)))
