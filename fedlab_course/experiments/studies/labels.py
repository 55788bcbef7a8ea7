"""Chapter 14: which labels does a server read off the moves of 100 clients on the digits, and what does noise change?

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
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal, label_sets
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
LATE = DIGITS | {"rounds": 30, "eval_every": 30}


def run(seed: int, *, split: str) -> list[Row]:
    """One row for each move, noise and rule."""
    fed = deal(split, seed)
    mixes, every = leaks.label_mixes(fed), np.bincount(fed.y.numpy(), minlength=fed.num_classes or 0) / len(fed.y)
    model = fl.models.mlp(fed, seed=seed)
    late = fl.simulate(fed, model, fl.FedAvg(), **LATE, seed=seed, progress=False).params
    with torch.no_grad():
        outputs = model(fed.test.x).softmax(1).mean(0).double().numpy()
    rows = []
    for kind, work in MOVES.items():
        moves, steps = leaks.moves(fed, model, late if kind.endswith("late") else None, seed=seed, **work)
        told = leaks.mixes_from(leaks.scores(moves, model), outputs, work["lr"], steps)
        emd, left = _emd(every, mixes), _emd(told, mixes)
        distances = {"emd": emd, "emd_told": left, "closer": emd - left}
        for noise, sent in _sent(moves, seed) if kind == "probe" else [("", moves)]:
            agrees = _agreement(sent, fed, split) if kind == "probe" else math.nan
            for rule in ("bias", "row"):
                found = vars(leaks.named(leaks.scores(sent, model, rule), mixes))
                about = {"move": kind, "noise": noise, "rule": rule}
                rows.append(about | found | distances | {"adjusted_rand": agrees})
    return rows


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
    return cluster_quality.quality(clustering.optics(moves).labels, label_sets(fed, split)).adjusted_rand


LABELS = Experiment("c14_labels", run, [{"split": split} for split in SPLITS], columns={"split": "partition"})
