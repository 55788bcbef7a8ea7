"""The field of chapter 6 at three prices, and the competitor that it leaves out, on the digits.

100 clients with Dirichlet 0.3 or one label a client; each method runs 50 rounds with K = 20.
``small`` is FedAvg with one client a round, for as many server updates as FedMas made under that
seed, and ``small_bytes`` for as many bytes. Both are evaluated after as many updates as FedMas
makes in a round.

``accuracy_at_updates``: the last point within 50 server updates, ``accuracy_at_bytes``: within what
FedAvg's 50 rounds send, to 1 %; the first point where not even that fits. ``gap``: how far
``worst_decile``, the accuracy of the final model on the data of the ten worst-served clients, lies
below the end accuracy.
"""

from typing import Any

import pandas as pd

import fedlab_core as fl
from fedlab_core.reproduce import recipes
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, deal, measured
from fedlab_course.experiments.measures import within

ROUNDS = 50
COHORT = 20
POINTS = 5
FIELD: dict[str, dict[str, Any]] = {
    "fedavg": {},
    "fedprox": {"mu": 0.2},
    "scaffold": {},
    "fedcurv": {"strength": 2.0},
    "fedsso": {},
    "tfedavg": {},
    "fedmas": {"strength": 0.01},
}


def run(seed: int, *, federation: str) -> list[ResultRow]:
    """A row for each method on one federation."""
    fed = deal(federation, seed)
    work = DIGITS | {"rounds": ROUNDS, "clients_per_round": COHORT, "seed": seed}
    runs = {
        name: measured(fed, fl.models.mlp(fed, seed=seed), recipes.algorithm(name, own), **work)
        for name, own in FIELD.items()
    }
    budget = runs["fedavg"][1].bytes.iloc[-1]
    tiers = runs["fedmas"][1]
    every = round(tiers.server_updates.iloc[0])  # the tiers: each makes one update a round
    longest = max(1, int(tiers.bytes.iloc[-1] * ROUNDS * COHORT / budget) // every) * every
    work |= {"rounds": longest, "clients_per_round": 1, "eval_every": every}
    small, curve = measured(fed, fl.models.mlp(fed, seed=seed), fl.FedAvg(), **work)
    runs |= {"small": ({"worst_decile": None}, curve.iloc[:ROUNDS]), "small_bytes": (small, curve)}
    return [
        {"method": name} | prices(kept["worst_decile"], curve, budget)
        for name, (kept, curve) in runs.items()
    ]


def prices(worst: float | None, curve: pd.DataFrame, budget: float) -> ResultRow:
    """The measures of a curve; ``worst``: the accuracy of its final model on the worst-served
    tenth, if known.
    """
    accuracy = curve.test_accuracy.to_numpy()
    end = float(accuracy[-POINTS:].mean())
    return {
        "end_accuracy": end,
        "mean_accuracy": float(accuracy.mean()),
        "accuracy_at_updates": within(accuracy, curve.server_updates <= ROUNDS),
        "accuracy_at_bytes": within(accuracy, curve.bytes <= 1.01 * budget),
        "worst_decile": worst,
        "gap": None if worst is None else end - worst,
        "server_updates": float(curve.server_updates.iloc[-1]),
        "bytes": float(curve.bytes.iloc[-1]),
    }


PRICES = Experiment(
    "prices", run, [{"federation": name} for name in ("dirichlet_0.3", "one_label")]
)
