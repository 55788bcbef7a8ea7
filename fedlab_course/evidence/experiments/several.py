"""Chapter 13: one model, one for each cluster, or one for each client, on the digits dealt out to 40 clients.

A quarter of each client's samples, about nine, is kept from training. Five splits: IID, Dirichlet 0.3, two labels and
one label a client, and "concepts": IID samples whose labels are named in four ways (``concepts``). 50 rounds of
20 clients, E = 5, B = 10, η = 0.05.
"""

import math
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_core import algorithms
from fedlab_course.chapters.ch13_one_or_several import several
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.theory import cluster_quality

NUM_CLIENTS, NUM_GROUPS = 40, 4
SPLITS = ("iid", "dirichlet", "two labels", "one label", "concepts")
STRENGTHS = {"two labels": (0.0, 1.0), "one label": (0.0, 1.0)}
ALL_STRENGTHS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0)
WORK = {"rounds": 50, "clients_per_round": 20, "local_epochs": 5, "batch_size": 10, "lr": 0.05, "eval_every": 50}


def methods(strengths: tuple[float, ...] = (0.0, 1.0)) -> dict[str, fl.Algorithm]:
    """The methods of the chapter by name; Ditto once for each λ of ``strengths``, and with λ = 0 it is "alone"."""
    named: dict[str, fl.Algorithm] = {
        "FedAvg": fl.FedAvg(),
        "fine-tuning": algorithms.FineTune(epochs=5),
        "FedPer": algorithms.FedPer(local=("3",)),
        "per cluster": several.PerCluster(noise="nearest"),
        "IFCA": algorithms.IFCA(num_models=NUM_GROUPS),
    }
    return named | {
        f"Ditto λ={strength:g}" if strength else "alone": algorithms.Ditto(strength) for strength in strengths
    }


def federation(split: str, seed: int) -> several.Concepts:
    """The federation of a split, its true groups (all 0 where there are none), and the test set of each client."""
    data = fl.load_dataset("digits")
    if split == "concepts":
        return several.concepts(data, num_clients=NUM_CLIENTS, num_groups=NUM_GROUPS, seed=seed)
    deal: dict[str, Any] = {"num_clients": NUM_CLIENTS, "seed": seed}
    if split == "iid":
        parts = fl.partition.iid(data.train.y, **deal)
    elif split == "dirichlet":
        parts = fl.partition.dirichlet(data.train.y, alpha=0.3, **deal)
    else:
        count = 1 if split == "one label" else 2
        parts = fl.partition.labels_per_client(data.train.y, labels_per_client=count, **deal)
    fed = fl.FederatedDataset(data, parts)
    grouped = split.endswith(("label", "labels"))
    ids = cluster_quality.label_groups(fed.parts, fed.y).ids if grouped else np.zeros(NUM_CLIENTS, dtype=np.int64)
    return several.Concepts(fed, ids, [fed.test] * NUM_CLIENTS)


def run(seed: int, *, split: str) -> list[Row]:
    """One row per method."""
    dealt = federation(split, seed)
    model, rows = fl.models.mlp(dealt.fed, seed=seed), []
    for name, algorithm in methods(STRENGTHS.get(split, ALL_STRENGTHS)).items():
        served = several.serve(dealt.fed, model, algorithm, dealt.tests, **WORK, seed=seed, progress=False)
        last = served.history.records[-1]
        agrees = math.nan
        if len(set(dealt.ids.tolist())) > 1:
            agrees = cluster_quality.quality(served.models, dealt.ids).adjusted_rand
        rows.append(
            {
                "partition": split,
                "method": name,
                "seed": seed,
                "own": float(served.own.mean()),
                "whole": float(served.whole.mean()),
                "worst": served.worst,
                "gap": float(served.trained.mean() - served.own.mean()),
                "models": int(served.models.max()) + 1,
                "adjusted_rand": agrees,
                "bytes": last.bytes_up + last.bytes_down,
            }
        )
    return rows


SEVERAL = Experiment("c13_several", run, [{"split": split} for split in SPLITS], tuple(range(10)))
