"""Every method at its best learning rate: the tables "rates_digits" and "rated_digits".

The first has every method at 17 rates on three seeds, measured on validation samples: it chooses.
The second has each method at the rate that was chosen so, on twenty other seeds and the test
images: it judges. ``fedlab_course/experiments/studies/learning_rates.py`` has the setting, and
:mod:`fedlab_course.evidence.rate_figures` draws the curves.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from fedlab_course.evidence import configs, tables

# A split of the digits over 100 clients, in words → its name in the tables.
SPLITS = {
    "two labels": "two_labels",
    "one label": "one_label",
    "Dirichlet 0.1": "dirichlet_0.1",
    "Dirichlet 0.3": "dirichlet_0.3",
    "IID": "iid",
}
# Axis → the column that has the accuracy for it. "updates" and "bytes": what FedAvg spends in all.
MEASURES = {
    "rounds": "end_accuracy",
    "updates": "accuracy_at_updates",
    "bytes": "accuracy_at_bytes",
}
# validation chooses one
FEDMAS = ("FedMas explicit", "FedMas implicit", "FedMas softmax", "FedMas added up")
EPOCHS = 5
MARGIN = 0.01  # δ of accuracies on the digits
_SETTING = ("partition", "epochs", "method")
Curve = dict[float, np.ndarray]  # η → one accuracy for each seed


def _runs(split: str, method: str) -> pd.DataFrame:
    """The runs on validation samples: a row for each configuration, rate and seed."""
    setting = (split, EPOCHS, method)
    found = tables.groups("rates_digits", _SETTING).get(setting)
    if found is None:  # matching refuses what is not there
        found = tables.matching("rates_digits", dict(zip(_SETTING, setting, strict=True)))
    return found.sort_values(["lr", "seed"])


def curve(split: str, method: str, axis: str = "rounds") -> Curve:
    """The accuracies of a method on validation samples: η → one for each seed, in their order.

    ``split``: a value of ``SPLITS``; ``method``: as in the tables, such as "FedProx 0.1"; ``axis``:
    a key of ``MEASURES``. Of several configurations, such as FedMas's λ, a rate has all runs.
    Raises ``ValueError`` for rows that are not there.
    """
    groups = _runs(split, method).groupby("lr")
    return {float(lr): runs[MEASURES[axis]].to_numpy() for lr, runs in groups}


def parameters(split: str, method: str) -> list[float]:
    """The values of a method's parameter, such as FedMas's λ, that were run on validation samples,
    ascending.
    """
    return sorted(_runs(split, method)["parameter"].dropna().unique().tolist())


def chosen_curve(split: str, method: str, axis: str = "rounds") -> Curve:
    """:func:`curve` of the configuration with the highest mean accuracy at its best rate."""
    configuration, _ = _means(split, method, axis).idxmax()
    runs = _runs(split, method)
    groups = runs[runs["configuration"] == configuration].groupby("lr")
    return {float(lr): found[MEASURES[axis]].to_numpy() for lr, found in groups}


def top(found: Curve) -> tuple[float, float]:
    """The best rate of a curve, the lowest of equals, and the mean accuracy there."""
    rate = max(found, key=lambda one: (found[one].mean(), -one))
    return rate, float(found[rate].mean())


def _means(split: str, method: str, axis: str) -> pd.Series:
    """The mean accuracy on validation samples, by configuration and rate, the lowest rate first.

    Rounded, so that sums of the same accuracies in another order are equal.
    """
    runs = _runs(split, method).groupby(["configuration", "lr"], sort=False)
    return runs[MEASURES[axis]].mean().round(12)


def best_rate(split: str, method: str, axis: str = "rounds") -> float:
    """The rate at which a method has its highest mean accuracy on validation samples.

    Of several configurations the best one counts.
    """
    return float(_means(split, method, axis).idxmax()[1])


def best_of(split: str, methods: Sequence[str], axis: str = "rounds") -> str:
    """The one of ``methods``, variants of one algorithm, with the highest validation accuracy.

    Methods that have not been judged in this federation do not count. Returns "" if none has.
    """
    there = tables.groups("rated_digits", _SETTING)
    values = {
        method: _means(split, method, axis).max()
        for method in methods
        if (split, EPOCHS, method) in there
    }
    return max(values, key=lambda method: values[method]) if values else ""


def judged_runs(split: str, method: str, axis: str = "rounds") -> pd.DataFrame:
    """The runs at the rate that is best for ``axis``, a row for each seed."""
    where = {"partition": split, "epochs": EPOCHS, "method": method, "best_by": axis}
    return tables.matching("rated_digits", where)


def judged(split: str, method: str, axis: str = "rounds") -> pd.Series:
    """Test accuracy at the rate that is best for ``axis``, a share for each seed.

    It is empty unless that rate has been judged by all planned seeds.
    """
    runs = tables.groups("rated_digits", (*_SETTING, "best_by"))
    rows = runs.get((split, EPOCHS, method, axis), tables.read("rated_digits")[:0])
    found = rows.set_index("seed")[MEASURES[axis]].sort_index()
    return found if len(found) == len(configs.seeds("rated_digits")) else found[:0]


def ahead(split: str, method: str, baseline: str = "FedAvg", axis: str = "rounds") -> pd.Series:
    """``method`` less ``baseline``, each at its best rate, a share for each seed that both have."""
    return (judged(split, method, axis) - judged(split, baseline, axis)).dropna()


def leads(split: str, methods: Mapping[str, str], axis: str = "rounds") -> dict[str, np.ndarray]:
    """What ``methods`` are ahead of FedAvg, seed by seed, each at its best rate.

    ``methods``: name in a figure → name in the tables. A method that has not been judged is left
    out.
    """
    found = {name: ahead(split, method, axis=axis).to_numpy() for name, method in methods.items()}
    return {name: gaps for name, gaps in found.items() if len(gaps)}
