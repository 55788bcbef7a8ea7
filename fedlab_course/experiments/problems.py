"""Strongly convex federations in float64 with a known optimum, for the theorems of [004]."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.randomness import stream
from fedlab_course import theory
from fedlab_course.experiments.measured_runs import load
from fedlab_course.theory.bounds import RidgeFedAvg

RIDGE = 1.0


@dataclass(frozen=True)
class Problem:
    """``excess(params)`` is F(w) − F* for ``params`` [P]; each F_k is ``convexity`` μ-convex and
    ``smoothness`` L-smooth. The ``model`` starts from zero.
    """

    fed: fl.FederatedDataset
    model: nn.Module
    algorithm: fl.Algorithm
    loss: str
    convexity: float
    smoothness: float
    excess: Callable[[torch.Tensor], float]

    def simulation(self, **settings: Any) -> fl.Simulation:
        """A run with these further settings."""
        return fl.Simulation(
            self.fed, self.model, self.algorithm, loss=self.loss, progress=False, **settings
        )


def linear(
    inputs: int = 1, outputs: int = 1, *, bias: bool = False, start: float = 0.0
) -> nn.Module:
    """A linear model in float64 whose parameters all begin at ``start``."""
    model = nn.Linear(inputs, outputs, bias=bias).double()
    for parameter in model.parameters():
        nn.init.constant_(parameter, start)
    return model


def quadratics(seed: int, num_clients: int = 20, dimension: int = 20) -> Problem:
    """F_k(w) = ½ Σ_j a_kj (w_j − b_kj)², a ~ U(1, 2), b ~ N(0, 1), as least squares with a sample
    per coordinate j.

    A sample is √(d·a_kj) e_j, its target √(d·a_kj) b_kj, so that the mean over the d samples is
    F_k. In one dimension these are the data of :func:`fedlab_core.data.synthetic.quadratics`.
    """
    rng = stream(seed, "data")
    a = rng.uniform(1, 2, (num_clients, dimension))
    b = rng.normal(size=(num_clients, dimension))
    roots = np.sqrt(dimension * a)
    clients = [
        (torch.from_numpy(np.diag(root)), torch.from_numpy(root * c))
        for root, c in zip(roots, b, strict=True)
    ]
    curvature = torch.from_numpy(a.mean(axis=0))
    optimum = torch.from_numpy((a * b).mean(axis=0)) / curvature

    def excess(params: torch.Tensor) -> float:
        return float(0.5 * (curvature * (params - optimum).square()).sum())

    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])
    return Problem(fed, linear(dimension), fl.FedAvg(), "squared_error", 1.0, 2.0, excess)


def softmax(seed: int, dataset: str = "digits", num_clients: int = 20) -> Problem:
    """Softmax regression with ridge ½‖w‖² on a data set, two labels per client; its optimum by
    L-BFGS, to 10⁻¹².
    """
    data = load(dataset)
    train, test = ((split.x.flatten(1).double(), split.y) for split in (data.train, data.test))
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=num_clients, labels_per_client=2, seed=seed
    )
    fed = fl.FederatedDataset.from_clients(
        [(train[0][part], train[1][part]) for part in parts], test=test
    )
    regression = theory.SoftmaxRegression(fed, RIDGE)
    least = regression.loss(regression.optimum)

    def excess(params: torch.Tensor) -> float:
        return regression.loss(params) - least

    model = linear(train[0].shape[1], len(data.classes), bias=True)
    return Problem(
        fed, model, RidgeFedAvg(RIDGE), "cross_entropy", RIDGE, regression.smoothness, excess
    )
