"""The field of chapter 8 at three prices, and the competitor that it leaves out, on the digits.

100 clients, E = 5, B = 10, η = 0.05, MLP 64-200-10, with Dirichlet 0.3 or one label a client. Each method runs 50
rounds with K = 20. ``small`` is FedAvg with one client a round, for as many server updates as FedMas made under that
seed, and
``small_bytes`` the same for as many bytes. Both are evaluated after as many updates as FedMas makes in a round, so that
its 50 points stand beside the first 50 of theirs. Runs of one seed share partition and first weights, and those of the
methods that draw uniform cohorts share these too.

``end_accuracy``: the mean over the last five evaluated points, ``mean_accuracy`` over all. ``accuracy_at_updates``: the
last point within 50 server updates, ``accuracy_at_bytes``: within what FedAvg's 50 rounds send, to 1 %; the first
point where not even that fits. ``worst_decile``: accuracy of the final model on the data of the ten clients with the
lowest one, and ``gap``: how far that lies below the end accuracy.
"""

import json
from typing import Any

import pandas as pd

import fedlab_core as fl
from fedlab_core.reproduce import recipes
from fedlab_core.sweep import plan
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.runs import measured

ROUNDS, COHORT, POINTS = 50, 20, 5
WORK: dict[str, Any] = {"local_epochs": 5, "batch_size": 10, "lr": 0.05}
FEDERATIONS: dict[str, dict[str, Any]] = {
    "dirichlet_0.3": {"law": "dirichlet", "alpha": 0.3, "num_clients": 100},
    "one_label": {"law": "labels_per_client", "labels_per_client": 1, "num_clients": 100},
}
FIELD: dict[str, dict[str, Any]] = {
    "fedavg": {},
    "fedprox": {"mu": 0.2},
    "scaffold": {},
    "fedcurv": {"strength": 2.0},
    "fedsso": {},
    "tfedavg": {},
    "fedmas": {"strength": 0.01},
}


def run(seed: int, *, federation: str) -> list[Row]:
    """A row for each method on one federation."""
    fed = plan.dealt("digits", json.dumps(FEDERATIONS[federation]), seed)
    about = {"federation": federation, "seed": seed}
    found = {name: _run(fed, recipes.algorithm(name, own), seed, ROUNDS, COHORT) for name, own in FIELD.items()}
    budget = found["fedavg"][1].bytes.iloc[-1]
    rows = [about | {"method": name} | _row(kept, curve, budget) for name, (kept, curve) in found.items()]
    _, tiers = found["fedmas"]
    every = round(tiers.server_updates.iloc[0])  # the tiers: each makes one update a round
    one_round = budget / (ROUNDS * COHORT)
    longest = max(1, int(tiers.bytes.iloc[-1] / one_round) // every) * every
    small, curve = _run(fed, fl.FedAvg(), seed, longest, 1, eval_every=every)
    for name, part in (("small", curve.iloc[:ROUNDS]), ("small_bytes", curve)):
        rows.append(about | {"method": name} | _row(small if name == "small_bytes" else {}, part, budget))
    return rows


def _run(
    fed: fl.FederatedDataset, algorithm: fl.Algorithm, seed: int, rounds: int, cohort: int, **more: Any
) -> tuple[Row, pd.DataFrame]:
    settings = WORK | {"rounds": rounds, "clients_per_round": cohort, "seed": seed} | more
    return measured(fed, recipes.model("mlp", {}, fed, seed), algorithm, **settings)


def _row(kept: Row, curve: pd.DataFrame, budget: float) -> Row:
    """The measures of a curve; ``kept`` are those of its run, empty for a part of one."""
    accuracy = curve.test_accuracy.to_numpy()
    end, worst = float(accuracy[-POINTS:].mean()), kept.get("worst_decile")
    return {
        "end_accuracy": end,
        "mean_accuracy": float(accuracy.mean()),
        "accuracy_at_updates": _last(accuracy[curve.server_updates <= ROUNDS], accuracy),
        "accuracy_at_bytes": _last(accuracy[curve.bytes <= 1.01 * budget], accuracy),
        "worst_decile": worst,
        "gap": None if worst is None else end - worst,
        "server_updates": float(curve.server_updates.iloc[-1]),
        "bytes": float(curve.bytes.iloc[-1]),
    }


def _last(within: Any, every: Any) -> float:
    return float(within[-1] if len(within) else every[0])


PRICES = Experiment("c08_prices", run, [{"federation": name} for name in FEDERATIONS], tuple(range(10)))
