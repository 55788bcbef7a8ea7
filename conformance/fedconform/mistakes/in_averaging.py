"""The known mistakes in the server's mean, in FedProx, in FedNova and in stratified weights."""

import numpy as np

from fedconform.formulas.averaging import BatchNorm, FedNova, FedProx, Stratified
from fedconform.formulas.local_training import Formula
from fedconform.mistakes.replacing import Mistake
from fedconform.tasks.problem import OF_KIND
from fedconform.tasks.task import Task, Vector

PLAIN = Mistake(
    "the plain mean is taken where n_k weights are due",
    {Formula.weight_of: lambda self, right, k: 1.0},
)
LAST = Mistake(
    "the last client of the cohort overwrites the others",
    {Formula.mean: lambda self, right, rows: rows[-1]},
)
ALL_SAMPLES = Mistake(
    "the weights are n_k over the samples of all N clients, also of the absent ones",
    {
        Formula.total: lambda self, right, weights: sum(
            self.weight_of(k) for k in range(self.task.num_clients)
        )
    },
)
SHRINKS = Mistake(
    "Σ n_k y_k over the cohort is divided by the samples of all N clients, so that w shrinks",
    {Formula.mean: lambda self, right, rows: self.sizes() @ rows / sum(self.task.sizes)},
)
MIXED_UP = Mistake(
    "the weights n_k are given to the wrong clients: those of the sorted cohort to the "
    "cohort as drawn",
    {
        Formula.weights: lambda self, right: np.array(
            [self.weight_of(k) for k in sorted(self.cohort)]
        )
    },
)
DRAWN = Mistake(
    "the weights n_k are given to the wrong clients: those of the cohort as drawn to the "
    "sorted cohort",
    {Formula.weights: lambda self, right: _of_drawn(self)},
)
BY_STEPS = Mistake(
    "the weights are the numbers of local steps, not n_k",
    {Formula.weight_of: lambda self, right, k: float(len(self.batches(k)))},
)
LOST = Mistake(
    "round 1 is lost: the server keeps its w",
    {Formula.kept: lambda self, right, w: right(w) if self.number else self.w},
)
ALONE = Mistake(
    "a cohort of one changes nothing",
    {Formula.kept: lambda self, right, w: right(w) if len(self.cohort) > 1 else self.w},
)
FIRST_COHORT = Mistake(
    "only as many clients count as the first cohort has",
    {
        Formula.mean: lambda self, right, rows: _of_first(self, rows),
    },
)


def _of_drawn(self: Formula) -> Vector:
    """The weights where the first client of the sorted cohort gets that of the first drawn."""
    given = dict(zip(sorted(self.cohort), self.cohort, strict=True))
    return np.array([self.weight_of(given[k]) for k in self.cohort], dtype=float)


def _of_first(self: Formula, rows: Vector) -> Vector:
    """The mean over the first clients of the cohort, as many as cohort 0 has."""
    count = len(self.task.cohorts[0])
    weights = self.weights()[:count]
    mean: Vector = weights @ rows[:count] / weights.sum()
    return mean


NO_PULL = Mistake(
    "the proximal term is zero: it is missing, or tied to the moving model",
    {FedProx.pull: lambda self, right, distance: 0 * right(distance)},
)
DOUBLE_PULL = Mistake(
    "the proximal gradient is 2μ (y − w): the ½ of μ/2 ‖y − w‖² is missing",
    {FedProx.pull: lambda self, right, distance: 2 * right(distance)},
)
HALF_PULL = Mistake(
    "the proximal gradient is μ/2 (y − w)",
    {FedProx.pull: lambda self, right, distance: 0.5 * right(distance)},
)
PUSH = Mistake(
    "the proximal term has the wrong sign",
    {FedProx.pull: lambda self, right, distance: -right(distance)},
)
OLD_ANCHOR = Mistake(
    "the proximal term is tied to the model before round 1, not to the one received",
    {FedProx.anchor: lambda self, right: self.task.start},
)
NOT_SQUARED = Mistake(
    "the proximal term is μ/2 ‖y − w‖ of each tensor: the square is missing",
    {FedProx.pull: lambda self, right, distance: right(_directions(self.task, distance)) / 2},
)
PULL_FACTORS: dict[str, float] = {NO_PULL: 0.0, DOUBLE_PULL: 2.0, HALF_PULL: 0.5, PUSH: -1.0}


