"""Chapter 5: FedAvg with as much training as tiers, and with as many server updates; digits, one
label a client.

"few_rounds" has as many rounds as tiers make within fifty updates, so about the same training.
"many_rounds" has as many rounds as tiers make updates in fifty rounds. "…_rates" runs each rate on
seeds 100–102, measured on validation samples, as in "tiers_pairs"; then the best rate runs on seeds
200–219, measured on the test images. Accuracy is the mean over the last tenth of the rounds.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import DIGITS, deal, divided, measured
from fedlab_course.experiments.studies.learning_rates import ON_DIGITS, validated
from fedlab_course.experiments.studies.tiers_early import SPLIT, UPDATES
from fedlab_course.methods import forgotten

RULES: dict[str, fl.Algorithm] = {"FedAvg": fl.FedAvg()}


def few(tiers: int) -> int:
    """The whole rounds of ``tiers`` tiers within ``UPDATES`` updates."""
    return UPDATES // tiers


def many(tiers: int) -> int:
    """The server updates of all rounds of ``tiers`` tiers."""
    return int(DIGITS["rounds"]) * tiers


def choose(seed: int, *, method: str, rounds_of: Callable[[int], int]) -> list[ResultRow]:
    """A row for each rate, measured on validation samples."""
    fed = divided(validated("digits", seed), SPLIT, seed)
    return [{"lr": lr} | _ended(fed, method, lr, seed, rounds_of) for lr in ON_DIGITS.rates]


def judge(seed: int, *, method: str, lr: float, rounds_of: Callable[[int], int]) -> list[ResultRow]:
    """The run at one rate, measured on the test images."""
    return [_ended(deal(SPLIT, seed), method, lr, seed, rounds_of)]


def _ended(
    fed: fl.FederatedDataset, method: str, lr: float, seed: int, rounds_of: Callable[[int], int]
) -> ResultRow:
    """The rounds for the tiers that FedMas would find, and the accuracy after them."""
    model = fl.models.mlp(fed, seed=seed)
    rounds = rounds_of(len(np.unique(forgotten.found(fed, model, seed))))
    work = DIGITS | {"rounds": rounds, "lr": lr, "seed": seed, "train_loss": False}
    row, _ = measured(fed, model, RULES[method], **work)
    return {"rounds": rounds, "accuracy": row["end_accuracy"], "diverged": row["diverged"]}


def chosen(earlier: Tables, table: str) -> list[ExperimentCase]:
    """Each method at the rate with the highest mean accuracy in ``table``; the first of equals."""
    means = earlier[table].groupby(["method", "lr"], sort=False)["accuracy"].mean()
    best = means.groupby(level="method", sort=False).idxmax()
    return [{"method": method, "lr": float(lr)} for method, lr in best]


def _pair(name: str, rounds_of: Callable[[int], int]) -> tuple[Experiment, Experiment]:
    """The experiment that chooses rates, and the one that judges."""
    rates = f"{name}_rates"
    cases = [{"method": method} for method in RULES]
    first = Experiment(rates, partial(choose, rounds_of=rounds_of), cases)
    best = partial(chosen, table=rates)
    return first, Experiment(name, partial(judge, rounds_of=rounds_of), best, after=rates)


FEW_ROUNDS_RATES, FEW_ROUNDS = _pair("few_rounds", few)
MANY_ROUNDS_RATES, MANY_ROUNDS = _pair("many_rounds", many)
