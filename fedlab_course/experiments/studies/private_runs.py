"""Chapter 13: what client-level differential privacy costs.

FedAvg on the digits, two labels a client, where all 100 clients take part in 30 rounds of one epoch
at η = 0.1. Moves are clipped to κ = 0.3, and noise of σκ is added once, to their sum. "sigma=0" is
clipped, "FedAvg" is not.
"""

from typing import Any

import fedlab_core as fl
from fedlab_core.algorithms import Private
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, compared, deal, measured

CLIP = 0.3
NOISES = (0.0, 1.0, 5.0, 20.0)
EVERYBODY: dict[str, Any] = DIGITS | {
    "rounds": 30,
    "clients_per_round": 100,
    "local_epochs": 1,
    "lr": 0.1,
}


def run(seed: int, **settings: Any) -> list[ResultRow]:
    """A row and a curve for each noise, and for FedAvg without clipping."""
    fed = deal("two labels", seed)
    given = EVERYBODY | settings
    algorithms: dict[str, fl.Algorithm] = {"FedAvg": fl.FedAvg()}
    algorithms |= {f"sigma={noise:g}": Private(fl.FedAvg(), CLIP, noise) for noise in NOISES}
    runs = {
        name: measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **given, seed=seed)
        for name, algorithm in algorithms.items()
    }
    return compared(runs)


PRIVATE_RUNS = Experiment("private_runs", run, [{}], bands=("test_accuracy", "train_loss"))
