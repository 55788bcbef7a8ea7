"""FedCurv and FedMas as in the papers, and the importance of Memory Aware Synapses.

The equations are those of ``fedlab_core.algorithms.fedcurv``, ``fedlab_core.algorithms.fedmas`` and
``fedlab_core.importance``, which cite the papers.
"""

from collections.abc import Iterator

import numpy as np

from fedconform.formulas.local_training import Answer, Formula
from fedconform.tasks import problem
from fedconform.tasks.task import Task, Vector


class Penalty(Formula):
    """Local steps under the penalty λ Σ Ω (y − r)², whose gradient is a ⊙ y − t with a = 2λ Ω and
    t = 2λ Ω ⊙ r.

    Explicit step: y − η (g + a ⊙ y − t). Implicit step: (y − η g + η t) / (1 + η a).
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.a = np.zeros_like(self.w)
        self.t = np.zeros_like(self.w)

    def train(self, k: int) -> Vector:
        scale = self.factor() * self.task.parameters["strength"]
        self.a = scale * self.weight(k)
        self.t = scale * self.weighted_anchor(k)
        return super().train(k)

    def is_implicit(self) -> bool:
        return self.task.parameters.get("penalty_step") == "implicit"

    def weight(self, k: int) -> Vector:
        """Ω, summed over all terms of the penalty of client k."""
        raise NotImplementedError

    def weighted_anchor(self, k: int) -> Vector:
        """Ω ⊙ r, summed over all terms of the penalty of client k."""
        raise NotImplementedError

    def factor(self) -> float:
        """The derivative of (y − r)² has a 2."""
        return 2.0

    def added(self, k: int, y: Vector) -> Vector | float:
        """What is added to the gradient at y."""
        return np.zeros_like(y) if self.is_implicit() else self.a * y - self.t

    def moved(self, y: Vector, velocity: Vector) -> Vector:
        moved = super().moved(y, velocity)
        return self.solved(moved) if self.is_implicit() else moved

    def solved(self, moved: Vector) -> Vector:
        """The solution y of y = moved − η (a ⊙ y − t)."""
        return (moved + self.anchor_term()) / self.denominator()

    def anchor_term(self) -> Vector:
        return self.rate() * self.t

    def denominator(self) -> Vector:
        return 1 + self.rate() * self.a


class FedCurv(Penalty):
    """The penalty λ Σ_{j ≠ k} (y − θ_j)ᵀ diag(I_j) (y − θ_j) over the last cohort; then FedAvg."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.fisher = np.zeros((task.num_clients, len(self.w)))  # I_j
        self.theta = self.fisher.copy()  # θ_j
        self.is_last = np.zeros(task.num_clients, dtype=bool)  # was in the last cohort

    def round(self) -> Answer:
        cohort = list(self.cohort)
        models = self.models()
        for k, y in zip(cohort, models, strict=True):
            self.fisher[k] = self.moment(self.sample_gradients(k, self.point(y)))
            self.theta[k] = y
        self.is_last[:] = False
        self.is_last[cohort] = True
        self.w = self.kept(self.mean(models))
        return {"w": self.w}

    def weight(self, k: int) -> Vector:
        return self.of_others(self.fisher, k)

    def weighted_anchor(self, k: int) -> Vector:
        return self.of_others(self.fisher * self.theta, k)

    def of_others(self, rows: Vector, k: int) -> Vector:
        """The sum over the last cohort without client k."""
        total: Vector = rows[self.is_last].sum(0)
        return total - rows[k] if self.is_subtracted(k) else total

    def is_subtracted(self, k: int) -> bool:
        return bool(self.is_last[k])

    def moment(self, samples: Vector) -> Vector:
        """I of the gradients of the samples [n, P]."""
        moment: Vector = (samples**2).mean(0)
        return moment

    def point(self, y: Vector) -> Vector:
        return y


class Measuring(Formula):
    """Ω = mean over the samples of a client of |∂ ‖f(x)‖² / ∂w|, with f the logits or their
    softmax.
    """

    def output(self) -> str:
        return str(self.task.parameters.get("output", "logits"))

    def importance(self, client: int, w: Vector) -> Vector:
        kind = self.task.kind
        x = self.x[client]
        logits = problem.outputs(kind, w, x)
        return self.sample_mean(problem.chained(kind, x, self.of_logits(logits)))

    def of_logits(self, logits: np.ndarray) -> np.ndarray:
        """∂ ‖f‖² / ∂ logits of each sample [n, outputs]."""
        f = self.outputs(logits)
        if self.output() == "logits":
            return 2 * f
        return 2 * f * (f - (f**2).sum(1, keepdims=True))

    def outputs(self, logits: np.ndarray) -> np.ndarray:
        """f [n, outputs]."""
        if self.output() == "logits":
            return logits
        powers = np.exp(logits - logits.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    def sample_mean(self, samples: Vector) -> Vector:
        """Ω of the gradients of the samples [n, P]."""
        omega: Vector = np.abs(samples).mean(0)
        return omega


class FedMas(Penalty, Measuring):
    """The penalty λ Σ Ω (y − w*)² with w* the model that the tier receives; then the mean of the
    tier, at which one of its clients measures the next Ω.

    There is no penalty before the first measurement.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.tiers: int = task.parameters["num_tiers"]
        self.of_round = self.w  # the model at the start of the round
        self.omega = np.zeros_like(self.w)

    def round(self) -> Answer:
        client = self.task.parameters["measured_by"][self.number]
        if self.number % self.tiers == 0:
            self.of_round = self.w
        models = self.models()
        received = self.w
        self.w = self.kept(self.mean(models))
        self.omega = self.renewed(self.importance(client, self.point(received)))
        return {"w": self.w}

    def weight(self, k: int) -> Vector:
        return self.omega

    def weighted_anchor(self, k: int) -> Vector:
        return self.weight(k) * self.anchor()

    def anchor(self) -> Vector:
        return self.w

    def point(self, received: Vector) -> Vector:
        """Where Ω is measured: at the tier's aggregate."""
        return self.w

    def renewed(self, measured: Vector) -> Vector:
        return measured


class Importance(Measuring):
    """The answer is Ω of client 0 at ``start``."""

    def rounds(self) -> Iterator[Answer]:
        yield {"importance": self.importance(0, self.w)}
