"""Chapter 5: FedAvg for as many rounds as tiers make within fifty server updates, so with about as
much training; digits, one label a client.

"few_rounds_rates" runs each rate on seeds 100–102, measured on validation samples, as in
"tiers_pairs". "few_rounds" runs the best rate on seeds 200–219, measured on the test images.
Accuracy is that of the last round.
"""

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import deal, divided
from fedlab_course.experiments.studies.learning_rates import ON_DIGITS, validated
from fedlab_course.experiments.studies.tiers_early import SPLIT, after_tiers

RULES: dict[str, fl.Algorithm] = {"FedAvg": fl.FedAvg()}


def choose(seed: int, *, method: str) -> list[ResultRow]:
    """A row for each rate, measured on validation samples."""
    fed = divided(validated("digits", seed), SPLIT, seed)
    return [{"lr": lr} | _ended(fed, method, lr, seed) for lr in ON_DIGITS.rates]


def judge(seed: int, *, method: str, lr: float) -> list[ResultRow]:
    """The run at one rate, measured on the test images."""
    return [_ended(deal(SPLIT, seed), method, lr, seed)]


def _ended(fed: fl.FederatedDataset, method: str, lr: float, seed: int) -> ResultRow:
    """The rounds that tiers make within fifty updates, and the accuracy after as many."""
    rounds, row = after_tiers(fed, RULES[method], lr, seed)
    return {"rounds": rounds} | row


def chosen(earlier: Tables) -> list[ExperimentCase]:
    """Each method at the rate with the highest mean accuracy; the first of equals."""
    means = earlier["few_rounds_rates"].groupby(["method", "lr"], sort=False)["accuracy"].mean()
    best = means.groupby(level="method", sort=False).idxmax()
    return [{"method": method, "lr": float(lr)} for method, lr in best]


FEW_ROUNDS_RATES = Experiment("few_rounds_rates", choose, [{"method": name} for name in RULES])
FEW_ROUNDS = Experiment("few_rounds", judge, chosen, after="few_rounds_rates")
