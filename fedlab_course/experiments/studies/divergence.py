"""Zhao et al. 2018: how far is the federated model from the one trained in one place, against the clients' skew?

The digits among ten clients with 10, 5, 3, 2 or 1 labels each, all of them in every round, one local epoch, batches of
10, η = 0.05, 20 rounds. The central model starts from the same weights and makes as many steps, with batches of 100.

``emd``: the mean over clients of Σ_c |p_k(c) − p(c)|. ``divergence``: ‖w_fed − w_central‖ / ‖w_central‖. ``slope``: its
growth for each unit of EMD since the split before, which is less skewed. ``common``: ‖mean Δ‖² / mean ‖Δ_k‖² of the
clients' moves Δ_k = y_k − w, averaged over the rounds: 1 for equal moves, about 1/K for unrelated ones. ``accuracy``:
of the federated model, on the test set.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import parameters

LABELS, NUM_CLIENTS = (10, 5, 3, 2, 1), 10
SETTINGS: dict[str, Any] = {"rounds": 20, "clients_per_round": 1.0, "local_epochs": 1, "lr": 0.05}
SETTINGS |= {"eval_every": 20, "progress": False}


class Observed(fl.Algorithm):
    """FedAvg that notes the share of its clients' moves that is common to them."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """FedAvg's mean, [P]."""
        server.state["common"] = common_share(updates.params - server.params)
        return super().aggregate(server, updates)


def common_share(moves: torch.Tensor) -> torch.Tensor:
    """‖mean Δ‖² / mean ‖Δ_k‖² of the ``moves`` [K, P]."""
    return moves.mean(0).square().sum() / moves.square().sum(1).mean()


def run(seed: int) -> list[Row]:
    """One row for each split, from ten labels a client to one."""
    data, found = fl.load_dataset("digits"), list[Row]()
    everything = fl.FederatedDataset(data, [np.arange(len(data.train))])
    model = fl.models.mlp(everything, seed=seed)
    central = fl.simulate(everything, model, fl.FedAvg(), **SETTINGS, batch_size=100, seed=seed).params
    assert central is not None
    for labels in LABELS:
        law = {"num_clients": NUM_CLIENTS, "labels_per_client": labels, "seed": seed}
        fed = fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, **law))
        simulation = fl.Simulation(fed, model, Observed(), **SETTINGS, batch_size=10, seed=seed)
        common = [float(simulation.state_dict()["algorithm"]["common"]) for _ in simulation]
        row: Row = {"labels_per_client": labels, "emd": float(fed.heterogeneity().emd)}
        row["divergence"] = float((parameters(simulation) - central).norm() / central.norm())
        row["slope"] = slope(found[-1], row) if found else None
        row["common"] = float(np.mean(common))
        row["accuracy"] = float(simulation.history.frame.test_accuracy.iloc[-1])
        found.append(row)
    return found


def slope(before: Row, after: Row) -> float:
    """The growth of the divergence for each unit of EMD between two rows."""
    return float((after["divergence"] - before["divergence"]) / (after["emd"] - before["emd"]))


DIVERGENCE = Experiment("c01_divergence", run, [{}])
