"""FedDyn as in the paper.

The equations are those of ``fedlab_core.algorithms.feddyn``, which cites the paper.
"""

import numpy as np

from fedconform.formulas.local_training import Answer, Formula
from fedconform.tasks.task import Task, Vector


class FedDyn(Formula):
    """h_k ← h_k − μ (y_k − w), h ← h − μ Σ (y_k − w) / N, w ← mean y_k − h / μ; the clients step
    along ∇F_k(y) − h_k + μ (y − w).
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.h = np.zeros_like(self.w)
        self.h_clients = np.zeros((task.num_clients, len(self.w)))
        self.latest = np.tile(self.w, (task.num_clients, 1))  # y_k of every client

    def round(self) -> Answer:
        cohort = list(self.cohort)
        y = self.models()
        self.latest[cohort] = y
        self.h_clients[cohort] -= self.client_change(y)
        new_h = self.h - self.mu() * (y - self.w).sum(0) / self.divisor()
        self.w = self.kept(self.mean(y) - self.subtracted(new_h) / self.mu())
        self.h = new_h
        return {"w": self.w}

    def added(self, k: int, y: Vector) -> Vector | float:
        return self.proximal(y) - self.linear(k)

    def mu(self) -> float:
        return float(self.task.parameters["mu"])

    def linear(self, k: int) -> Vector:
        h_k: Vector = self.h_clients[k]
        return h_k

    def proximal(self, y: Vector) -> Vector:
        return self.mu() * (y - self.w)

    def client_change(self, y: Vector) -> Vector:
        """What is subtracted from h_k."""
        return self.mu() * (y - self.w)

    def divisor(self) -> float:
        return self.task.num_clients

    def subtracted(self, new_h: Vector) -> Vector:
        return new_h

    def mean(self, rows: Vector) -> Vector:
        weights = self.weights()
        weighted: Vector = weights @ rows
        return weighted / self.total(weights)

    def weight_of(self, k: int) -> float:
        return 1.0
