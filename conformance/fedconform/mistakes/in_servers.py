"""The known mistakes in optimisers on the server, and in q-FedAvg."""

import numpy as np

from fedconform.formulas.servers import (
    FedAdam,
    FedAvgM,
    FedYogi,
    QFedAvg,
    ServerOptimizer,
)
from fedconform.mistakes.replacing import Mistake
from fedconform.tasks.task import Vector

NO_RATE = Mistake(
    "the server rate η_g is missing",
    {ServerOptimizer.server_rate: lambda self, right: 1.0},
)
RATE_TWICE = Mistake(
    "the server rate η_g is applied twice",
    {ServerOptimizer.server_rate: lambda self, right: right() ** 2},
)
DOWNHILL = Mistake(
    "the server steps against the mean change",
    {ServerOptimizer.server_rate: lambda self, right: -right()},
)
NOT_KEPT = Mistake(
    "the server's momentum is not kept from round to round",
    {FedAvgM.old_velocity: lambda self, right: 0 * right()},
)
BETA_EXCHANGED = Mistake(
    "β is 1 − β: the two are exchanged",
    {FedAvgM.beta: lambda self, right: 1 - right()},
)
DAMPENED = Mistake(
    "the mean change enters the momentum with the factor 1 − β",
    {FedAvgM.entering: lambda self, right, change: (1 - self.beta()) * right(change)},
)
NESTEROV = Mistake(
    "the server's momentum is Nesterov's",
    {
        FedAvgM.direction: lambda self, right, change: (
            self.entering(change) + self.beta() * right(change)
        )
    },
)
FIRST_UNDAMPED = Mistake(
    "the velocity of round 1 is the mean change, and later ones have the factor 1 − β",
    {
        FedAvgM.entering: lambda self, right, change: (
            ((1 - self.beta()) if self.number else 1) * right(change)
        )
    },
)

NOT_DAMPENED = Mistake(
    "the mean change enters the momentum without the factor 1 − β₁",
    {FedAdam.entering: lambda self, right: 1.0},
)
BETA1_EXCHANGED = Mistake(
    "β₁ is 1 − β₁: the two are exchanged",
    {FedAdam.beta1: lambda self, right: 1 - right()},
)
BETA2_EXCHANGED = Mistake(
    "β₂ is 1 − β₂: the two are exchanged",
    {FedAdam.beta2: lambda self, right: 1 - right()},
)
V_ZERO = Mistake(
    "v starts at 0, where the paper asks for at least τ²",
    {FedAdam.first_v: lambda self, right: 0.0},
)
TAU_START = Mistake(
    "v starts at τ, not at τ²",
    {FedAdam.first_v: lambda self, right: self.tau()},
)
ONE_START = Mistake(
    "v starts at 1, not at τ²",
    {FedAdam.first_v: lambda self, right: 1.0},
)
SMALL_START = Mistake(
    "m and v start at 10⁻⁶, where m is the mean of w − y_k, as in optax's Yogi",
    {
        FedAdam.first_m: lambda self, right: -1e-6,
        FedAdam.first_v: lambda self, right: 1e-6,
    },
    only=FedYogi,
)
BIAS = Mistake(
    "m and v are divided by 1 − βᵗ (Adam's bias correction), which the paper leaves out",
    {
        FedAdam.corrected_m: lambda self, right: right() / (1 - self.beta1() ** (self.number + 1)),
        FedAdam.corrected_v: lambda self, right: right() / (1 - self.beta2() ** (self.number + 1)),
    },
)
BIAS_LATE = Mistake(
    "the step is multiplied by √(1 − β₂ᵗ⁺¹) / (1 − β₁ᵗ⁺¹), t = 1 in round 1; the paper "
    "leaves such a factor out",
    {FedAdam.factor: lambda self, right: _late_factor(self)},
)
INSIDE = Mistake(
    "τ stands under the root: √(v + τ)",
    {FedAdam.denominator: lambda self, right, v: np.sqrt(v + self.tau())},
)
SQUARE_INSIDE = Mistake(
    "τ² stands under the root: √(v + τ²)",
    {FedAdam.denominator: lambda self, right, v: np.sqrt(v + self.tau() ** 2)},
)
NO_TAU = Mistake(
    "τ is missing in the denominator",
    {FedAdam.denominator: lambda self, right, v: right(v) - self.tau()},
)
NO_ROOT = Mistake(
    "the root is missing in the denominator: v + τ",
    {FedAdam.denominator: lambda self, right, v: v + self.tau()},
)
NEW_V_LATE = Mistake(
    "the step is made with the v of the round before",
    {FedAdam.new_v: lambda self, right, square: _late_v(self, right(square))},
)
ADAM_V = Mistake(
    "v is Adam's",
    {FedYogi.new_v: lambda self, right, square: self.adam_v(square)},
)
YOGI_SIGN = Mistake(
    "the sign of Yogi's change of v is wrong",
    {FedYogi.sign: lambda self, right, difference: -right(difference)},
)


def _late_factor(self: FedAdam) -> float:
    t = self.number + 1
    return float((1 - self.beta2() ** (t + 1)) ** 0.5 / (1 - self.beta1() ** (t + 1)))


def _late_v(self: FedAdam, new: Vector) -> Vector:
    """The v that was formed in the round before."""
    late = self.next_v
    self.next_v = new
    return self.v if late is None else late


LOSS_AFTER = Mistake(
    "F_k is the loss of the trained model y_k, not of the w that was sent",
    {QFedAvg.value: lambda self, right, k, y: self.loss(k, y)},
)
LOSS_SUM = Mistake(
    "F_k is the sum of the batch losses of the last epoch, at the moving model, not the "
    "loss of the w that was sent",
    {QFedAvg.value: lambda self, right, k, y: _last_epoch(self, k)},
)
NO_SQUARE = Mistake(
    "h_k has ‖d_k‖ where ‖d_k‖² is due",
    {QFedAvg.curvature: lambda self, right, value, norm: right(value, norm**0.5)},
)
UNIT_L = Mistake(
    "L = 1 where L = 1/η is due",
    {QFedAvg.lipschitz: lambda self, right: 1.0},
)
NO_CURVATURE = Mistake(
    "h_k is L F_k^q alone: the term q F_k^(q−1) ‖d_k‖² is missing",
    {QFedAvg.curvature: lambda self, right, value, norm: 0.0},
)
WEIGHTED = Mistake(
    "n_k weights are taken where the clients count alike",
    {QFedAvg.weight_of: lambda self, right, k: self.task.sizes[k]},
)
NOT_Q = Mistake(
    "the power of F_k is 1, whatever q",
    {QFedAvg.q: lambda self, right: 1.0},
)
LINEAR_POWER = Mistake(
    "h_k has q F_k ‖d_k‖², where q F_k^(q−1) ‖d_k‖² is due",
    {QFedAvg.power: lambda self, right, value: value},
)
NO_Q = Mistake(
    "h_k has F_k^(q−1) ‖d_k‖²: the factor q is missing",
    {QFedAvg.curvature: lambda self, right, value, norm: right(value, norm) / self.q()},
)
ONLY_LAST = Mistake(
    "only the last client of the cohort counts",
    {QFedAvg.counted: lambda self, right: right()[-1:]},
)


def _last_epoch(self: QFedAvg, k: int) -> float:
    """The sum of the losses of the batches of the last epoch, each before its step."""
    batches = self.epoch(k)
    points = self.path[-len(batches) :]
    pairs = zip(points, batches, strict=False)  # fewer steps where another mistake leaves some out
    return sum(self.batch_loss(k, y, rows) for y, rows in pairs)
