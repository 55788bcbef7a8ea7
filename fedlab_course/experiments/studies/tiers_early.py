"""Chapter 5: penalties within fifty server updates, on tiers and on random groups; digits, one
label a client.

"tiers_pairs" runs 70 pairs of λ and η for each penalty on seeds 100–102, measured on validation
samples, as in "rates_digits". "tiers_early" runs the best pair of each on seeds 200–219, measured
on the test images. Accuracy is that of the last whole round.
"""

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import DIGITS, deal, divided, measured
from fedlab_course.experiments.studies.learning_rates import validated
from fedlab_course.methods import forgotten, penalties

SPLIT = "one_label"
UPDATES = 50
RULES: dict[str, Callable[[float], fl.FedMas]] = {
    "FedMas": partial(fl.FedMas, penalty_step="implicit"),
    "plain penalty": partial(penalties.PlainPenalty, penalty_step="implicit"),
    "Ω, shuffled": partial(penalties.ShuffledPenalty, penalty_step="implicit"),
    "random groups, Ω": partial(penalties.PenaltyOnRandomGroups, penalty_step="implicit"),
    "Ω, first model": partial(penalties.PenaltyAtFirstModel, penalty_step="implicit"),
    "FedMas explicit": partial(fl.FedMas, penalty_step="explicit"),
    "FedMas, Ω added up": partial(
        fl.FedMas, penalty_step="implicit", importance_update="accumulate"
    ),
    "Ω added up, shuffled": partial(
        penalties.ShuffledPenalty, penalty_step="implicit", importance_update="accumulate"
    ),
    "Ω added up, even in each tensor": partial(
        penalties.EvenPenalty, penalty_step="implicit", importance_update="accumulate"
    ),
    "random groups, Ω added up": partial(
        penalties.PenaltyOnRandomGroups, penalty_step="implicit", importance_update="accumulate"
    ),
    "FedMas, Ω averaged": partial(fl.FedMas, penalty_step="implicit", importance_update="ema"),
}
STRENGTHS = (0.001, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# 1.13 and 1.6 were added when two penalties were best at 0.8
RATES = (0.025, 0.05, 0.07071, 0.1, 0.2, 0.2828, 0.4, 0.8, 1.131, 1.6)


def choose(seed: int, *, method: str) -> list[ResultRow]:
    """A row for each pair of λ and η, measured on validation samples."""
    fed = divided(validated("digits", seed), SPLIT, seed)
    return [
        {"strength": strength, "lr": lr} | _ended(fed, method, strength, lr, seed)
        for strength, lr in product(STRENGTHS, RATES)
    ]


def judge(seed: int, *, method: str, strength: float, lr: float) -> list[ResultRow]:
    """The run of one pair, measured on the test images."""
    return [_ended(deal(SPLIT, seed), method, strength, lr, seed)]


def _ended(
    fed: fl.FederatedDataset, method: str, strength: float, lr: float, seed: int
) -> ResultRow:
    """What the penalty ends with, as :func:`after_tiers`."""
    row = after_tiers(fed, RULES[method](strength), whole, lr=lr, seed=seed)
    del row["rounds"]
    return row


def whole(tiers: int) -> int:
    """The whole rounds of ``tiers`` tiers within ``UPDATES`` updates."""
    return UPDATES // tiers


def after_tiers(
    fed: fl.FederatedDataset,
    rule: fl.Algorithm,
    rounds_of: Callable[[int], int],
    *,
    seed: int,
    **own: Any,
) -> ResultRow:
    """The ``rounds_of`` the number of tiers that FedMas would find, and the accuracy of ``rule``
    after them; ``own``: its rate and settings.
    """
    model = fl.models.mlp(fed, seed=seed)
    rounds = rounds_of(len(np.unique(forgotten.found(fed, model, seed))))
    work: dict[str, Any] = DIGITS | {"rounds": rounds, "seed": seed, "train_loss": False} | own
    row, _ = measured(fed, model, rule, **work)
    return {"rounds": rounds, "accuracy": row["end_accuracy"], "diverged": row["diverged"]}


def chosen(earlier: Tables) -> list[ExperimentCase]:
    """Each method at the pair with the highest mean accuracy; the first of equals."""
    table = earlier["tiers_pairs"].groupby(["method", "strength", "lr"], sort=False)
    means = table["accuracy"].mean()
    best = means.groupby(level="method", sort=False).idxmax()
    return [{"method": method, "strength": float(s), "lr": float(lr)} for method, s, lr in best]


TIERS_PAIRS = Experiment("tiers_pairs", choose, [{"method": name} for name in RULES])
TIERS_EARLY = Experiment("tiers_early", judge, chosen, after="tiers_pairs")
