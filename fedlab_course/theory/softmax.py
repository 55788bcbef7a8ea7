"""Softmax regression with ridge, whose constants in the theorems can all be computed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import optimize

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.randomness import stream
from fedlab_core.server import Server

_MOST, _TOLERANCE = 1000, 1e-8  # of power iteration: steps, and the last relative change


class Dissimilarity(NamedTuple):
    """At each of M points: ``spread`` [M], Σ ρ_k ‖∇F_k‖², and ``whole`` [M], ‖∇F‖²; spread ≥ whole, by Jensen.

    (G, B)-dissimilarity (Karimireddy et al. 2020, assumption A1) is spread ≤ G² + B² whole at all w.
    """

    spread: np.ndarray
    whole: np.ndarray

    @classmethod
    def of(cls, gradients: Sequence[torch.Tensor], weights: np.ndarray) -> "Dissimilarity":
        """From the clients' gradients [N, P] at each point, and their weights ρ [N]."""
        rho = torch.from_numpy(np.asarray(weights, dtype=np.float64))
        pairs = [(float(rho @ g.double().square().sum(1)), float((rho @ g.double()).square().sum())) for g in gradients]
        return cls(*np.array(pairs).T)

    def least_gradient(self) -> float:
        """The least G with which the inequality holds at all points for B = 1."""
        return float(np.sqrt(np.maximum(self.spread - self.whole, 0).max()))


