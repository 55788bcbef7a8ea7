"""The picture of learning rates, on the digits: end accuracy against η, for every method.

A comparison is fair when each method has its best rate. "rates_digits" runs every configuration of
a method at each rate, in half-octaves, on seeds 100–102, which judge nothing. A fifth of the
training samples of each label is taken away before the split, and measured: the test images choose
no rate. "rated_digits" then runs the best configuration on seeds 200–219 with all training samples,
measured on the test images. The best is chosen three times: by the accuracy after all rounds
(``best_by`` "rounds"), after as many server updates as FedAvg has ("updates"), and for as many
bytes as FedAvg sends ("bytes"); the first of equals.

100 clients, 20 a round, 50 rounds, batches of 10, an MLP of 200 units. A run that diverges has the
accuracy of chance.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset
from fedlab_course.comparison import held_out
from fedlab_course.evidence import configs
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import DIGITS, divided, load, measured
from fedlab_course.methods.one_client import OneClientAnUpdate

RATES = tuple(float(f"{0.1 * 2 ** (half / 2):.4g}") for half in range(-7, 10))  # 0.0088 to 2.26
VALIDATION = 0.2  # of the training samples
# In the order in which they are run: most claims are about the first ones.
SPLITS = ("one_label", "dirichlet_0.3", "two_labels", "dirichlet_0.1", "iid")
EPOCHS = (5, 1, 20)
CRITERIA = {
    "rounds": "end_accuracy",
    "updates": "accuracy_at_updates",
    "bytes": "accuracy_at_bytes",
}
CHOOSING = ("parameter", *CRITERIA.values(), "mean_accuracy", "diverged")
MEASURES = (*CRITERIA.values(), "mean_accuracy", "drift", "bytes", "server_updates", "diverged")

# Method → its configurations beside the rate. Where there are several, the best of all pairs of
# configuration and rate is chosen.
METHODS: dict[str, Sequence[fl.Algorithm]] = {
    "FedAvg": [fl.FedAvg()],
    "FedProx 0.01": [fl.FedProx(mu=0.01)],
    "FedProx 0.1": [fl.FedProx(mu=0.1)],
    "FedProx 1": [fl.FedProx(mu=1.0)],
    "SCAFFOLD": [fl.Scaffold()],
    "SCAFFOLD cohort": [fl.Scaffold(control_update="cohort")],
    "FedNova": [fl.FedNova()],
    "FedSSO": [fl.FedSSO()],
    "TFedAvg": [fl.algorithms.TFedAvg()],
    "FedCurv": [fl.FedCurv(strength, penalty_step="implicit") for strength in (0.5, 2.0)],
    "FedAvgM": [fl.algorithms.FedAvgM()],
    "FedDyn": [fl.algorithms.FedDyn(mu) for mu in (0.01, 0.1)],
    "one client an update": [OneClientAnUpdate()],
    "FedMas explicit": [fl.FedMas(strength) for strength in (0.001, 0.01)],
    "FedMas implicit": [
        fl.FedMas(strength, penalty_step="implicit") for strength in (0.01, 0.1, 1.0)
    ],
    "FedMas softmax": [
        fl.FedMas(strength, penalty_step="implicit", output="softmax")
        for strength in (10.0, 100.0, 1000.0)
    ],
}
EACH = len(RATES) * len(configs.seeds("rates_digits"))  # runs of a configuration in a setting


@lru_cache(maxsize=4)
def validated(seed: int) -> Dataset:
    """The digits with ``VALIDATION`` of the training samples of each label in place of the test
    images.
    """
    return held_out(load("digits"), seed, VALIDATION)


def run(
    seed: int, *, partition: str, epochs: int, method: str, configuration: int
) -> list[ResultRow]:
    """A row for each rate, measured on validation samples."""
    fed = divided(validated(seed), partition, seed)
    rows = []
    for lr in RATES:
        found = _measured(fed, seed, epochs, method, configuration, lr)
        rows.append({"lr": lr} | {name: found[name] for name in CHOOSING})
    return rows


def judge(
    seed: int,
    *,
    partition: str,
    epochs: int,
    method: str,
    configuration: int,
    lr: float,
    best_by: Sequence[str],
) -> list[ResultRow]:
    """A row for each criterion that chose this configuration, measured on test images."""
    fed = divided(load("digits"), partition, seed)
    found = _measured(fed, seed, epochs, method, configuration, lr)
    return [{"best_by": criterion} | found for criterion in best_by]


def _measured(
    fed: fl.FederatedDataset, seed: int, epochs: int, method: str, configuration: int, lr: float
) -> ResultRow:
    algorithm = METHODS[method][configuration]
    work = DIGITS | {"local_epochs": epochs, "lr": lr, "seed": seed, "train_loss": False}
    found, _ = measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **work)
    parameters = vars(algorithm)
    strength = parameters.get("strength", parameters.get("mu"))
    return {"parameter": strength} | {measure: found[measure] for measure in MEASURES}


def chosen(earlier: Tables) -> Sequence[ExperimentCase]:
    """The best configuration and rate of each method, by each criterion, in each setting in which
    all its runs are there.
    """
    table = earlier["rates_digits"]
    setting = ["partition", "epochs", "method"]
    wanted = table["method"].map({name: len(those) * EACH for name, those in METHODS.items()})
    table = table[table.groupby(setting)["seed"].transform("size") == wanted]
    runs = table.groupby([*setting, "configuration", "lr"], sort=False)
    means = runs[list(CRITERIA.values())].mean()
    best_by: dict[tuple[Any, ...], list[str]] = {}
    for criterion, measure in CRITERIA.items():
        best = means[measure].groupby(level=setting, sort=False).idxmax()
        for found in best:
            best_by.setdefault(found, []).append(criterion)
    names = [*setting, "configuration", "lr"]
    return [
        dict(zip(names, _plain(found), strict=True)) | {"best_by": criteria}
        for found, criteria in best_by.items()
    ]


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def _grid() -> list[ExperimentCase]:
    cases: list[ExperimentCase] = []
    for epochs, (method, those), partition in product(EPOCHS, METHODS.items(), SPLITS):
        about = {"partition": partition, "epochs": epochs, "method": method}
        cases += [about | {"configuration": configuration} for configuration in range(len(those))]
    return cases


RATES_DIGITS = Experiment("rates_digits", run, _grid(), grows=True)
RATED_DIGITS = Experiment("rated_digits", judge, chosen, after="rates_digits", grows=True)
