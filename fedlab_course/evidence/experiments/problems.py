"""Strongly convex federations in float64 with a known optimum, for what [004] proves of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from scipy import optimize
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.randomness import stream
from fedlab_core.server import Server

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


@dataclass(frozen=True)
class Ridge(fl.Algorithm):
    """FedAvg on F_k + ``strength``/2 ‖w‖², exactly: the local gradient gets strength · y."""

    strength: float

    def correction(self, server: Server, client: int) -> fl.Correction:
        """a = strength around the anchor 0."""
        return fl.Correction(weight=self.strength)


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
    model = nn.Linear(dimension, 1, bias=False).double()
    nn.init.zeros_(model.weight)

    def excess(params: torch.Tensor) -> float:
        return float(0.5 * (curvature * (params - optimum).square()).sum())

    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])
    return Problem(fed, model, fl.FedAvg(), "squared_error", 1.0, 2.0, excess)


def softmax(seed: int, dataset: str = "digits", num_clients: int = 20) -> Problem:
    """Softmax regression with ridge ½‖w‖² on a data set, two labels per client; its optimum by L-BFGS, to 10⁻¹²."""
    x, y, xt, yt = _float64(dataset)
    parts = fl.partition.labels_per_client(y, num_clients=num_clients, labels_per_client=2, seed=seed)
    fed = fl.FederatedDataset.from_clients([(x[part], y[part]) for part in parts], test=(xt, yt))
    model = nn.Linear(x.shape[1], 10).double()
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    norms = [float(torch.linalg.matrix_norm(_with_one(x[part]), 2)) ** 2 / len(part) for part in parts]
    value, least = _objective(x, y), _least(dataset)
    smoothness = 0.5 * max(norms) + RIDGE  # the softmax has curvatures of at most ½
    return Problem(fed, model, Ridge(RIDGE), "cross_entropy", RIDGE, smoothness, lambda params: value(params) - least)


def _with_one(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x, torch.ones(len(x), 1, dtype=x.dtype)], 1)


@lru_cache(maxsize=1)
def _float64(dataset: str) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Inputs as float64 [n, pixels] and labels, of the training and of the test set."""
    loaded = fl.load_dataset(dataset)
    (x, y), (xt, yt) = ((split.x.flatten(1).double(), split.y) for split in (loaded.train, loaded.test))
    return x, y, xt, yt


def _objective(x: torch.Tensor, y: torch.Tensor) -> Callable[[torch.Tensor], float]:
    """F of flat parameters: mean cross-entropy and ridge."""

    def value(params: torch.Tensor) -> float:
        weight, bias = params[:-10].reshape(10, -1), params[-10:]
        loss = functional.cross_entropy(functional.linear(x, weight, bias), y)
        return float(loss + 0.5 * RIDGE * params.square().sum())

    return value


@lru_cache(maxsize=2)
def _least(dataset: str) -> float:
    """F*, which no partition changes: every sample counts the same."""
    x, y, _, _ = _float64(dataset)

    def both(flat: np.ndarray) -> tuple[float, np.ndarray]:
        params = torch.from_numpy(flat).requires_grad_()
        weight, bias = params[:-10].reshape(10, -1), params[-10:]
        loss = functional.cross_entropy(functional.linear(x, weight, bias), y) + 0.5 * RIDGE * params.square().sum()
        loss.backward()
        assert params.grad is not None
        return float(loss.detach()), params.grad.numpy()

    start = np.zeros((x.shape[1] + 1) * 10)
    options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 2000}
    return float(optimize.minimize(both, start, jac=True, method="L-BFGS-B", options=options).fun)
