"""Chapter 10, on the digits by label skew: the constants of [004]'s theorems, and the rounds that a
loss takes.

"constants": softmax regression with ridge 1 and 20 clients; only the deal is random. ``gap``: Γ
= F* − Σ ρ_k F_k*. ``dissimilarity``: the least G of a (G, B)-dissimilarity, √(Σ ρ_k ‖∇F_k(w*)‖²).
``noise``: Σ ρ_k σ_k² of one sample at w*. ``smoothness``: an L that holds everywhere;
``curvature``: the largest λ_max(∇²F_k(w*)). ``gradient``: √ of the largest E‖∇F_k(w, ξ)‖² at w = 0
and at w*. ``best_steps``: E* of eq. (35) with all of these, for 4 of the 20 clients.

"local_work": 100 clients, 10 a round, over local epochs E. ``rounds``: the first round after
which the training loss is ``TARGET`` or less, ``ROUNDS`` + 1 if there is none; ``log2_rounds``: its
logarithm. Table "local_work_best": the E with the fewest rounds, the smallest of several, as
``log2_epochs``. The target was chosen in runs of seed 100, which is not among those kept: all of
these settings reach it.
"""

import math
from typing import Any

import fedlab_core as fl
from fedlab_course import theory
from fedlab_course.experiments.base import Experiment, ResultRow
from fedlab_course.experiments.measured_runs import deal
from fedlab_course.experiments.problems import RIDGE

SPLITS = ("iid", "two_labels", "one_label")
NUM_CLIENTS = 20
COHORT = 4
TARGET = 0.5
ROUNDS = 300
EPOCHS = (1, 2, 5, 10, 20, 40, 80, 160)
ALGORITHMS = {"fedavg": fl.FedAvg(), "fedsso": fl.FedSSO()}
SETTINGS: dict[str, Any] = {
    "clients_per_round": 10,
    "batch_size": 10,
    "lr": 0.05,
    "progress": False,
}


def constants(seed: int, *, split: str) -> list[ResultRow]:
    """One row: the constants of one deal."""
    constants_of_split = theory.SoftmaxRegression(deal(split, seed, NUM_CLIENTS), RIDGE).constants()
    given: dict[str, Any] = {
        name: constants_of_split[name] for name in ("gap", "noise", "smoothness", "gradient")
    }
    best = theory.Constants(**given, convexity=RIDGE).best_local_steps(NUM_CLIENTS, COHORT)
    return [constants_of_split | {"best_steps": best}]


def rounds_to_loss(
    fed: fl.FederatedDataset, algorithm: fl.Algorithm, local_epochs: int, seed: int
) -> int:
    """The first round with the loss ``TARGET``; one more than ``ROUNDS`` if there is none."""
    model = fl.models.mlp(fed, seed=seed)
    simulation = fl.Simulation(
        fed, model, algorithm, rounds=ROUNDS, local_epochs=local_epochs, seed=seed, **SETTINGS
    )
    return next((record.round for record in simulation if record.train_loss <= TARGET), ROUNDS + 1)


def local_work(seed: int, *, algorithm: str, split: str) -> list[ResultRow]:
    """One row for each number of local epochs."""
    rounds_needed = {
        epochs: rounds_to_loss(deal(split, seed), ALGORITHMS[algorithm], epochs, seed)
        for epochs in EPOCHS
    }
    best: ResultRow = {
        "table": "best",
        "log2_epochs": math.log2(min(EPOCHS, key=lambda epochs: rounds_needed[epochs])),
    }
    return [
        best,
        *(
            {"local_epochs": E, "rounds": n, "log2_rounds": math.log2(n)}
            for E, n in rounds_needed.items()
        ),
    ]


_CASES = [{"algorithm": algorithm, "split": split} for algorithm in ALGORITHMS for split in SPLITS]
CONSTANTS = Experiment("constants", constants, [{"split": split} for split in SPLITS])
LOCAL_WORK = Experiment("local_work", local_work, _CASES)
