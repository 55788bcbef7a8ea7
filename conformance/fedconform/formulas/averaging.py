"""FedAvg, FedProx, FedNova and stratified sampling.

The equations are those of the modules of the same names in ``fedlab_core.algorithms``, which cite
the papers.
"""

from collections.abc import Iterator

import numpy as np

from fedconform.formulas.local_training import Answer, Formula
from fedconform.tasks.task import Task, Vector

KEPT = 0.9  # of the running means of batch normalisation, in every batch


class FedAvg(Formula):
    """w ← Σ n_k y_k / Σ n_k."""

    def round(self) -> Answer:
        self.w = self.kept(self.mean(self.models()))
        return {"w": self.w}


class BatchNorm(FedAvg):
    """FedAvg. Where the model has batch normalisation, its running means and variances are averaged
    like w; "buffers" are the means of the features, and then their variances.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        features = task.x[0].shape[1]
        self.buffers: Vector = np.repeat([0.0, 1.0], features)

    def rounds(self) -> Iterator[Answer]:
        for answer in super().rounds():
            if self.task.kind != "batchnorm":
                yield answer
                continue
            rows = np.array([self.local_buffers(k) for k in self.cohort])
            self.buffers = self.mean_buffers(rows)
            yield answer | {"buffers": self.buffers}

    def local_buffers(self, k: int) -> Vector:
        """The buffers of a client after its batches, with the unbiased variance, as PyTorch."""
        buffers = self.buffers
        for rows in self.batches(k):
            x = self.x[k][rows]
            unbiased = x.var(0) * len(x) / max(len(x) - 1, 1)
            of_batch = np.concatenate([x.mean(0), unbiased])
            buffers = KEPT * buffers + (1 - KEPT) * of_batch
        return buffers

    def mean_buffers(self, rows: Vector) -> Vector:
        sizes = self.sizes()
        mean: Vector = sizes @ rows / sizes.sum()
        return mean


class FedProx(FedAvg):
    """Local gradients ∇F_k(y) + μ (y − w)."""

    def added(self, k: int, y: Vector) -> Vector | float:
        return self.pull(y - self.anchor())

    def anchor(self) -> Vector:
        return self.w

    def pull(self, distance: Vector) -> Vector:
        return self.mu() * distance

    def mu(self) -> float:
        return float(self.task.parameters["mu"])


class FedNova(FedProx):
    """w ← w − τ_eff η Σ p_k d_k, d_k = (w − y_k) / (η ‖a_k‖₁)."""

    def round(self) -> Answer:
        y = self.models()
        scales = self.effective() / np.array([self.norm(k) for k in self.cohort])
        self.w = self.kept(self.mean(self.scaled(scales[:, None], y)))
        return {"w": self.w}

    def added(self, k: int, y: Vector) -> Vector | float:
        return super().added(k, y) if self.mu() else 0.0

    def scaled(self, scales: Vector, y: Vector) -> Vector:
        return self.w + scales * (y - self.w)

    def steps(self, k: int) -> int:
        """τ_k, the steps that the client took."""
        return len(self.batches(k))

    def norm(self, k: int) -> float:
        """‖a_k‖₁."""
        return max(self.norm_of(self.steps(k)), 1e-200)  # without steps, nothing changes

    def norm_of(self, tau: int) -> float:
        rho = self.task.local_momentum
        shrink = self.rate() * self.mu()
        if shrink:
            return float((1 - (1 - shrink) ** tau) / shrink)
        return float((tau - rho * (1 - rho**tau) / (1 - rho)) / (1 - rho))

    def effective(self) -> float:
        """τ_eff = Σ p_k ‖a_k‖₁, with a proximal term Σ p_k τ_k."""
        values = [self.steps(k) if self.mu() else self.norm(k) for k in self.cohort]
        return self.expected(values)

    def expected(self, values: list[float]) -> float:
        weights = self.weights()
        return float(weights @ np.array(values, dtype=float) / weights.sum())


class Stratified(FedAvg):
    """w ← Σ ω_k y_k, ω_k ∝ n_k n_c / s_c for n_c clients in the stratum of k, of which s_c are in
    the cohort.
    """

    def mean(self, rows: Vector) -> Vector:
        weights = self.weights()
        weighted: Vector = weights @ rows
        return weighted / self.total(weights)

    def weight_of(self, k: int) -> float:
        return self.size(k) * self.share(k)

    def size(self, k: int) -> float:
        return self.task.sizes[k]

    def share(self, k: int) -> float:
        """n_c / s_c."""
        strata = self.task.parameters["strata"]
        drawn = [strata[other] for other in self.cohort]
        return float(strata.count(strata[k]) / drawn.count(strata[k]))
