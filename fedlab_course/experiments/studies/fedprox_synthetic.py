"""The synthetic federations of the FedProx paper (Li et al. 2020, figures 1 and 2).

30 devices, 10 a round, E = 20, B = 10, η = 0.01, softmax regression, 200 rounds; IID data, and
synthetic(0, 0), (0.5, 0.5) and (1, 1) as the authors' generator has them (its 0.5 is a standard
deviation, the variance 0.25). FedAvg that drops stragglers ("drop"), FedProx with μ = 0 that keeps
their partial work ("keep"), with the best μ of {0.001, 0.01, 0.1, 0.5, 1} ("best"), and with μ = 1
("one"). As in the paper, each federation is one fixed draw, that of seed 0; seeds change cohorts,
batches and stragglers. The best μ has the lowest mean end_loss over seeds 100–102
("fedprox_tuning"), where the paper tunes by the result itself. Only synthetic(1, 1) has stragglers
and a tuned μ.
"""

from collections.abc import Mapping
from typing import Any

import fedlab_core as fl
from fedlab_core.data.synthetic import synthetic
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import compared, measured
from fedlab_course.experiments.studies.partial_work import FedAvgDropping

VARIANCES = {"synthetic(0,0)": 0.0, "synthetic(0.5,0.5)": 0.25, "synthetic(1,1)": 1.0}
MUS = (0.001, 0.01, 0.1, 0.5, 1.0)
SETTINGS: dict[str, Any] = {
    "rounds": 200,
    "clients_per_round": 10,
    "local_epochs": 20,
    "batch_size": 10,
    "lr": 0.01,
    "eval_every": 4,
}


def federation(data: str) -> fl.FederatedDataset:
    """The 30 devices of one of the paper's four federations."""
    law = {"iid": True} if data == "iid" else {"alpha": VARIANCES[data], "beta": VARIANCES[data]}
    dataset = synthetic(**law, seed=0)
    assert dataset.users is not None  # these data always have them
    return fl.FederatedDataset(dataset, dataset.users)


def tune(seed: int, *, data: str, stragglers: float, **settings: Any) -> list[ResultRow]:
    """A row and a curve for each μ > 0, on the same data."""
    return _compared(
        {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS}, seed, data, stragglers, SETTINGS | settings
    )


def run(
    seed: int, *, data: str, stragglers: float, best: float | None = None, **settings: Any
) -> list[ResultRow]:
    """A row and a curve for each algorithm, on the same data; without a ``best`` μ only for FedProx
    with μ = 0.
    """
    given = SETTINGS | settings
    algorithms = dict[str, fl.Algorithm](keep=fl.FedProx(mu=0.0))
    if best is not None:
        algorithms |= {"best": fl.FedProx(mu=best), "one": fl.FedProx(mu=1.0)}
    if stragglers:
        algorithms["drop"] = FedAvgDropping(given["local_epochs"], given["batch_size"])
    return _compared(algorithms, seed, data, stragglers, given)


def _compared(
    algorithms: Mapping[str, fl.Algorithm],
    seed: int,
    data: str,
    stragglers: float,
    settings: Mapping[str, Any],
) -> list[ResultRow]:
    fed = federation(data)
    runs = {}
    for name, algorithm in algorithms.items():
        model = fl.models.softmax_regression(fed, seed=0)
        row, curve = measured(fed, model, algorithm, **settings, stragglers=stragglers, seed=seed)
        runs[name] = (row | {"mu": getattr(algorithm, "mu", None)}, curve)
    return compared(runs)


def chosen(earlier: Tables) -> list[ExperimentCase]:
    """Each case, on synthetic(1, 1) with the μ that is best on the seeds of "fedprox_tuning"."""
    means = (
        earlier["fedprox_tuning"]
        .groupby(["data", "stragglers", "mu"], sort=False)
        .end_loss.mean()
        .reset_index()
    )
    least = means.loc[means.groupby(["data", "stragglers"], sort=False).end_loss.idxmin()]
    tuned: list[ExperimentCase] = [
        {"data": best.data, "stragglers": best.stragglers, "best": best.mu}
        for best in least.itertuples()
    ]
    return tuned + [
        {"data": data, "stragglers": 0.0}
        for data in ("iid", "synthetic(0,0)", "synthetic(0.5,0.5)")
    ]


_CASES: list[ExperimentCase] = [
    {"data": "synthetic(1,1)", "stragglers": share} for share in (0.0, 0.5, 0.9)
]
BANDS = ("test_accuracy", "train_loss")
FEDPROX_TUNING = Experiment("fedprox_tuning", tune, _CASES, bands=BANDS)
FEDPROX_SYNTHETIC = Experiment(
    "fedprox_synthetic", run, chosen, after="fedprox_tuning", bands=BANDS
)
