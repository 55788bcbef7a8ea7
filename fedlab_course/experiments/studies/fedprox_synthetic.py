"""The synthetic federations of the FedProx paper (Li et al. 2020, figures 1 and 2).

30 devices, 10 a round, E = 20, B = 10, η = 0.01, softmax regression; IID data, and synthetic(0, 0), (0.5, 0.5) and
(1, 1) as the authors' generator has them (its 0.5 is a standard deviation, the variance 0.25). Figure 2 has no
stragglers, and μ = 0 against the best μ of {0.001, 0.01, 0.1, 1}; figure 1 has 0, 50 and 90 % of stragglers: FedAvg
that drops them ("drop"), FedProx with μ = 0 that keeps their partial work ("keep"), and with the best μ ("best").

Reduced: 100 rounds of the paper's 200, evaluated every second one; stragglers on synthetic(1, 1) only, of the
synthetic data of figure 1. The seed of a run is also that of its data: three seeds, where the paper has one. "best" is
the row of the μ > 0 with the lowest end_loss of the seed, as the paper tunes by the result itself.
"""

from typing import Any

import fedlab_core as fl
from fedlab_core.data.synthetic import synthetic
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import compared, measured
from fedlab_course.experiments.studies.partial_work import FedAvgDropping

VARIANCES = {"synthetic(0,0)": 0.0, "synthetic(0.5,0.5)": 0.25, "synthetic(1,1)": 1.0}
MUS = (0.001, 0.01, 0.1, 1.0)
SETTINGS: dict[str, Any] = {"rounds": 100, "clients_per_round": 10, "local_epochs": 20, "batch_size": 10, "lr": 0.01}
SETTINGS |= {"eval_every": 2}


def federation(data: str, seed: int) -> fl.FederatedDataset:
    """The 30 devices of one of the paper's four federations."""
    law = {"iid": True} if data == "iid" else {"alpha": VARIANCES[data], "beta": VARIANCES[data]}
    dataset = synthetic(**law, seed=seed)
    assert dataset.users is not None  # these data always have them
    return fl.FederatedDataset(dataset, dataset.users)


def run(seed: int, *, data: str, stragglers: float, **settings: Any) -> list[Row]:
    """A row and a curve for each algorithm, on the same data; "best" repeats those of the best μ > 0."""
    fed, given = federation(data, seed), SETTINGS | settings
    algorithms: dict[str, fl.Algorithm] = {"keep": fl.FedProx(mu=0.0)}
    if stragglers:
        algorithms["drop"] = FedAvgDropping(given["local_epochs"], given["batch_size"])
    algorithms |= {f"mu={mu:g}": fl.FedProx(mu=mu) for mu in MUS}
    found = {}
    for name, algorithm in algorithms.items():
        model = fl.models.softmax_regression(fed, seed=seed)
        row, curve = measured(fed, model, algorithm, **given, stragglers=stragglers, seed=seed)
        found[name] = (row | {"mu": getattr(algorithm, "mu", None)}, curve)
    return compared(found, best=lambda row: row["end_loss"])


_CASES: list[dict[str, Any]] = [
    *({"data": "synthetic(1,1)", "stragglers": share} for share in (0.0, 0.5, 0.9)),
    *({"data": data, "stragglers": 0.0} for data in ("iid", "synthetic(0,0)", "synthetic(0.5,0.5)")),
]
FEDPROX_SYNTHETIC = Experiment("fedprox_synthetic", run, _CASES, bands=("test_accuracy", "train_loss"))