def _directions(task: Task, distance: Vector) -> Vector:
    """The distance, divided by its norm in each tensor, W and b."""
    form = OF_KIND[task.kind]
    cut = len(distance) - form.outputs * form.bias
    parts = [part for part in (distance[:cut], distance[cut:]) if len(part)]
    return np.concatenate([part / max(float(np.linalg.norm(part)), 1e-300) for part in parts])


NOT_NORMALISED = Mistake(
    "the changes are not divided by ‖a_k‖₁, so that this is FedAvg",
    {FedNova.scaled: lambda self, right, scales, y: y},
)
TWICE_RESCALED = Mistake(
    "the step is multiplied by N/K, although the weights sum to 1 over the cohort already",
    {FedNova.effective: lambda self, right: right() * self.task.num_clients / len(self.cohort)},
)
NO_TAU = Mistake(
    "the mean of the normalised changes is not multiplied by τ_eff",
    {FedNova.effective: lambda self, right: 1.0},
)
PLAIN_TAU = Mistake(
    "τ_eff is the plain mean of the τ_k, not the n_k-weighted one",
    {FedNova.effective: lambda self, right: float(np.mean([self.steps(k) for k in self.cohort]))},
)
HARMONIC = Mistake(
    "τ_eff is the harmonic mean of the ‖a_k‖₁: the factors are divided by their sum",
    {FedNova.effective: lambda self, right: _harmonic(self)},
)
STEPS_ONLY = Mistake(
    "‖a_k‖₁ is the number of steps, although the steps have a proximal term or momentum",
    {FedNova.norm_of: lambda self, right, tau: float(tau)},
)
ALWAYS_NORM = Mistake(
    "τ_eff is Σ p_k ‖a_k‖₁ with a proximal term too, where Σ p_k τ_k is due",
    {FedNova.effective: lambda self, right: self.expected([self.norm(k) for k in self.cohort])},
)
PLANNED = Mistake(
    "τ_k counts the steps that were planned, not those that the client took",
    {FedNova.steps: lambda self, right, k: self.task.steps[k]},
)
MODELS_SCALED = Mistake(
    "the factor τ_eff / ‖a_k‖₁ multiplies y_k, where it must multiply y_k − w",
    {FedNova.scaled: lambda self, right, scales, y: scales * y},
)


def _harmonic(self: FedNova) -> float:
    weights = self.weights()
    norms = np.array([self.norm(k) for k in self.cohort])
    return float(weights.sum() / (weights / norms).sum())


NO_STRATA = Mistake(
    "the weights are n_k alone: clients of small and large strata count alike",
    {Stratified.share: lambda self, right, k: 1.0},
)
STRATUM_SIZE = Mistake(
    "the weights are those of the strata alone, without n_k",
    {Stratified.size: lambda self, right, k: 1.0},
)
NOT_TO_ONE = Mistake(
    "the weights (N/K) n_k / Σ n do not sum to 1",
    {Stratified.mean: lambda self, right, rows: _not_to_one(self, rows)},
)


def _not_to_one(self: Formula, rows: Vector) -> Vector:
    task = self.task
    weighted: Vector = self.sizes() @ rows
    return weighted * task.num_clients / len(self.cohort) / sum(task.sizes)


PLAIN_BUFFERS = Mistake(
    "the buffers of batch normalisation are averaged without weights",
    {BatchNorm.mean_buffers: lambda self, right, rows: rows.mean(0)},
)
LAST_BUFFERS = Mistake(
    "the buffers of batch normalisation are those of the last client",
    {BatchNorm.mean_buffers: lambda self, right, rows: rows[-1]},
)
OLD_BUFFERS = Mistake(
    "the server never changes its buffers of batch normalisation",
    {BatchNorm.mean_buffers: lambda self, right, rows: self.buffers},
)
