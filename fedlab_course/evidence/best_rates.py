"""Every method at its best learning rate: the tables "rates_digits" and "rated_digits".

The first has the accuracy on validation samples at 17 rates, over three seeds; the best rate is
chosen there. The second has the accuracy on the test images at the chosen rate, over 20 other
seeds.
"""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_course.evidence import configs, tables

# Axis → the column that has the accuracy for it. "updates" and "bytes": what FedAvg spends in all.
MEASURES = {
    "rounds": "end_accuracy",
    "updates": "accuracy_at_updates",
    "bytes": "accuracy_at_bytes",
}


def _validated(partition: str, method: str, axis: str, epochs: int) -> pd.Series:
    """The mean accuracy on validation samples, by configuration and rate."""
    where = {"partition": partition, "epochs": epochs, "method": method}
    runs = tables.matching("rates_digits", where).groupby(["configuration", "lr"], sort=False)
    return runs[MEASURES[axis]].mean()


def chosen(partition: str, method: str, axis: str = "rounds", epochs: int = 5) -> float:
    """The rate at which a method has its highest mean accuracy on validation samples.

    ``partition``: such as "one_label"; ``axis``: "rounds", "updates" or "bytes". Of several
    configurations the best one counts. Raises ``ValueError`` where nothing is stored.
    """
    return float(_validated(partition, method, axis, epochs).idxmax()[1])


def best_of(partition: str, methods: Sequence[str], axis: str = "rounds", epochs: int = 5) -> str:
    """The one of ``methods``, variants of one algorithm, with the highest validation accuracy.

    Methods that have not been judged in this federation do not count. Returns "" if none has.
    """
    rows = tables.read("rated_digits")
    there = set(rows[(rows["partition"] == partition) & (rows["epochs"] == epochs)]["method"])
    values = {
        method: _validated(partition, method, axis, epochs).max()
        for method in methods
        if method in there
    }
    return max(values, key=lambda method: values[method]) if values else ""


def judged(partition: str, method: str, axis: str = "rounds", epochs: int = 5) -> pd.Series:
    """Test accuracy at the rate that is best for ``axis``, a share for each seed.

    It is empty unless that rate has been judged by all planned seeds.
    """
    rows = tables.read("rated_digits")
    wanted = (
        (rows["partition"] == partition)
        & (rows["method"] == method)
        & (rows["best_by"] == axis)
        & (rows["epochs"] == epochs)
    )
    found = rows[wanted].set_index("seed")[MEASURES[axis]].sort_index()
    return found if len(found) == len(configs.seeds("rated_digits")) else found[:0]


def chosen_on(partition: str, method: str, axis: str = "rounds", epochs: int = 5) -> pd.Series:
    """Accuracy on validation samples at the rate that is best for ``axis``, a share for each seed.

    These seeds have chosen the rate, so they flatter it a little.
    """
    configuration, rate = _validated(partition, method, axis, epochs).idxmax()
    where = {"partition": partition, "epochs": epochs, "method": method}
    where |= {"configuration": int(configuration), "lr": float(rate)}
    rows = tables.matching("rates_digits", where)
    return rows.set_index("seed")[MEASURES[axis]].sort_index()


def ahead(partition: str, method: str, baseline: str, axis: str = "rounds") -> pd.Series:
    """``method`` less ``baseline``, each at its best rate, a share for each seed that both have."""
    return (judged(partition, method, axis) - judged(partition, baseline, axis)).dropna()


def figure(
    partition: str, methods: Sequence[str], *, title: str, axis: str = "rounds"
) -> go.Figure:
    """Draw :func:`fedlab_core.plots.rates` of the stored validation accuracies of ``methods``."""
    curves = {}
    for method in methods:
        where = {"partition": partition, "epochs": 5, "method": method}
        rows = tables.matching("rates_digits", where)
        curves[method] = {
            float(rate): runs.tolist() for rate, runs in rows.groupby("lr")[MEASURES[axis]]
        }
    best = {method: chosen(partition, method, axis) for method in methods}
    return fl.plots.rates(curves, best, y_title="accuracy, validation samples", title=title)
