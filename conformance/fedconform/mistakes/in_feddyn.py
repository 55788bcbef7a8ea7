"""The known mistakes in FedDyn."""

import numpy as np

from fedconform.formulas.feddyn import FedDyn
from fedconform.mistakes.replacing import Mistake
from fedconform.tasks.task import Vector

WEIGHTED = Mistake(
    "n_k weights are taken where the plain mean is due",
    {FedDyn.weight_of: lambda self, right, k: self.task.sizes[k]},
)
NO_LINEAR = Mistake(
    "the linear term −⟨h_k, y⟩ never reaches a local step",
    {FedDyn.linear: lambda self, right, k: 0 * right(k)},
)
LINEAR_SIGN = Mistake(
    "the linear term has the wrong sign",
    {FedDyn.linear: lambda self, right, k: -right(k)},
)
NO_PROXIMAL = Mistake(
    "the proximal term μ (y − w) is missing",
    {FedDyn.proximal: lambda self, right, y: 0 * right(y)},
)
DOUBLE_PROXIMAL = Mistake(
    "the proximal gradient is 2μ (y − w): the ½ of μ/2 ‖y − w‖² is missing",
    {FedDyn.proximal: lambda self, right, y: 2 * right(y)},
)
NOT_SQUARED = Mistake(
    "the proximal term is μ/2 ‖y − w‖: the square is missing",
    {FedDyn.proximal: lambda self, right, y: right(y) / 2 / max(_norm(y - self.w), 1e-300)},
)
NOT_ADDED = Mistake(
    "h_k is replaced by −μ (y_k − w), not changed by it",
    {FedDyn.client_change: lambda self, right, y: right(y) + self.h_clients[list(self.cohort)]},
)
WITHOUT_MU = Mistake(
    "h_k is changed by y_k − w: the factor μ is missing",
    {FedDyn.client_change: lambda self, right, y: right(y) / self.mu()},
)
H_SHARE = Mistake(
    "the server divides by |S| where N is due, in the update of h",
    {FedDyn.divisor: lambda self, right: len(self.cohort)},
)
H_TOTAL = Mistake(
    "the update of h is not divided by N",
    {FedDyn.divisor: lambda self, right: 1.0},
)
ALL_LATEST = Mistake(
    "the mean is over the latest models of all N clients, not over the cohort",
    {FedDyn.mean: lambda self, right, rows: self.latest.mean(0)},
)
H_NOT_TAKEN = Mistake(
    "h is not subtracted: w is the mean of the y_k",
    {FedDyn.subtracted: lambda self, right, new_h: 0 * right(new_h)},
)
H_SIGN = Mistake(
    "h is added to the mean, where it must be subtracted",
    {FedDyn.subtracted: lambda self, right, new_h: -right(new_h)},
)
H_NOT_DIVIDED = Mistake(
    "h is subtracted as it is, where h / μ is due",
    {FedDyn.subtracted: lambda self, right, new_h: self.mu() * right(new_h)},
)
OLD_H = Mistake(
    "w is computed with the h of the round before",
    {FedDyn.subtracted: lambda self, right, new_h: self.h},
)


def _norm(distance: Vector) -> float:
    return float(np.linalg.norm(distance))
