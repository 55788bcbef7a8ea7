"""Does the model lean towards whoever took part last? FedAvg on the digits, 100 clients.

A_t(c): the test accuracy on label c after each of rounds 11 to 50, less its mean over these rounds. s_t(c): the share
of label c among the samples of round t's cohort. ``lag``: which cohort is looked at: 0 the last one, 1 and 2 those
before it, and −1 the one that is drawn next, which the model cannot know.

``gap``: mean A_t(c) of labels whose share of that cohort's samples is above the label's mean over the rounds, less that
of the others. ``held_gap``: the same of labels that the cohort holds at all, less those that it does not; missing where
every cohort holds every label. ``correlation``: Pearson's, of A_t(c) with s_t(c) less its mean over the rounds.
``not_held``: the share of the pairs of round and label where the cohort does not hold the label.
"""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import DIGITS, deal

FIRST, LAST = 11, 50
LAGS = (-1, 0, 1, 2)


def run(seed: int, *, split: str, clients_per_round: int) -> list[Row]:
    """One row for each lag."""
    fed = deal(split, seed)
    work = {"rounds": LAST + 1, "clients_per_round": clients_per_round, "eval_every": LAST + 1}
    settings = DIGITS | work | {"seed": seed, "progress": False}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=seed), fl.FedAvg(), **settings)
    held, accuracy, shares = fed.heterogeneity().label_counts, [], []
    for _ in simulation:
        counts = held[np.concatenate(simulation.cohorts)].sum(axis=0)
        shares.append(counts / counts.sum())
        accuracy.append(by_label(simulation.model, fed.test))
    return [{"lag": lag} | leaning(np.array(accuracy), np.array(shares), lag) for lag in LAGS]


def by_label(model: torch.nn.Module, test: Any) -> np.ndarray:
    """The accuracy of ``model`` on the test samples of each label, [C]."""
    with torch.no_grad():
        right = (model(test.x).argmax(dim=1) == test.y).double()
    return np.array([float(right[test.y == label].mean()) for label in range(int(test.y.max()) + 1)])


def leaning(accuracy: np.ndarray, shares: np.ndarray, lag: int) -> Row:
    """``gap``, ``held_gap``, ``correlation`` and ``not_held`` from A_t(c) and s_t(c), both [rounds, C], as above."""
    rounds = np.arange(FIRST - 1, LAST)
    model = accuracy[rounds] - accuracy[rounds].mean(axis=0)
    share = shares[rounds - lag]
    beyond = share - share.mean(axis=0)
    held = share > 0
    return {
        "gap": _difference(model, beyond > 0),
        "held_gap": _difference(model, held),
        "correlation": float(np.corrcoef(model.ravel(), beyond.ravel())[0, 1]),
        "not_held": float(1 - held.mean()),
    }


def _difference(values: np.ndarray, where: np.ndarray) -> float | None:
    """The mean of ``values`` where the condition holds, less that where it does not."""
    return float(values[where].mean() - values[~where].mean()) if where.any() and not where.all() else None


_CASES = [
    {"split": "two_labels", "clients_per_round": 20},
    {"split": "dirichlet", "clients_per_round": 20},
    {"split": "two_labels", "clients_per_round": 5},
]
LAST_COHORT = Experiment("c01_last_cohort", run, _CASES)
