"""The known mistakes in SCAFFOLD."""

import numpy as np

from fedconform.formulas.scaffold import Scaffold
from fedconform.mistakes.replacing import Mistake
from fedconform.tasks.task import Vector

WEIGHTED = Mistake(
    "n_k weights are taken where the plain mean is due",
    {Scaffold.weight_of: lambda self, right, k: self.task.sizes[k]},
)
NO_RATE = Mistake(
    "the server rate η_g is missing",
    {Scaffold.server_rate: lambda self, right: 1.0},
)
RATE_TWICE = Mistake(
    "the server rate η_g is applied twice",
    {Scaffold.server_rate: lambda self, right: right() ** 2},
)
MODELS_SCALED = Mistake(
    "the server rate η_g multiplies y_k, where it must multiply y_k − w",
    {Scaffold.stepped: lambda self, right, rate, mean: rate * mean},
)
FIRST_RECEIVED = Mistake(
    "c starts as a copy of the weights, and each c_k as the weights that the client first receives",
    {
        Scaffold.first_c: lambda self, right: self.w.copy(),
        Scaffold.receive: lambda self, right: _take_over(self),
    },
)
ALL_FROM_WEIGHTS = Mistake(
    "c and all c_k start as copies of the weights, not at zero",
    {
        Scaffold.first_c: lambda self, right: self.w.copy(),
        Scaffold.first_c_k: lambda self, right: self.w,
    },
)
FROM_WEIGHTS = Mistake(
    "c starts as a copy of the weights",
    {Scaffold.first_c: lambda self, right: self.w.copy()},
)
NOT_APPLIED = Mistake(
    "the correction c − c_k never reaches a local step",
    {Scaffold.correction: lambda self, right, k: 0 * right(k)},
)
SIGN = Mistake(
    "the correction has the wrong sign: c_k − c",
    {Scaffold.correction: lambda self, right, k: -right(k)},
)
ONLY_SERVER = Mistake(
    "the correction is c alone: c_k is missing",
    {Scaffold.correction: lambda self, right, k: self.c},
)
ONLY_CLIENT = Mistake(
    "the correction is −c_k alone: c is missing",
    {Scaffold.correction: lambda self, right, k: -self.c_clients[k]},
)
MINUS = Mistake(
    "the gradient in c_k⁺ has the wrong sign: (y_k − w) / (τ_k η), or −∇F_k(w)",
    {Scaffold.mean_gradient: lambda self, right, k, y_k: -right(k, y_k)},
)
AT_END = Mistake(
    "c_k⁺ is the gradient at y_k, where that at w is due",
    {Scaffold.point_of_gradient: lambda self, right, y_k: y_k},
)
OPTION_1 = Mistake(
    "this is option 1: c_k⁺ is the gradient at w",
    {Scaffold.option: lambda self, right: 1},
)
OPTION_2 = Mistake(
    "this is option 2: c_k⁺ is made from the local steps",
    {Scaffold.option: lambda self, right: 2},
)
NOT_TAKEN_OUT = Mistake(
    "c_k⁺ is (w − y_k) / (τ_k η): c_k − c is missing",
    {Scaffold.old_controls: lambda self, right, k: 0 * right(k)},
)
REVERSED = Mistake(
    "c_k⁺ is c − c_k + (w − y_k) / (τ_k η): the sign of c_k − c is wrong",
    {Scaffold.old_controls: lambda self, right, k: -right(k)},
)
TAU_MISSING = Mistake(
    "the number of steps is missing in c_k⁺: (w − y_k) / η",
    {Scaffold.steps: lambda self, right, k: 1},
)
EPOCHS = Mistake(
    "c_k⁺ counts epochs where steps are due",
    {Scaffold.steps: lambda self, right, k: self.epochs(k)},
)
LONGEST = Mistake(
    "c_k⁺ has the largest number of steps in the cohort, not the client's own",
    {Scaffold.steps: lambda self, right, k: max(right(j) for j in self.cohort)},
)
PLANNED = Mistake(
    "c_k⁺ counts the steps that were planned, not those that the client took",
    {Scaffold.steps: lambda self, right, k: self.task.steps[k]},
)
RATE_MISSING = Mistake(
    "the learning rate is missing in c_k⁺: (w − y_k) / τ_k",
    {Scaffold.control_rate: lambda self, right: 1.0},
)
FIRST_RATE = Mistake(
    "c_k⁺ is made with the rate of round 1 in every round",
    {Scaffold.control_rate: lambda self, right: self.task.lr},
)
OVERWRITTEN = Mistake(
    "c_k is overwritten before its change is formed, so that c stays where it is",
    {Scaffold.changes: lambda self, right, new_c_k, c_k: 0 * right(new_c_k, c_k)},
)
NOT_A_CHANGE = Mistake(
    "c grows by the c_k⁺ themselves, not by their changes c_k⁺ − c_k",
    {Scaffold.changes: lambda self, right, new_c_k, c_k: new_c_k},
)
NOT_STORED = Mistake(
    "c_k⁺ is never stored, so that c_k stays where it is",
    {Scaffold.stored: lambda self, right, new_c_k, new_c: self.c_clients[list(self.cohort)]},
)
WEIGHTED_COHORT = Mistake(
    "the update of c is the n_k-weighted mean of the changes over the cohort, without |S|/N",
    {
        Scaffold.all_changes: lambda self, right, changes: _weighted(self, changes),
        Scaffold.share: lambda self, right: 1.0,
    },
)
WEIGHTED_SHARE = Mistake(
    "the update of c is |S|/N times the n_k-weighted mean of the changes, not the plain one",
    {
        Scaffold.all_changes: lambda self, right, changes: _weighted(self, changes),
        Scaffold.share: lambda self, right: len(self.cohort) / self.task.num_clients,
    },
)
COHORT_SHARE = Mistake(
    "the server divides by |S| where N is due, in the update of c",
    {Scaffold.share: lambda self, right: 1 / len(self.cohort)},
)
NO_SHARE = Mistake(
    "the update of c is not divided by N",
    {Scaffold.share: lambda self, right: 1.0},
)
C_FIRST = Mistake(
    "c is updated before c_k, so that c_k⁺ contains the new c",
    {Scaffold.stored: lambda self, right, new_c_k, new_c: right(new_c_k, new_c) + self.c - new_c},
)


def _take_over(self: Scaffold) -> None:
    """Each new client takes the weights that it receives as its c_k."""
    new = [k for k in self.cohort if k not in self.met]
    self.c_clients[new] = self.w


def _weighted(self: Scaffold, changes: Vector) -> Vector:
    sizes = self.sizes()
    mean: Vector = sizes @ changes / np.sum(sizes)
    return mean
