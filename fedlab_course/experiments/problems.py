"""Strongly convex federations in float64 with a known optimum, for the theorems of [004]."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from scipy import optimize
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.randomness import stream
from fedlab_course.theory.softmax import Ridge

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
        return fl.Simulation(self.fed, self.model, self.algorithm, loss=self.loss, progress=False, **settings)


def linear(inputs: int = 1, outputs: int = 1, *, bias: bool = False, start: float = 0.0) -> nn.Module:
    """A linear model in float64 whose parameters all begin at ``start``."""
    model = nn.Linear(inputs, outputs, bias=bias).double()
    for parameter in model.parameters():
        nn.init.constant_(parameter, start)
    return model


def quadratics(seed: int, num_clients: int = 20, dimension: int = 20) -> Problem:
    """F_k(w) = ½ Σ_j a_kj (w_j − b_kj)², a ~ U(1, 2), b ~ N(0, 1), as least squares with a sample per coordinate j.

    A sample is √(d·a_kj) e_j, its target √(d·a_kj) b_kj, so that the mean over the d samples is F_k.
    """
    rng = stream(seed, "data")
    a, b = rng.uniform(1, 2, (num_clients, dimension)), rng.normal(size=(num_clients, dimension))
    roots = np.sqrt(dimension * a)
    clients = [(torch.from_numpy(np.diag(root)), torch.from_numpy(root * c)) for root, c in zip(roots, b, strict=True)]
    curvature = torch.from_numpy(a.mean(axis=0))
    optimum = torch.from_numpy((a * b).mean(axis=0)) / curvature

    def excess(params: torch.Tensor) -> float:
        return float(0.5 * (curvature * (params - optimum).square()).sum())

    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])
    return Problem(fed, linear(dimension), fl.FedAvg(), "squared_error", 1.0, 2.0, excess)


def softmax(seed: int, dataset: str = "digits", num_clients: int = 20) -> Problem:
    """Softmax regression with ridge ½‖w‖² on a data set, two labels per client; its optimum by L-BFGS, to 10⁻¹²."""
    x, y, test = _float64(dataset)
    parts = fl.partition.labels_per_client(y, num_clients=num_clients, labels_per_client=2, seed=seed)
    fed = fl.FederatedDataset.from_clients([(x[part], y[part]) for part in parts], test=test)
    ones = torch.ones(len(x), 1, dtype=x.dtype)
    norms = [float(torch.linalg.matrix_norm(torch.cat([x[part], ones[part]], 1), 2)) ** 2 / len(part) for part in parts]
    least = _least(dataset)

    def excess(params: torch.Tensor) -> float:
        return float(_objective(params, x, y)) - least

    smoothness = 0.5 * max(norms) + RIDGE  # the softmax has curvatures of at most ½
    model = linear(x.shape[1], 10, bias=True)
    return Problem(fed, model, Ridge(RIDGE), "cross_entropy", RIDGE, smoothness, excess)


@lru_cache(maxsize=1)
def _float64(dataset: str) -> tuple[torch.Tensor, torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Inputs as float64 [n, pixels] and labels of the training set, and both of the test set."""
    loaded = fl.load_dataset(dataset)
    train, test = ((split.x.flatten(1).double(), split.y) for split in (loaded.train, loaded.test))
    return *train, test


def _objective(params: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """F of flat parameters: mean cross-entropy and ridge."""
    weight, bias = params[:-10].reshape(10, -1), params[-10:]
    return functional.cross_entropy(functional.linear(x, weight, bias), y) + 0.5 * RIDGE * params.square().sum()


@lru_cache(maxsize=2)
def _least(dataset: str) -> float:
    """F*, which no partition changes: every sample counts the same."""
    x, y, _ = _float64(dataset)

    def value_and_gradient(flat: np.ndarray) -> tuple[float, np.ndarray]:
        params = torch.from_numpy(flat).requires_grad_()
        loss = _objective(params, x, y)
        (gradient,) = torch.autograd.grad(loss, params)
        return float(loss.detach()), gradient.numpy()

    start = np.zeros((x.shape[1] + 1) * 10)
    options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 2000}
    return float(optimize.minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", options=options).fun)
