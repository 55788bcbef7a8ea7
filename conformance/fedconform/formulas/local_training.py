"""What all formulas have in common: rounds, local training and the mean of the clients' models.

Each step is a method. An algorithm replaces steps by its own, and a known mistake replaces a step
by a wrong one. Nothing here uses a simulator.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from fedconform.tasks import problem
from fedconform.tasks.task import Task, Vector

Answer = dict[str, Vector]
Rows = Sequence[np.ndarray]


class Formula:
    """One run on a task. ``rounds`` gives the right answer after every cohort."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.x = [np.asarray(x, dtype=np.float64) for x in task.x]
        self.y = [y if task.kind == "softmax" else np.asarray(y, np.float64) for y in task.y]
        self.number = 0  # of the cohort, from 0
        self.cohort: Sequence[int] = ()
        self.w: Vector = np.asarray(task.start, dtype=np.float64)
        self.velocities: dict[int, Vector] = {}  # where the momentum of each client ended
        self.handed: Vector | None = None  # where that of the latest client ended
        self.own: dict[int, Vector] = {}  # the latest model of each client
        self.ended: Vector | None = None  # where the client before ended, in this round
        self.path: list[Vector] = []  # y before each step of the latest client

    def rounds(self) -> Iterator[Answer]:
        for number, cohort in enumerate(self.task.cohorts):
            self.number = number
            self.cohort = cohort
            self.ended = None
            yield self.round()

    def round(self) -> Answer:
        """The answer after a round with ``cohort``."""
        raise NotImplementedError

    def sizes(self) -> Vector:
        """n_k of the cohort."""
        return np.array([self.task.sizes[k] for k in self.cohort], dtype=float)

    # the batches of a client

    def epochs(self, k: int) -> int:
        task = self.task
        return task.work[self.number][self.cohort.index(k)] if task.work else task.epochs

    def batch_size(self, k: int) -> int:
        return self.task.batch_size or self.task.sizes[k]

    def epoch(self, k: int) -> Rows:
        """The samples of each batch of one epoch."""
        size = self.batch_size(k)
        samples = np.arange(self.task.sizes[k])
        return [samples[place : place + size] for place in samples[::size]]

    def batches(self, k: int) -> Rows:
        """The samples of each step of the client in this round."""
        return self.epochs(k) * list(self.epoch(k))

    # local training: v ← m v + ∇F_k(y) + what the algorithm adds, y ← y − η v

    def train(self, k: int) -> Vector:
        """y_k [P]."""
        y = self.received(k)
        velocity = self.first_velocity(k)
        momentum = self.momentum()
        self.path = []
        for rows in self.batches(k):
            self.path.append(y)
            velocity = momentum * velocity + self.batch_gradient(k, y, rows) + self.added(k, y)
            y = self.moved(y, velocity)
        self.velocities[k] = velocity
        self.handed = velocity
        self.own[k] = y
        self.ended = y
        return y

    def received(self, k: int) -> Vector:
        """Where the client starts."""
        return self.w

    def first_velocity(self, k: int) -> Vector:
        return np.zeros_like(self.w)

    def momentum(self) -> float:
        return self.task.local_momentum

    def batch_gradient(self, k: int, y: Vector, rows: np.ndarray) -> Vector:
        return problem.gradient(self.task.kind, y, self.x[k][rows], self.y[k][rows])

    def added(self, k: int, y: Vector) -> Vector | float:
        """What the algorithm adds to the gradient at y."""
        return 0.0

    def moved(self, y: Vector, velocity: Vector) -> Vector:
        return y - self.rate() * velocity

    def rate(self) -> float:
        """η in this round."""
        return self.task.rates[self.number] if self.task.rates else self.task.lr

    # values of a client's loss

    def gradient(self, k: int, w: Vector) -> Vector:
        """∇F_k(w) [P]."""
        return problem.gradient(self.task.kind, w, self.x[k], self.y[k])

    def loss(self, k: int, w: Vector) -> float:
        """F_k(w), the mean loss of the client's samples."""
        return float(problem.loss(self.task.kind, w, self.x[k], self.y[k]))

    def batch_loss(self, k: int, w: Vector, rows: np.ndarray) -> float:
        """The mean loss of some samples of the client."""
        return float(problem.loss(self.task.kind, w, self.x[k][rows], self.y[k][rows]))

    def sample_gradients(self, k: int, w: Vector) -> Vector:
        """The gradient of the loss of each sample, [n, P]."""
        return problem.sample_gradients(self.task.kind, w, self.x[k], self.y[k])

    # the mean over the cohort

    def mean(self, rows: Vector) -> Vector:
        """Σ n_k y_k / Σ n_k of the rows y_k [K, P]."""
        weights = self.weights()
        weighted: Vector = weights @ (rows - self.w)
        return self.w + weighted / self.total(weights)

    def weights(self) -> Vector:
        """The weight of each client of the cohort."""
        return np.array([self.weight_of(k) for k in self.cohort], dtype=float)

    def weight_of(self, k: int) -> float:
        return self.task.sizes[k]

    def total(self, weights: Vector) -> float:
        return float(weights.sum())

    def kept(self, w: Vector) -> Vector:
        """What the server keeps of its new w."""
        return w

    def models(self) -> Vector:
        """The y_k of the cohort [K, P]."""
        return np.array([self.train(k) for k in self.cohort])
