"""The pictures of learning rates, on the digits and on MNIST: end accuracy against η, for every
method.

A comparison is fair when each method has its best rate. "rates_digits" runs every configuration of
a method at each rate, in half-octaves, on seeds 100–102, which judge nothing. A fifth of the
training samples of each label is taken away before the split, and measured: the test images choose
no rate. "rated_digits" then runs the best configuration on seeds 200–219 with all training samples,
measured on the test images. The best is chosen three times: by the accuracy after all rounds
(``best_by`` "rounds"), after as many server updates as FedAvg has ("updates"), and for as many
bytes as FedAvg sends ("bytes"); the first of equals. "rates_mnist" and "rated_mnist" are smaller:
the methods of [002]'s table 1 and three others, octaves, two seeds that choose, and two splits.
"rated_further" has the methods of ``_FURTHER`` as "rated_digits" does, on twice the seeds: a
statement on them was undecided.

The digits: 100 clients, 20 a round, 50 rounds, batches of 10, an MLP of 200 units. MNIST: 100
clients, 10 a round, 30 rounds, batches of 10, an MLP of 64 units, as in "table1_mnist". A run that
diverges has the accuracy of chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from fedlab_course.methods.feddyn_halves import FedDynClients, FedDynServer
from fedlab_course.methods.one_client import OneClientAnUpdate
from fedlab_course.methods.random_groups import RandomGroups
from fedlab_course.methods.side_by_side import SideBySide

VALIDATION = 0.2  # of the training samples
CRITERIA = {
    "rounds": "end_accuracy",
    "updates": "accuracy_at_updates",
    "bytes": "accuracy_at_bytes",
}
CHOOSING = ("parameter", *CRITERIA.values(), "mean_accuracy", "diverged")
MEASURES = (*CRITERIA.values(), "mean_accuracy", "drift", "bytes", "server_updates", "diverged")


@lru_cache(maxsize=4)
def validated(dataset: str, seed: int) -> Dataset:
    """A data set with ``VALIDATION`` of the training samples of each label in place of the test
    images.
    """
    return held_out(load(dataset), seed, VALIDATION)


@dataclass(frozen=True)
class RatePicture:
    """What is run for one data set, in the tables "rates_…" (which chooses) and "rated_…".

    ``methods``: method → its configurations beside the rate; where there are several, the best of
    all pairs of configuration and rate is chosen. ``splits`` and ``epochs`` are in the order in
    which they are run. ``hidden``: the units of the MLP. ``work``: the other settings of a run.
    """

    dataset: str
    methods: Mapping[str, Sequence[fl.Algorithm]]
    rates: Sequence[float]
    splits: Sequence[str]
    epochs: Sequence[int]
    hidden: Sequence[int]
    work: Mapping[str, Any]

    @property
    def each(self) -> int:
        """The runs of a configuration in a setting: rates × seeds."""
        return len(self.rates) * len(configs.seeds(f"rates_{self.dataset}"))

    def run(
        self, seed: int, *, partition: str, epochs: int, method: str, configuration: int
    ) -> list[ResultRow]:
        """A row for each rate, measured on validation samples."""
        fed = divided(validated(self.dataset, seed), partition, seed)
        rows = []
        for lr in self.rates:
            found = self._measured(fed, seed, epochs, method, configuration, lr)
            rows.append({"lr": lr} | {name: found[name] for name in CHOOSING})
        return rows

    def judge(
        self,
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
        fed = divided(load(self.dataset), partition, seed)
        found = self._measured(fed, seed, epochs, method, configuration, lr)
        return [{"best_by": criterion} | found for criterion in best_by]

    def _measured(
        self,
        fed: fl.FederatedDataset,
        seed: int,
        epochs: int,
        method: str,
        configuration: int,
        lr: float,
    ) -> ResultRow:
        algorithm = self.methods[method][configuration]
        work = {**self.work, "local_epochs": epochs, "lr": lr, "seed": seed, "train_loss": False}
        found, _ = measured(fed, fl.models.mlp(fed, self.hidden, seed=seed), algorithm, **work)
        parameters = vars(algorithm)
        strength = parameters.get("strength", parameters.get("mu"))
        return {"parameter": strength} | {measure: found[measure] for measure in MEASURES}

    def chosen(self, earlier: Tables) -> Sequence[ExperimentCase]:
        """The best configuration and rate of each method, by each criterion, in each setting in
        which all its runs are there.
        """
        table = earlier[f"rates_{self.dataset}"]
        setting = ["partition", "epochs", "method"]
        wanted = {name: len(those) * self.each for name, those in self.methods.items()}
        complete = table.groupby(setting)["seed"].transform("size") == table["method"].map(wanted)
        runs = table[complete].groupby([*setting, "configuration", "lr"], sort=False)
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

    def grid(self) -> list[ExperimentCase]:
        """Every configuration of every method in every setting."""
        cases: list[ExperimentCase] = []
        for epochs, method, partition in product(self.epochs, self.methods, self.splits):
            about = {"partition": partition, "epochs": epochs, "method": method}
            numbers = range(len(self.methods[method]))
            cases += [about | {"configuration": configuration} for configuration in numbers]
        return cases


def _plain(values: Sequence[Any]) -> list[Any]:
    return [value.item() if isinstance(value, np.generic) else value for value in values]


ON_DIGITS = RatePicture(
    dataset="digits",
    methods={
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
        "random groups": [RandomGroups()],
        # only with two labels a client and five epochs, for chapter 8
        "FedDyn server's half": [FedDynServer()],
        "FedDyn clients' half": [FedDynClients(mu) for mu in (0.01, 0.1)],
        "FedAvgM 0.5": [fl.algorithms.FedAvgM(0.5)],  # the course's Mine
        # only with one label a client and five epochs, for chapter 5: by rounds the weakest λ of
        # the grid above was the best one
        "FedMas implicit 0.001": [fl.FedMas(0.001, penalty_step="implicit")],
        "tiers side by side": [SideBySide()],  # a control of TFedAvg
        "FedMas added up": [
            fl.FedMas(strength, penalty_step="implicit", importance_update="accumulate")
            for strength in (0.0001, 0.001, 0.01, 0.1, 1.0)
        ],
    },
    rates=tuple(float(f"{0.1 * 2 ** (half / 2):.4g}") for half in range(-7, 10)),  # 0.0088 to 2.26
    # most claims are about the first ones
    splits=("one_label", "dirichlet_0.3", "two_labels", "dirichlet_0.1", "iid"),
    epochs=(5, 1, 20),
    hidden=(200,),
    work=DIGITS,
)
ON_MNIST = RatePicture(
    dataset="mnist",
    methods={
        "FedAvg": [fl.FedAvg()],
        "FedProx 0.2": [fl.FedProx(mu=0.2)],
        "SCAFFOLD": [fl.Scaffold()],
        "FedSSO": [fl.FedSSO()],
        "TFedAvg": [fl.algorithms.TFedAvg()],
        "FedCurv": [fl.FedCurv(2.0, penalty_step="implicit")],
        "one client an update": [OneClientAnUpdate()],
        "FedMas implicit": [
            fl.FedMas(strength, penalty_step="implicit") for strength in (0.001, 0.01, 0.1)
        ],
    },
    rates=tuple(float(f"{0.1 * 2.0**octave:.4g}") for octave in range(-11, 4)),  # 5e-5 to 0.8
    splits=("dirichlet_0.3", "one_label"),
    epochs=(5,),
    hidden=(64,),
    work={"rounds": 30, "clients_per_round": 10, "batch_size": 10},
)
_FURTHER = {  # split → the methods that are compared, with five local epochs
    "one_label": ("one client an update", "TFedAvg"),
    "dirichlet_0.3": ("FedMas added up", "SCAFFOLD"),
}


def _further(earlier: Tables) -> Sequence[ExperimentCase]:
    return [
        case
        for case in ON_DIGITS.chosen(earlier)
        if case["epochs"] == 5 and case["method"] in _FURTHER.get(case["partition"], ())
    ]


RATES_DIGITS = Experiment("rates_digits", ON_DIGITS.run, ON_DIGITS.grid(), grows=True)
RATED_DIGITS = Experiment(
    "rated_digits", ON_DIGITS.judge, ON_DIGITS.chosen, after="rates_digits", grows=True
)
RATED_FURTHER = Experiment("rated_further", ON_DIGITS.judge, _further, after="rates_digits")
RATES_MNIST = Experiment("rates_mnist", ON_MNIST.run, ON_MNIST.grid(), grows=True)
RATED_MNIST = Experiment(
    "rated_mnist", ON_MNIST.judge, ON_MNIST.chosen, after="rates_mnist", grows=True
)
