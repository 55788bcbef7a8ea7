"""The common parts of experiments: data dealt to clients, runs that are measured, and their curves
as rows.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.simulation import Diverged
from fedlab_course.experiments import measures
from fedlab_course.experiments.base import ResultRow
from fedlab_course.theory import cluster_quality

DIGITS: dict[str, Any] = {
    "rounds": 50,
    "clients_per_round": 20,
    "local_epochs": 5,
    "batch_size": 10,
    "lr": 0.05,
}
_LAWS: dict[str, tuple[Callable[..., list[np.ndarray]], dict[str, Any]]] = {
    "iid": (fl.partition.iid, {}),
    "dirichlet 0.3": (fl.partition.dirichlet, {"alpha": 0.3}),
    "dirichlet 0.1": (fl.partition.dirichlet, {"alpha": 0.1}),
    "two labels": (fl.partition.labels_per_client, {"labels_per_client": 2}),
    "one label": (fl.partition.labels_per_client, {"labels_per_client": 1}),
    "two shards": (fl.partition.shards, {"shards_per_client": 2}),
    "one shard": (fl.partition.shards, {"shards_per_client": 1}),
    "unequal": (fl.partition.dirichlet, {"alpha": 0.3, "by": "class"}),
}
load = lru_cache(maxsize=2)(fl.load_dataset)


@lru_cache(maxsize=4)
def deal(
    split: str, seed: int, num_clients: int = 100, dataset: str = "digits"
) -> fl.FederatedDataset:
    """Deal a data set to clients by one of ``_LAWS``; "_" stands for a space, too."""
    return divided(load(dataset), split, seed, num_clients)


def divided(data: fl.Dataset, split: str, seed: int, num_clients: int = 100) -> fl.FederatedDataset:
    """Deal ``data`` as :func:`deal` does; "dirichlet" alone has α = 0.3.

    Shards straddle labels where classes differ in size, labels do not.
    """
    name = split.replace("_", " ")
    law, given = _LAWS["dirichlet 0.3" if name == "dirichlet" else name]
    return fl.FederatedDataset(data, law(data.train.y, num_clients=num_clients, seed=seed, **given))


def label_sets(fed: fl.FederatedDataset, split: str) -> np.ndarray:
    """Number the clients' label sets, int64 [N]; all 0 where the ``split`` has none."""
    if not split.endswith(("label", "labels")):
        return np.zeros(fed.num_clients, dtype=np.int64)
    return cluster_quality.label_groups(fed.parts, fed.y)


def finished(simulation: fl.Simulation) -> tuple[fl.History, bool]:
    """Run to the end; the history so far, and whether the run diverged."""
    try:
        return simulation.run(), False
    except Diverged as error:
        return error.history, True


def measured(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **settings: Any
) -> tuple[ResultRow, pd.DataFrame]:
    """Measure a run as :func:`fedlab_course.experiments.measures.tables` does, with ``diverged``;
    and its curve.
    """
    history, diverged = finished(fl.Simulation(fed, model, algorithm, **settings, progress=False))
    curve = measures.curve(history, history.config)
    row = measures.measured(history, curve, history.config)
    del row["seconds"], row["rounds_to_target"]
    return row | {"diverged": diverged}, curve


def compared(
    runs: Mapping[str, tuple[ResultRow, pd.DataFrame]],
    columns: Sequence[str] = ("test_accuracy", "train_loss"),
    best: Callable[[ResultRow], float] | None = None,
) -> list[ResultRow]:
    """Rows and curves of algorithms by name; "best" repeats that of the names "mu=…" with the least
    ``best``.
    """
    named = dict(runs)
    if best is not None:
        proximal = [name for name in runs if name.startswith("mu=")]
        named["best"] = runs[min(proximal, key=lambda name: best(runs[name][0]))]
    rows: list[ResultRow] = [{"algorithm": name} | row for name, (row, _) in named.items()]
    for name, (_, curve) in named.items():
        points = measures.thinned(curve)[["round", *columns]].to_dict("records")
        rows += [{"table": "curves", "algorithm": name} | point for point in points]
    return rows


def parameters(simulation: fl.Simulation) -> torch.Tensor:
    """The global parameters [P] after the latest round, of which there has to be one."""
    params = simulation.history.params
    assert params is not None
    return params
