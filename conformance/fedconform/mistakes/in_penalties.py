"""The known mistakes in FedCurv, in FedMas, and in the importance of Memory Aware Synapses."""

import numpy as np

from fedconform.formulas.penalties import FedCurv, FedMas, Importance, Measuring, Penalty
from fedconform.mistakes.replacing import Mistake

NO_PENALTY = Mistake(
    "the penalty never reaches a local step",
    {Penalty.factor: lambda self, right: 0.0},
)
HALF = Mistake(
    "the gradient of the penalty has λ, where 2λ is due",
    {Penalty.factor: lambda self, right: right() / 2},
)
SIGN = Mistake(
    "the penalty has the wrong sign",
    {Penalty.factor: lambda self, right: -right()},
)
IMPLICIT = Mistake(
    "this is the implicit step: the penalty is taken at the new y",
    {Penalty.is_implicit: lambda self, right: True},
)
EXPLICIT = Mistake(
    "this is the explicit step: the penalty is taken at the old y",
    {Penalty.is_implicit: lambda self, right: False},
)
HALF_DENOMINATOR = Mistake(
    "the denominator of the implicit step is 1 + ηλΩ: the 2 is missing",
    {Penalty.denominator: lambda self, right: (1 + right()) / 2},
)
NO_DENOMINATOR = Mistake(
    "the implicit step is not divided by 1 + 2ηλΩ",
    {Penalty.denominator: lambda self, right: np.ones_like(self.a)},
)
HALF_ANCHOR = Mistake(
    "the anchor term of the implicit step is ηλΩ ⊙ r: the 2 is missing",
    {Penalty.anchor_term: lambda self, right: right() / 2},
)
ANCHOR_WITHOUT_RATE = Mistake(
    "the anchor term of the implicit step is 2λΩ ⊙ r: η is missing",
    {Penalty.anchor_term: lambda self, right: right() / self.rate()},
)
AFTER_DIVISION = Mistake(
    "the anchor term 2ηλΩ ⊙ r of the implicit step is added after the division",
    {Penalty.solved: lambda self, right, moved: moved / self.denominator() + self.anchor_term()},
)
BOTH_STEPS = Mistake(
    "the penalty is taken twice: in the gradient at y, and in the implicit step",
    {Penalty.added: lambda self, right, k, y: self.a * y - self.t},
)
OF_STEP: dict[str, tuple[Mistake, ...]] = {
    "explicit": (IMPLICIT,),
    "implicit": (
        EXPLICIT,
        HALF_DENOMINATOR,
        NO_DENOMINATOR,
        HALF_ANCHOR,
        ANCHOR_WITHOUT_RATE,
        AFTER_DIVISION,
        BOTH_STEPS,
    ),
}

OWN_KEPT = Mistake(
    "a client's own share of the penalty is not subtracted",
    {FedCurv.is_subtracted: lambda self, right, k: False},
)
STALE = Mistake(
    "a client subtracts its own share of an earlier round although it was absent from the last one",
    {FedCurv.is_subtracted: lambda self, right, k: True},
)
SQUARED_MEAN = Mistake(
    "the Fisher diagonal is the square of the mean gradient, not the mean of the squares",
    {FedCurv.moment: lambda self, right, samples: samples.mean(0) ** 2},
)
AT_W = Mistake(
    "the Fisher diagonal is taken at w, not at the trained θ_j",
    {FedCurv.point: lambda self, right, y: self.w},
)
AVERAGED = Mistake(
    "the penalty is averaged over the cohort, not summed",
    {FedCurv.of_others: lambda self, right, rows, k: right(rows, k) / max(self.is_last.sum(), 1)},
)

OLD_ANCHOR = Mistake(
    "the penalty is tied to the model before round 1, not to the one that the tier receives",
    {FedMas.anchor: lambda self, right: self.task.start},
)
ROUND_ANCHOR = Mistake(
    "the penalty is tied to the model at the start of the round, not to that of the tier",
    {FedMas.anchor: lambda self, right: self.of_round},
)
TO_ZERO = Mistake(
    "the penalty is tied to zero, not to the model that the tier receives",
    {FedMas.anchor: lambda self, right: 0 * right()},
)
NO_IMPORTANCE = Mistake(
    "Ω is missing: the penalty is λ ‖y − w‖²",
    {FedMas.renewed: lambda self, right, measured: np.ones_like(measured)},
)
FIRST_ROUND = Mistake(
    "there is no penalty in the whole first round, not in the first tier alone",
    {FedMas.weight: lambda self, right, k: right(k) * (self.number >= self.tiers)},
)
ACCUMULATED = Mistake(
    "each Ω is added to those before, not put in their place",
    {FedMas.renewed: lambda self, right, measured: self.omega + right(measured)},
)
AT_RECEIVED = Mistake(
    "Ω is measured at the model that the tier received, not at its aggregate",
    {FedMas.point: lambda self, right, received: received},
)

OF_LOGITS = Mistake(
    "Ω is that of the logits, where that of their softmax is due",
    {Measuring.output: lambda self, right: "logits"},
)
OF_SOFTMAX = Mistake(
    "Ω is that of the softmax, where that of the logits is due",
    {Measuring.output: lambda self, right: "softmax"},
)
OF_BATCH = Mistake(
    "the absolute value is taken of the mean gradient, not of each sample's",
    {Measuring.sample_mean: lambda self, right, samples: np.abs(samples.mean(0))},
)
SIGNED = Mistake(
    "the gradients keep their signs, so that samples cancel",
    {Measuring.sample_mean: lambda self, right, samples: samples.mean(0)},
)
SQUARED = Mistake(
    "the gradients are squared, where the absolute value is due",
    {Measuring.sample_mean: lambda self, right, samples: (samples**2).mean(0)},
)
NOT_SQUARED = Mistake(
    "the norm ‖f(x)‖ is not squared",
    {
        Measuring.of_logits: lambda self, right, logits: (
            right(logits) / 2 / np.linalg.norm(self.outputs(logits), axis=1, keepdims=True)
        )
    },
)
HALVED = Mistake(
    "the gradient is that of ½ ‖f(x)‖²",
    {Measuring.of_logits: lambda self, right, logits: right(logits) / 2},
    only=Importance,
)
