"""Chapter 3: SCAFFOLD whose controls start right, on the digits with two labels a client.

The settings of the table ``scaffold_control``: 100 clients, 2 or 20 a round, 100 rounds. "zero":
c_k = 0 at the start, as in the paper's algorithm. "gradients": c_k = ∇F_k(w_0) and c their mean,
which costs one pass of every client over its data, and its gradient sent up; these bytes are not
counted.
"""

from typing import Any

import fedlab_core as fl
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import DIGITS, compared, deal, measured
from fedlab_course.experiments.studies.scaffold_figure_3 import ScaffoldFromGradients

STARTS: dict[str, fl.Algorithm] = {
    "FedAvg": fl.FedAvg(),
    "zero": fl.Scaffold(),
    "gradients": ScaffoldFromGradients(),
}
ROUNDS = 100


def run(seed: int, *, clients_per_round: int, **settings: Any) -> list[ResultRow]:
    """A row and a curve for FedAvg and for each start of SCAFFOLD."""
    fed = deal("two labels", seed)
    given = DIGITS | {"rounds": ROUNDS, "clients_per_round": clients_per_round} | settings
    runs = {
        name: measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **given, seed=seed)
        for name, algorithm in STARTS.items()
    }
    return compared(runs)


SCAFFOLD_STARTS = Experiment(
    "scaffold_starts",
    run,
    [{"clients_per_round": few} for few in (2, 20)],
    bands=("test_accuracy", "train_loss"),
)
