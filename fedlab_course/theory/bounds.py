"""Two bounds of [004] as numbers, and softmax regression with ridge, whose constants in them can
all be computed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import optimize
from scipy.sparse.linalg import LinearOperator, eigsh
from torch.autograd.functional import vhp
from torch.nn import functional

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.randomness import stream
from fedlab_core.server import Server
from fedlab_core.validation import NotNegative, Positive

Part = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Constants:
    """What the bounds need to know.

    ``noise`` Σ ρ_k σ_k², the weighted variance of the stochastic gradients; ``smoothness`` L;
    ``convexity`` μ; ``gradient`` G, the bound on gradient norms; ``gap`` Γ = F* − Σ ρ_k F_k*, the
    heterogeneity.
    """

    noise: NotNegative
    smoothness: Positive
    convexity: Positive
    gradient: Positive
    gap: NotNegative

    def __post_init__(self) -> None:
        validation.check_fields(self)

    def best_local_steps(self, num_clients: int, clients_per_round: int) -> float:
        """E* = √(B/A), where the rounds to a given accuracy, A·E + B/E by eq. (35), are fewest.

            A = (1 + (N − K)/(KN)) G²,    B = Σ ρ_k σ_k² + LΓ + LG²/μ

        E* *grows* with Γ; the text of [004] and its figures say the opposite. The bound is an upper
        one: it does not contradict the figures, but it cannot explain them either.
        """
        per_step = (
            1 + (num_clients - clients_per_round) / (clients_per_round * num_clients)
        ) * self.gradient**2
        fixed = (
            self.noise
            + self.smoothness * self.gap
            + self.smoothness * self.gradient**2 / self.convexity
        )
        return float(np.sqrt(fixed / per_step))


def dissimilarity(
    gradients: Sequence[torch.Tensor], weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """At each of M points: the spread Σ ρ_k ‖∇F_k‖² [M] and the whole ‖∇F‖² [M]; spread ≥ whole, by
    Jensen.

    ``gradients``: those of the clients, [N, P] at each point; ``weights`` ρ [N]. (G,
    B)-dissimilarity (Karimireddy et al. 2020, assumption A1) is spread ≤ G² + B² whole at all w.
    """
    rho = torch.from_numpy(weights)
    spread = [float(rho @ gradient.square().sum(1)) for gradient in gradients]
    whole = [float((rho @ gradient).square().sum()) for gradient in gradients]
    return np.array(spread), np.array(whole)


@dataclass(frozen=True)
class SoftmaxRegression:
    """F_k(w) = mean cross-entropy of client k + ridge/2 ‖w‖², in float64, and F = Σ ρ_k F_k.

    w [P] is what a linear layer with bias holds, in its order: the weights of each class, then the
    biases; P = C (d + 1). Each F_k is ``ridge``-strongly convex. Raises ``ValueError`` for ridge <
    0.
    """

    fed: fl.FederatedDataset
    ridge: float

    def __post_init__(self) -> None:
        validation.real("ridge", self.ridge)

    @property
    def size(self) -> int:
        """P."""
        return sum(
            parameter.numel() for parameter in fl.models.softmax_regression(self.fed).parameters()
        )

    def losses(self, w: torch.Tensor) -> np.ndarray:
        """F_k(w) [N]."""
        return np.array([float(self._loss(w.detach(), *part)) for part in self._parts])

    def gradients(self, w: torch.Tensor) -> torch.Tensor:
        """∇F_k(w) [N, P]."""
        gradient = torch.func.grad(self._loss)
        return torch.stack([gradient(w.detach().double(), *part) for part in self._parts])

    def loss(self, w: torch.Tensor) -> float:
        """F(w)."""
        return float(self.fed.weights @ self.losses(w))

    @cached_property
    def optimum(self) -> torch.Tensor:
        """w* [P], by L-BFGS."""
        return self._least(slice(None))[0]

    @cached_property
    def gap(self) -> float:
        """Γ = F* − Σ ρ_k F_k*, the heterogeneity; ≥ 0. F_k* is the least loss of client k on its
        own, by L-BFGS.
        """
        least = [self._least(slice(k, k + 1))[1] for k in range(len(self._parts))]
        return self.loss(self.optimum) - float(self.fed.weights @ least)

    @property
    def smoothness(self) -> float:
        """An L that holds everywhere: max_k ½ λ_max(XᵀX/n_k) + ridge, for a softmax has curvatures
        of at most ½.

        X: the inputs with a 1 behind them, for the bias.
        """
        ones = [functional.pad(x, (0, 1), value=1.0) for x, _ in self._parts]
        return (
            0.5 * max(float(torch.linalg.matrix_norm(x, 2)) ** 2 / len(x) for x in ones)
            + self.ridge
        )

    def curvatures(self, w: torch.Tensor) -> np.ndarray:
        """The largest eigenvalue of ∇²F_k(w) [N], by Lanczos iterations from products ∇²F_k(w) v:
        without a Hessian.
        """
        w = w.detach().double()
        start = stream(0, "power_iteration").normal(size=self.size)
        largest = []
        for part in self._parts:

            def product(v: np.ndarray, part: Part = part) -> np.ndarray:
                return vhp(lambda u: self._loss(u, *part), w, torch.from_numpy(v))[1].numpy()

            hessian = LinearOperator((len(w), len(w)), matvec=product, dtype=float)
            largest += eigsh(hessian, 1, v0=start, which="LA", return_eigenvectors=False).tolist()
        return np.array(largest)

    def squares(self, w: torch.Tensor) -> np.ndarray:
        """E‖∇F_k(w, ξ)‖² [N] for one sample ξ of client k, which the fourth assumption bounds."""
        each = torch.func.vmap(torch.func.grad(self._loss), in_dims=(None, 0, 0))
        rows = [each(w.detach().double(), x[:, None], y[:, None]) for x, y in self._parts]
        return np.array([float(row.square().sum(1).mean()) for row in rows])

    def noise(self, w: torch.Tensor) -> np.ndarray:
        """σ_k² = E‖∇F_k(w, ξ) − ∇F_k(w)‖² [N] for one sample ξ of
        client k, which the third bounds.
        """
        return self.squares(w) - self.gradients(w).square().sum(1).numpy()

    def constants(self) -> dict[str, float]:
        """What the theorems need to know: Γ, G, noise Σ ρ_k σ_k² and the largest curvature at w*,
        L, and the bound on gradients, √ of the largest E‖∇F_k(w, ξ)‖² at w = 0 and at w*; G is the
        least, √(Σ ρ_k ‖∇F_k(w*)‖²).
        """
        w = self.optimum
        rho = self.fed.weights
        spread, whole = dissimilarity([self.gradients(w)], rho)
        at_start_and_end = [float(self.squares(point).max()) for point in (torch.zeros_like(w), w)]
        return {
            "gap": self.gap,
            "dissimilarity": max(0.0, float(spread[0] - whole[0])) ** 0.5,
            "noise": float(rho @ self.noise(w)),
            "smoothness": self.smoothness,
            "curvature": float(self.curvatures(w).max()),
            "gradient": max(at_start_and_end) ** 0.5,
        }

    def visited(self, rounds: int, kept: Collection[int], **settings: Any) -> list[torch.Tensor]:
        """The parameters after those of the ``rounds`` of FedAvg that are ``kept``, all clients in
        each.

        ``settings``: other arguments of ``fl.simulate``.
        """
        law = {
            "rounds": rounds,
            "clients_per_round": self.fed.num_clients,
            "eval_every": rounds,
            "progress": False,
        }
        model = fl.models.softmax_regression(self.fed, seed=settings.get("seed", 0))
        simulation = fl.Simulation(self.fed, model, RidgeFedAvg(self.ridge), **law | settings)
        all_params = [simulation.history.params for record in simulation if record.round in kept]
        return [params for params in all_params if params is not None]

    @cached_property
    def _parts(self) -> list[Part]:
        """Inputs [n_k, d] and labels [n_k]."""
        return [
            (x.flatten(1).double(), y) for x, y in map(self.fed.client, range(self.fed.num_clients))
        ]

    def _loss(self, w: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss at ``w`` [P] of a client with inputs ``x`` and labels ``y``."""
        w = w.double()
        classes = len(w) // (x.shape[1] + 1)
        weights = w[:-classes].reshape(classes, -1)
        bias = w[-classes:]
        return (
            functional.cross_entropy(functional.linear(x, weights, bias), y)
            + self.ridge / 2 * w.square().sum()
        )

    def _least(self, clients: slice) -> tuple[torch.Tensor, float]:
        """The minimiser and the minimum of the mean loss of some clients, each by its share."""
        rho = self.fed.weights[clients] / self.fed.weights[clients].sum()
        with_gradient = torch.func.grad_and_value(self._loss)

        def both(flat: np.ndarray) -> tuple[float, np.ndarray]:
            solution = [
                with_gradient(torch.from_numpy(flat), *part) for part in self._parts[clients]
            ]
            gradients, losses = zip(*solution, strict=True)
            return float(rho @ torch.stack(losses).numpy()), rho @ torch.stack(gradients).numpy()

        options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 2000}
        solution = optimize.minimize(
            both, np.zeros(self.size), jac=True, method="L-BFGS-B", options=options
        )
        return torch.from_numpy(solution.x), float(solution.fun)


@dataclass(frozen=True)
class RidgeFedAvg(fl.Algorithm):
    """FedAvg on F_k + ``strength``/2 ‖w‖², exactly: the local gradient gets strength · y."""

    strength: float

    def correction(self, server: Server, client: int) -> fl.Correction:
        return fl.Correction(weight=self.strength)
