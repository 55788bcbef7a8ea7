"""Optimisers on the server: FedAvgM, FedAdam, FedYogi, FedAdagrad; and q-FedAvg.

The equations are those of the modules of the same names in ``fedlab_core.algorithms``, which cite
the papers.
"""

import numpy as np

from fedconform.formulas.averaging import FedAvg
from fedconform.formulas.local_training import Answer, Formula
from fedconform.tasks.task import Task, Vector


class ServerOptimizer(FedAvg):
    """w ← w + η_g · step, made of the mean change Δ of the clients."""

    def round(self) -> Answer:
        change = self.mean(self.models()) - self.w
        self.w = self.kept(self.w + self.server_rate() * self.step(change))
        return {"w": self.w}

    def server_rate(self) -> float:
        return float(self.task.parameters["server_lr"])

    def step(self, change: Vector) -> Vector:
        raise NotImplementedError


class FedAvgM(ServerOptimizer):
    """v ← β v + Δ, w ← w + η_g v."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.velocity = np.zeros_like(self.w)

    def step(self, change: Vector) -> Vector:
        self.velocity = self.beta() * self.old_velocity() + self.entering(change)
        return self.direction(change)

    def beta(self) -> float:
        return float(self.task.parameters["beta"])

    def old_velocity(self) -> Vector:
        return self.velocity

    def entering(self, change: Vector) -> Vector:
        return change

    def direction(self, change: Vector) -> Vector:
        return self.velocity


class FedAdam(ServerOptimizer):
    """m ← β₁ m + (1 − β₁) Δ, v ← β₂ v + (1 − β₂) Δ², w ← w + η_g m / (√v + τ)."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.m = np.full_like(self.w, self.first_m())
        self.v = np.full_like(self.w, self.first_v())
        self.next_v: Vector | None = None  # for the mistake that uses v a round late

    def step(self, change: Vector) -> Vector:
        self.m = self.beta1() * self.m + self.entering() * change
        self.v = self.new_v(change**2)
        return self.factor() * self.corrected_m() / self.denominator(self.corrected_v())

    def first_m(self) -> float:
        return 0.0

    def first_v(self) -> float:
        return self.tau() ** 2

    def beta1(self) -> float:
        return float(self.task.parameters["beta1"])

    def beta2(self) -> float:
        return float(self.task.parameters["beta2"])

    def tau(self) -> float:
        return float(self.task.parameters["tau"])

    def entering(self) -> float:
        """The factor of Δ."""
        return 1 - self.beta1()

    def new_v(self, square: Vector) -> Vector:
        return self.adam_v(square)

    def adam_v(self, square: Vector) -> Vector:
        return self.beta2() * self.v + (1 - self.beta2()) * square

    def corrected_m(self) -> Vector:
        return self.m

    def corrected_v(self) -> Vector:
        return self.v

    def factor(self) -> float:
        return 1.0

    def denominator(self, v: Vector) -> Vector:
        """√v + τ."""
        root: Vector = np.sqrt(v) + self.tau()
        return root


class FedYogi(FedAdam):
    """v ← v − (1 − β₂) Δ² sign(v − Δ²), the rest as FedAdam."""

    def new_v(self, square: Vector) -> Vector:
        return self.v - (1 - self.beta2()) * square * self.sign(self.v - square)

    def sign(self, difference: Vector) -> Vector:
        sign: Vector = np.sign(difference)
        return sign


class FedAdagrad(FedAdam):
    """v ← v + Δ², the rest as FedAdam."""

    def beta2(self) -> float:
        return 0.0  # v has no decay; a correction of its bias is no correction

    def new_v(self, square: Vector) -> Vector:
        return self.v + square


class QFedAvg(Formula):
    """w ← w − Σ F_k^q d_k / Σ h_k, d_k = L (w − y_k), h_k = q F_k^(q−1) ‖d_k‖² + L F_k^q,
    L = 1/η.
    """

    def round(self) -> Answer:
        steps = np.zeros_like(self.w)
        total = 0.0
        for k in self.counted():
            y = self.train(k)
            d = self.lipschitz() * (self.w - y)
            value = self.value(k, y)
            share = self.weight_of(k)
            curvature = self.curvature(value, float(np.linalg.norm(d)))
            steps = steps + share * value ** self.q() * d
            total += share * (curvature + self.lipschitz() * value ** self.q())
        self.w = self.kept(self.w - steps / total)
        return {"w": self.w}

    def counted(self) -> list[int]:
        return list(self.cohort)

    def q(self) -> float:
        return float(self.task.parameters["q"])

    def lipschitz(self) -> float:
        return 1 / self.rate()

    def value(self, k: int, y: Vector) -> float:
        """F_k."""
        return self.loss(k, self.w)

    def curvature(self, value: float, norm: float) -> float:
        return self.q() * self.power(value) * norm**2

    def power(self, value: float) -> float:
        """F_k^(q−1)."""
        return float(value ** (self.q() - 1))

    def weight_of(self, k: int) -> float:
        return 1.0
