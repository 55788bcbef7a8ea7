"""The synthetic federations of the FedProx paper (Li et al. 2020, figures 1 and 2).

30 devices, 10 a round, E = 20, B = 10, η = 0.01, softmax regression; IID data, and synthetic(0, 0), (0.5, 0.5) and
(1, 1) as the authors' generator has them (its 0.5 is a standard deviation, the variance 0.25). Figure 2 has no
stragglers, and μ = 0 against the best μ of {0.001, 0.01, 0.1, 1}; figure 1 has 0, 50 and 90 % of stragglers: FedAvg
that drops them ("drop"), FedProx with μ = 0 that keeps their partial work ("keep"), and with the best μ ("best").

Reduced: 100 rounds of the paper's 200, evaluated every second one; stragglers on synthetic(1, 1) only, of the
synthetic data of figure 1. The seed of a run is that of its data, too: three of them, where the paper has one.
"best" is the row of the μ > 0 with the lowest end_loss of the seed, as the paper tunes by the result itself.
"""

from typing import Any

import fedlab_core as fl
from fedlab_core.data.synthetic import synthetic
from fedlab_course.evidence.controls import FedAvgDropping
from fedlab_course.evidence.experiments.base import Experiment, Row
from fedlab_course.evidence.experiments.runs import measured
from fedlab_course.evidence.measures import thinned

VARIANCES = {"synthetic(0,0)": 0.0, "synthetic(0.5,0.5)": 0.25, "synthetic(1,1)": 1.0}
MUS = (0.001, 0.01, 0.1, 1.0)
SETTINGS: dict[str, Any] = {
    "rounds": 100,
    "clients_per_round": 10,
    "local_epochs": 20,
    "batch_size": 10,
    "lr": 0.01,
    "eval_every": 2,
}


def federation(data: str, seed: int) -> fl.FederatedDataset:
    """The 30 devices of one of the paper's four federations."""
    dataset = synthetic(seed=seed, iid=True)
    if data != "iid":
        dataset = synthetic(VARIANCES[data], VARIANCES[data], seed=seed)
    assert dataset.users is not None  # these data always have them
    return fl.FederatedDataset(dataset, dataset.users)


def run(seed: int, *, data: str, stragglers: float, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, on the same data; "best" repeats those of the best μ > 0."""
    fed, given = federation(data, seed), SETTINGS | settings
    algorithms: dict[str, fl.Algorithm] = {"keep": fl.FedProx(mu=0.0)}
    if stragglers:
        algorithms["drop"] = FedAvgDropping(given["local_epochs"], given["batch_size"])
    algorithms |= {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS}
    rows: dict[str, Row] = {}
    curves = {}
    for name, algorithm in algorithms.items():
        model = fl.models.softmax_regression(fed, seed=seed)
        rows[name], curves[name] = measured(fed, model, algorithm, **given, stragglers=stragglers, seed=seed)
        rows[name]["mu"] = getattr(algorithm, "mu", None)
    best = min((f"mu={mu:g}" for mu in MUS), key=lambda name: rows[name]["end_loss"])
    rows["best"], curves["best"] = rows[best], curves[best]
    about = {"data": data, "stragglers": stragglers}
    found = [about | {"algorithm": name, "seed": seed} | row for name, row in rows.items()]
    for name, curve in curves.items():
        points = thinned(curve)[["round", "test_accuracy", "train_loss"]].to_dict("records")
        found += [about | {"table": "curves", "algorithm": name, "seed": seed} | point for point in points]
    return found


_CASES: list[dict[str, Any]] = [
    *({"data": "synthetic(1,1)", "stragglers": share} for share in (0.0, 0.5, 0.9)),
    *({"data": data, "stragglers": 0.0} for data in ("iid", "synthetic(0,0)", "synthetic(0.5,0.5)")),
]
FEDPROX_SYNTHETIC = Experiment("fedprox_synthetic", run, _CASES, (0, 1, 2), bands=("test_accuracy", "train_loss"))
