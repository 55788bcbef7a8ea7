"""The same small tuning budget for every method, on the digits.

Every method gets 24 configurations: eight learning rates with three values of its one parameter, or
24 rates where it has none. With the parameter 0 FedProx and FedCurv are FedAvg, and FedMas is
TFedAvg. The configuration with the highest mean end accuracy over seeds 100–102 (the first of
equals) is then run on seeds 0–9. 100 clients, 50 rounds; runs of one seed are paired. A run that
diverges has the accuracy of chance.
"""

from collections.abc import Sequence
from typing import Any

import fedlab_core as fl
from fedlab_core.reproduce import recipes
from fedlab_course.experiments.base import Experiment, ExperimentCase, ResultRow, Tables
from fedlab_course.experiments.measured_runs import DIGITS, deal, measured

RATES = tuple(0.0125 * 2**i for i in range(8))
# from 0.0125 to 1.6 as well
MORE_RATES = tuple(float(f"{0.0125 * 2 ** (7 * i / 23):.3g}") for i in range(24))
PARAMETERS: dict[str, tuple[str, tuple[float, ...]]] = {
    "fedavg": ("", ()),
    "fedprox": ("mu", (0.0, 0.01, 0.1)),
    "scaffold": ("", ()),
    "fedcurv": ("strength", (0.0, 0.5, 2.0)),
    "fedsso": ("", ()),
    "fedmas": ("strength", (0.0, 0.001, 0.01)),
    "tfedavg": ("", ()),
}


def run(
    seed: int,
    *,
    method: str,
    partition: str,
    lr: float,
    parameter: float | None = None,
    **settings: Any,
) -> list[ResultRow]:
    """One run, as one row; ``parameter``: the value of the method's own, if it has one."""
    fed = deal(partition, seed)
    name, _ = PARAMETERS[method]
    algorithm = recipes.algorithm(method, {name: parameter} if name else {})
    work = DIGITS | settings | {"lr": lr, "seed": seed}
    row, _ = measured(fed, fl.models.mlp(fed, seed=seed), algorithm, **work)
    return [{"parameter": parameter} | row]


def configurations(method: str) -> list[dict[str, Any]]:
    """The 24 configurations of a method."""
    _, values = PARAMETERS[method]
    if not values:
        return [{"lr": lr} for lr in MORE_RATES]
    return [{"lr": lr, "parameter": value} for value in values for lr in RATES]


def chosen(earlier: Tables) -> Sequence[ExperimentCase]:
    """The best configuration of each method and partition by the table ``tuning_digits``."""
    keys = ["partition", "method", "lr", "parameter"]
    means = (
        earlier["tuning_digits"]
        .groupby(keys, sort=False, dropna=False)
        .end_accuracy.mean()
        .reset_index()
    )
    best = means.loc[means.groupby(["partition", "method"], sort=False).end_accuracy.idxmax(), keys]
    rows: list[dict[str, Any]] = best.to_dict("records")
    # NaN: no parameter
    return [{name: value for name, value in row.items() if value == value} for row in rows]


_CONFIGURED = [
    {"method": method, **configuration}
    for method in PARAMETERS
    for configuration in configurations(method)
]
_GRID = [
    {"partition": partition, **configured}
    for partition in ("dirichlet_0.3", "two_labels")
    for configured in _CONFIGURED
]
TUNING = Experiment("tuning_digits", run, _GRID)
TUNED = Experiment("tuned_digits", run, chosen, after="tuning_digits")
