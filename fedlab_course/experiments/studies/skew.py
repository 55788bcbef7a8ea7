"""Chapter 1, on the digits: how far does skew lead a model, and does it lean towards whoever took
part last?

"weight_divergence", Zhao et al. 2018: ten clients with 10, 5, 3, 2 or 1 labels each, all of them in
every round, against a central model with the same first weights and as many steps, in batches of
100. ``emd``: the mean over clients of Σ_c |p_k(c) − p(c)|. ``divergence``: ‖w_fed − w_central‖ /
‖w_central‖. ``slope``: its growth for each unit of EMD since the split before, which is less
skewed. ``common``: ‖mean Δ‖² / mean ‖Δ_k‖² of the clients' moves, averaged over the rounds: 1 for
equal moves, about 1/K for unrelated ones. ``accuracy``: of the federated model, on the test set.

"last_cohort": A_t(c) is the test accuracy on label c after each of rounds 11 to 50, less its
mean over them; s_t(c) the share of label c among the samples of round t's cohort. ``lag``: 0 is the
last cohort, 1 and 2 those before it, −1 the one that is drawn next. ``gap``: mean A_t(c) of labels
whose share in that cohort is above the label's mean over the rounds, less that of the others.
``held_gap``: the same of labels that the cohort holds, less those that it does not; missing where
every cohort holds every label.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal, parameters

LABELS = (10, 5, 3, 2, 1)
NUM_CLIENTS = 10
SETTINGS: dict[str, Any] = {
    "rounds": 20,
    "clients_per_round": 1.0,
    "local_epochs": 1,
    "lr": 0.05,
    "eval_every": 20,
    "progress": False,
}
FIRST = 11
LAST = 50
LAGS = (-1, 0, 1, 2)


class Observed(fl.Algorithm):
    """FedAvg that notes the share of its clients' moves that is common to them."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """FedAvg's mean, [P]."""
        server.state["common"] = common_share(updates.params - server.params)
        return super().aggregate(server, updates)


def common_share(moves: torch.Tensor) -> torch.Tensor:
    """‖mean Δ‖² / mean ‖Δ_k‖² of the ``moves`` [K, P]."""
    return moves.mean(0).square().sum() / moves.square().sum(1).mean()


def divergence(seed: int) -> list[ResultRow]:
    """One row for each split, from ten labels a client to one."""
    data = fl.load_dataset("digits")
    rows = list[ResultRow]()
    everything = fl.FederatedDataset(data, [np.arange(len(data.train))])
    model = fl.models.mlp(everything, seed=seed)
    central = fl.simulate(
        everything, model, fl.FedAvg(), **SETTINGS, batch_size=100, seed=seed
    ).params
    assert central is not None
    for labels in LABELS:
        law = {"num_clients": NUM_CLIENTS, "labels_per_client": labels, "seed": seed}
        fed = fl.FederatedDataset(data, fl.partition.labels_per_client(data.train.y, **law))
        simulation = fl.Simulation(fed, model, Observed(), **SETTINGS, batch_size=10, seed=seed)
        common = [float(simulation.state_dict()["algorithm"]["common"]) for _ in simulation]
        row: ResultRow = {"labels_per_client": labels, "emd": fed.heterogeneity().totals["emd"]}
        row["divergence"] = float((parameters(simulation) - central).norm() / central.norm())
        row["slope"] = slope(rows[-1], row) if rows else None
        row["common"] = float(np.mean(common))
        row["accuracy"] = float(simulation.history.frame.test_accuracy.iloc[-1])
        rows.append(row)
    return rows


def slope(before: ResultRow, after: ResultRow) -> float:
    """The growth of the divergence for each unit of EMD between two rows."""
    return float((after["divergence"] - before["divergence"]) / (after["emd"] - before["emd"]))


def last_cohort(seed: int, *, split: str, clients_per_round: int) -> list[ResultRow]:
    """One row for each lag."""
    fed = deal(split, seed)
    work = {"rounds": LAST + 1, "clients_per_round": clients_per_round, "eval_every": LAST + 1}
    settings = DIGITS | work | {"seed": seed, "progress": False}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=seed), fl.FedAvg(), **settings)
    held = fed.heterogeneity().label_counts
    accuracy = []
    shares = []
    for _ in simulation:
        counts = held[np.concatenate(simulation.cohorts)].sum(axis=0)
        shares.append(counts / counts.sum())
        accuracy.append(by_label(simulation.model, fed.test))
    return [{"lag": lag} | leaning(np.array(accuracy), np.array(shares), lag) for lag in LAGS]


def by_label(model: torch.nn.Module, test: Any) -> np.ndarray:
    """The accuracy of ``model`` on the test samples of each label, [C]."""
    with torch.no_grad():
        right = (model(test.x).argmax(dim=1) == test.y).double()
    return np.array(
        [float(right[test.y == label].mean()) for label in range(int(test.y.max()) + 1)]
    )


def leaning(accuracy: np.ndarray, shares: np.ndarray, lag: int) -> ResultRow:
    """``gap`` and ``held_gap`` from A_t(c) and s_t(c), both [rounds, C], as above."""
    rounds = np.arange(FIRST - 1, LAST)
    model = accuracy[rounds] - accuracy[rounds].mean(axis=0)
    share = shares[rounds - lag]
    beyond = share - share.mean(axis=0)
    return {"gap": _difference(model, beyond > 0), "held_gap": _difference(model, share > 0)}


def _difference(values: np.ndarray, where: np.ndarray) -> float | None:
    """The mean of ``values`` where the condition holds, less that where it does not."""
    if where.all() or not where.any():
        return None
    return float(values[where].mean() - values[~where].mean())


_CASES = [
    {"split": "two_labels", "clients_per_round": 20},
    {"split": "dirichlet", "clients_per_round": 20},
    {"split": "two_labels", "clients_per_round": 5},
]
LAST_COHORT = Experiment("last_cohort", last_cohort, _CASES)
DIVERGENCE = Experiment("weight_divergence", divergence, [{}])
