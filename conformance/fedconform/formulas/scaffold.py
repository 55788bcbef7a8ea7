"""SCAFFOLD as in the paper.

The equations are those of ``fedlab_core.algorithms.scaffold``, which cites the paper.
"""

import numpy as np

from fedconform.formulas.local_training import Answer, Formula
from fedconform.tasks.task import Task, Vector


class Scaffold(Formula):
    """w ← w + η_g mean (y_k − w), c ← c + Σ (c_k⁺ − c_k) / N, local gradients ∇F_k(y) + c − c_k."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.c = self.first_c()
        self.c_clients = np.tile(self.first_c_k(), (task.num_clients, 1))
        self.met: set[int] = set()  # the clients that took part before
        self.corrections: dict[int, Vector] = {}

    def round(self) -> Answer:
        cohort = list(self.cohort)
        self.receive()
        self.met.update(cohort)
        self.corrections = {k: self.correction(k) for k in cohort}
        y = self.models()
        new_c_k = np.array([self.new_control(k, y_k) for k, y_k in zip(cohort, y, strict=True)])
        changes = self.changes(new_c_k, self.c_clients[cohort])
        new_c = self.c + self.share() * self.all_changes(changes)
        self.c_clients[cohort] = self.stored(new_c_k, new_c)
        self.w = self.kept(self.stepped(self.server_rate(), self.mean(y)))
        self.c = new_c
        return {"w": self.w, "c": self.c, "c_clients": self.c_clients.copy()}

    def first_c(self) -> Vector:
        return np.zeros_like(self.w)

    def first_c_k(self) -> Vector:
        return np.zeros_like(self.w)

    def receive(self) -> None:
        """The cohort receives w and c; each client has its c_k from its last round."""

    def added(self, k: int, y: Vector) -> Vector | float:
        return self.corrections[k]

    def correction(self, k: int) -> Vector:
        correction: Vector = self.c - self.c_clients[k]
        return correction

    def option(self) -> int:
        return int(self.task.parameters["option"])

    def new_control(self, k: int, y_k: Vector) -> Vector:
        """c_k⁺: ∇F_k(w) in option 1, c_k − c + (w − y_k) / (τ_k η) in option 2."""
        if self.option() == 1:
            return self.mean_gradient(k, y_k)
        return self.old_controls(k) + self.mean_gradient(k, y_k)

    def mean_gradient(self, k: int, y_k: Vector) -> Vector:
        if self.option() == 1:
            return self.gradient(k, self.point_of_gradient(y_k))
        return (self.w - y_k) / max(self.steps(k), 1) / self.control_rate()

    def point_of_gradient(self, y_k: Vector) -> Vector:
        return self.w

    def old_controls(self, k: int) -> Vector:
        old: Vector = self.c_clients[k] - self.c
        return old

    def steps(self, k: int) -> int:
        """τ_k, the steps that the client took."""
        return len(self.batches(k))

    def control_rate(self) -> float:
        """η in c_k⁺."""
        return self.rate()

    def changes(self, new_c_k: Vector, c_k: Vector) -> Vector:
        return new_c_k - c_k

    def all_changes(self, changes: Vector) -> Vector:
        return changes.sum(0)

    def share(self) -> float:
        return 1 / self.task.num_clients

    def stored(self, new_c_k: Vector, new_c: Vector) -> Vector:
        return new_c_k

    def server_rate(self) -> float:
        return float(self.task.parameters["server_lr"])

    def stepped(self, rate: float, mean: Vector) -> Vector:
        return self.w + rate * (mean - self.w)

    def weight_of(self, k: int) -> float:
        return 1.0