@dataclass(frozen=True)
class SoftmaxRegression:
    """F_k(w) = mean cross-entropy of client k + ridge/2 ‖w‖², in float64, and F = Σ ρ_k F_k.

    w [P] is what a linear layer with bias holds, in its order: the weights of each class, then the biases;
    P = C (d + 1). Each F_k is ``ridge``-strongly convex. Raises ``ValueError`` for a regression task and ridge < 0.
    """

    fed: fl.FederatedDataset
    ridge: float

    def __post_init__(self) -> None:
        validation.real("ridge", self.ridge)
        if self.fed.num_classes is None:
            raise ValueError("fed: must hold labels, and it is a regression task")

    @property
    def size(self) -> int:
        """P."""
        return self._classes * self._parts[0][0].shape[1]

    def losses(self, w: torch.Tensor) -> np.ndarray:
        """F_k(w) [N]."""
        return np.array([self._objective(w, *part)[0] for part in self._parts])

    def gradients(self, w: torch.Tensor) -> torch.Tensor:
        """∇F_k(w) [N, P]."""
        return torch.stack([self._objective(w, *part)[1] for part in self._parts])

    def loss(self, w: torch.Tensor) -> float:
        """F(w)."""
        return float(self.fed.weights @ self.losses(w))

    @cached_property
    def optimum(self) -> torch.Tensor:
        """w* [P], by L-BFGS."""
        return self._least(slice(None))[0]

    @cached_property
    def gap(self) -> float:
        """Γ = F* − Σ ρ_k F_k*, the heterogeneity; ≥ 0. F_k* is the least loss of client k on its own, by L-BFGS."""
        least = [self._least(slice(k, k + 1))[1] for k in range(len(self._parts))]
        return self.loss(self.optimum) - float(self.fed.weights @ least)

    @property
    def smoothness(self) -> float:
        """An L that holds everywhere: max_k ½ λ_max(XᵀX/n_k) + ridge, for a softmax has curvatures of at most ½."""
        norms = [float(torch.linalg.matrix_norm(x, 2)) ** 2 / len(x) for x, _ in self._parts]
        return 0.5 * max(norms) + self.ridge

    def curvatures(self, w: torch.Tensor) -> np.ndarray:
        """The largest eigenvalue of ∇²F_k(w) [N], by power iteration: no Hessian is ever formed.

        With p = softmax and z = X V, the row of a sample in ∇²F_k V is p ⊙ (z − pᵀz).
        """
        matrix, found = self._matrix(w), []
        start = torch.from_numpy(stream(0, "power_iteration").normal(size=self.size))
        for x, _ in self._parts:
            p, v, value, before = torch.softmax(x @ matrix.T, 1), start / start.norm(), 0.0, np.inf
            for _ in range(_MOST):
                if abs(value - before) <= _TOLERANCE * abs(value):
                    break
                z = x @ self._matrix(v).T
                rows = p * (z - (p * z).sum(1, keepdim=True))
                image = self._flat(rows.T @ x / len(x)) + self.ridge * v
                before, value, v = value, float(v @ image), image / image.norm()
            found.append(value)
        return np.array(found)

    def squares(self, w: torch.Tensor) -> np.ndarray:
        """E‖∇F_k(w, ξ)‖² [N] for one sample ξ of client k, which the fourth assumption bounds.

        The square for a sample: that of e xᵀ, twice ridge · wᵀ(e xᵀ), and ridge² ‖w‖², with e = softmax − label.
        """
        matrix, found = self._matrix(w), []
        for x, y in self._parts:
            logits = x @ matrix.T
            error = torch.softmax(logits, 1) - y
            plain, mixed = error.square().sum(1) * x.square().sum(1), (error * logits).sum(1)
            found.append(float((plain + 2 * self.ridge * mixed).mean()))
        return np.array(found) + self.ridge**2 * float(matrix.square().sum())

    def noise(self, w: torch.Tensor) -> np.ndarray:
        """σ_k² = E‖∇F_k(w, ξ) − ∇F_k(w)‖² [N] for one sample ξ of client k, which the third bounds."""
        return self.squares(w) - self.gradients(w).square().sum(1).numpy()

    def constants(self) -> dict[str, float]:
        """What the theorems need to know: Γ, G, noise Σ ρ_k σ_k² and the largest curvature at w*, L, and the bound on
        gradients, √ of the largest E‖∇F_k(w, ξ)‖² at w = 0 and at w*; G is the least, √(Σ ρ_k ‖∇F_k(w*)‖²).
        """
        w, rho = self.optimum, self.fed.weights
        return {
            "gap": self.gap,
            "dissimilarity": Dissimilarity.of([self.gradients(w)], rho).least_gradient(),
            "noise": float(rho @ self.noise(w)),
            "smoothness": self.smoothness,
            "curvature": float(self.curvatures(w).max()),
            "gradient": max(float(self.squares(point).max()) for point in (torch.zeros_like(w), w)) ** 0.5,
        }

    def visited(self, rounds: int, kept: Collection[int], **settings: Any) -> list[torch.Tensor]:
        """The parameters after those of the ``rounds`` of FedAvg that are ``kept``, all clients in each.

        The ridge is a :class:`fedlab_core.Correction` with the weight ``ridge`` and the anchor 0. ``settings``: other
        arguments of ``fl.simulate``.
        """
        law = {"rounds": rounds, "clients_per_round": self.fed.num_clients, "eval_every": rounds, "progress": False}
        model = fl.models.softmax_regression(self.fed, seed=settings.get("seed", 0))
        simulation = fl.Simulation(self.fed, model, _Ridge(self.ridge), **law | settings)
        found = [simulation.history.params for record in simulation if record.round in kept]
        return [params for params in found if params is not None]

    @property
    def _classes(self) -> int:
        assert self.fed.num_classes is not None
        return self.fed.num_classes

    @cached_property
    def _parts(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Inputs with a 1 behind them [n_k, d + 1], and one-hot labels [n_k, C]."""
        found = []
        for x, y in map(self.fed.client, range(self.fed.num_clients)):
            ones = torch.ones(len(x), 1, dtype=torch.float64)
            labels = torch.nn.functional.one_hot(y, self._classes).double()
            found.append((torch.cat([x.flatten(1).double(), ones], 1), labels))
        return found

    def _matrix(self, w: torch.Tensor) -> torch.Tensor:
        """[C, d + 1], the bias in the last column."""
        w = w.detach().double()
        return torch.cat([w[: -self._classes].reshape(self._classes, -1), w[-self._classes :, None]], 1)

    def _flat(self, matrix: torch.Tensor) -> torch.Tensor:
        return torch.cat([matrix[:, :-1].flatten(), matrix[:, -1]])

    def _objective(self, w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> tuple[float, torch.Tensor]:
        """The loss of a client with inputs ``x`` and labels ``y``, and its gradient [P]."""
        w = w.detach().double()
        log = torch.log_softmax(x @ self._matrix(w).T, 1)
        gradient = self._flat((log.exp() - y).T @ x / len(x)) + self.ridge * w
        return 0.5 * self.ridge * float(w @ w) - float((y * log).sum(1).mean()), gradient

    def _least(self, clients: slice) -> tuple[torch.Tensor, float]:
        """The minimiser and the minimum of the mean loss of some clients, each by its share."""
        rho = self.fed.weights[clients] / self.fed.weights[clients].sum()

        def both(flat: np.ndarray) -> tuple[float, np.ndarray]:
            found = [self._objective(torch.from_numpy(flat), *part) for part in self._parts[clients]]
            losses, gradients = zip(*found, strict=True)
            return float(rho @ losses), rho @ torch.stack(gradients).numpy()

        options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000}
        found = optimize.minimize(both, np.zeros(self.size), jac=True, method="L-BFGS-B", options=options)
        return torch.from_numpy(found.x), float(found.fun)


@dataclass(frozen=True)
class _Ridge(fl.Algorithm):
    """FedAvg on F_k + ``strength``/2 ‖w‖²: the local gradient gets strength · y."""

    strength: float

    def correction(self, server: Server, client: int) -> fl.Correction:
        return fl.Correction(weight=self.strength)
