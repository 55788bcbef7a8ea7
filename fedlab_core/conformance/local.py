"""The formulas of local training and of averaging, in NumPy, each right or with known mistakes.

A formula receives the set ``wrong`` of mistakes that it must make. A mistake is its own sentence, which the report
prints. Nothing here uses the simulator.
"""

from collections.abc import Callable, Collection, Sequence

import numpy as np

from fedlab_core.conformance.task import Task, Vector

Wrong = Collection[str]

DROPPED = "the last short batch of an epoch is dropped"
ONE_STEP = "an epoch is one step, whatever the batch size"
ACROSS = "batches run across the ends of epochs, so that there are ⌈E n_k / B⌉ steps"
SUMMED = "the loss of a batch is summed, not averaged"
TRAINING = (DROPPED, ONE_STEP, ACROSS, SUMMED)

KEPT = "the local momentum is kept across rounds"
HANDED_ON = "the local momentum is handed from one client to the next"
NO_MOMENTUM = "the local momentum is missing"
MOMENTUM = (KEPT, HANDED_ON, NO_MOMENTUM)

PLAIN = "the plain mean is taken where n_k weights are due"
LAST = "the last client of the cohort overwrites the others"
ALL_SAMPLES = "the weights are n_k over the samples of all N clients, also of the absent ones"
MIXED_UP = "the weights n_k are given to the wrong clients: those of the sorted cohort to the cohort as drawn"
MEANS = (PLAIN, LAST, ALL_SAMPLES, MIXED_UP)


def residuals(task: Task, client: int, w: Vector) -> tuple[np.ndarray, np.ndarray]:
    """The outputs f(x) and the gradients of the loss of each sample with respect to them, [n, outputs] each."""
    x, y = task.x[client], task.y[client]
    outputs = 3 if task.kind == "softmax" else 1
    weights = w[: outputs * x.shape[1]].reshape(outputs, -1)
    output = x @ weights.T + (0.0 if task.kind == "quadratic" else w[-outputs:])
    if task.kind != "softmax":
        return output, output - y[:, None]
    powers = np.exp(output - output.max(1, keepdims=True))
    return output, powers / powers.sum(1, keepdims=True) - np.eye(outputs)[y]


def chained(task: Task, client: int, outer: np.ndarray) -> np.ndarray:
    """The gradients of each sample with respect to w [n, P], from those with respect to the outputs."""
    products = (outer[:, :, None] * task.x[client][:, None, :]).reshape(len(outer), -1)
    return products if task.kind == "quadratic" else np.concatenate([products, outer], axis=1)


def sample_gradients(task: Task, client: int, w: Vector) -> np.ndarray:
    """The gradient of the loss of each sample, [n, P]."""
    return chained(task, client, residuals(task, client, w)[1])


def gradient(task: Task, client: int, w: Vector) -> Vector:
    """∇F_k(w) [P]."""
    return sample_gradients(task, client, w).mean(0)


def loss(task: Task, client: int, w: Vector) -> float:
    """F_k(w), the mean loss of the client's samples."""
    output, residual = residuals(task, client, w)
    if task.kind != "softmax":
        return float((residual**2).mean() / 2)
    chosen = np.take_along_axis(output, task.y[client][:, None], axis=1)[:, 0]
    return float((np.log(np.exp(output).sum(1)) - chosen).mean())


def batches(task: Task, client: int, wrong: Wrong) -> list[int]:
    """The number of samples of each step of the client."""
    n = task.sizes[client]
    size = task.batch_size or n
    if ACROSS in wrong:
        return [size] * -(-task.epochs * n // size)
    epoch = [size] * (n // size) + ([n % size] if n % size and DROPPED not in wrong else [])
    return task.epochs * (epoch[:1] if ONE_STEP in wrong else epoch)


class Clients:
    """The local training of one run: v ← m v + ∇F_k(y) + what the algorithm adds, y ← y − η v."""

    def __init__(self, task: Task, wrong: Wrong) -> None:
        self.task, self.wrong = task, wrong
        self.velocities: dict[int, Vector] = {}
        self.path: list[Vector] = []  # y before each step of the latest client

    def train(self, client: int, w: Vector, extra: Callable[[Vector], Vector] | None = None) -> Vector:
        """y_k [P] after the client's steps from w; ``extra``: what is added to the gradient at y."""
        task, wrong, y = self.task, self.wrong, w
        key = 0 if HANDED_ON in wrong else client
        velocity = self.velocities.get(key, np.zeros_like(w)) if {KEPT, HANDED_ON} & set(wrong) else np.zeros_like(w)
        momentum = 0.0 if NO_MOMENTUM in wrong else task.local_momentum
        self.path = []
        for size in batches(task, client, wrong):
            self.path.append(y)
            step = gradient(task, client, y) * (size if SUMMED in wrong else 1)
            velocity = momentum * velocity + step + (0.0 if extra is None else extra(y))
            y = y - task.lr * velocity
        self.velocities[key] = velocity
        return y


def mean(task: Task, cohort: Sequence[int], rows: Sequence[Vector], w: Vector, wrong: Wrong) -> Vector:
    """Σ n_k y_k / Σ n_k over the cohort."""
    if LAST in wrong:
        return rows[-1]
    owners = sorted(cohort) if MIXED_UP in wrong else cohort
    sizes = np.array([1 if PLAIN in wrong else task.sizes[client] for client in owners])
    total = sum(task.sizes) if ALL_SAMPLES in wrong else sizes.sum()
    return w + sizes @ (np.array(rows) - w) / total


def tensors(task: Task) -> list[slice]:
    """The places of W and b in w."""
    bias = {"quadratic": 0, "linear": 1, "softmax": 3}[task.kind]
    cut = len(task.start) - bias
    return [slice(0, cut), slice(cut, None)] if bias else [slice(0, None)]
