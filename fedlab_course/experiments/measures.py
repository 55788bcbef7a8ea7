"""What is measured of each run of a sweep, and the two small tables that are kept of a sweep."""

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd

from fedlab_core.history import History, RoundRecord
from fedlab_core.sweep.folder import Folder
from fedlab_core.sweep.plan import Run

MOST_POINTS = 50  # of a stored curve
_DIGITS = 6  # significant ones that are stored
_FLOAT = 4  # bytes


def tables(folder: Folder, runs: Sequence[Run] | None = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the table of a sweep, a row for each run, and its curves as mean and standard deviation
    over seeds.

    ``runs``: by default all that have ended.

    Accuracies and losses of a run that diverged are those of chance from then on: 1/C and ln C for
    C classes.

    start_, mean_, end_accuracy: over the evaluated rounds of the first fifth, of all, and of the
    last tenth; mean_loss and end_loss: the same of the training loss; roughness and loss_roughness:
    the standard deviation of their changes from one evaluated round to the next in the second half;
    accuracy_at_bytes and accuracy_at_updates: the last one within what FedAvg needs for all its
    rounds, bytes to 1 %; rounds_to_target: the first evaluated round with the sweep's target
    accuracy, one more than there are if none has it; drift: the mean over rounds.
    """
    rows = []
    curves = []
    for run in folder.plan.runs if runs is None else runs:
        outcome = folder.outcome(run)
        if outcome.get("status") not in ("done", "diverged"):
            continue
        history = History.load(folder.of(run) / "history.npz")
        about = plain({name: run.axes.get(name) for name in folder.plan.axes})
        points = curve(history, run.config)
        row_of_run = measured(history, points, run.config, folder.plan.target)
        rows.append(about | row_of_run | {"diverged": outcome["status"] != "done"})
        curves.append(
            thinned(points).assign(
                **{name: value for name, value in about.items() if name != "seed"}
            )
        )
    joined = pd.concat(curves, ignore_index=True) if curves else pd.DataFrame()
    bands = joined
    if curves:
        bands = banded(joined, ["test_accuracy", "train_loss"], ["bytes", "server_updates"])
    return rounded(pd.DataFrame(rows)), rounded(bands)


def plain(axes: dict[str, Any]) -> dict[str, Any]:
    """The values of axes by their last names, as a row has them; a schedule as its formula."""
    formulas = {
        name: f"{value['lr0']:g}/(1+t)" for name, value in axes.items() if isinstance(value, dict)
    }
    return {name.rpartition(".")[2]: value for name, value in (axes | formulas).items()}


def curve(history: History, config: dict[str, Any]) -> pd.DataFrame:
    """Every round that was to be evaluated, with accuracy, loss, bytes and updates; chance after a
    divergence.
    """
    every = int(config["eval_every"])
    rounds = int(config["rounds"])
    due = sorted({*range(every, rounds + 1, every), rounds})
    classes = int(config["model"]["arguments"]["classes"])
    columns = [field.name for field in fields(RoundRecord)]
    frame = pd.DataFrame(history.rows(), columns=columns, dtype=float).set_index("round")
    frame = frame.assign(bytes=frame.bytes_up + frame.bytes_down)
    curve = frame.reindex(due)[["test_accuracy", "train_loss", "bytes", "server_updates"]]
    chance = {"test_accuracy": 1 / classes, "train_loss": math.log(classes)}
    return (
        curve.fillna(chance | {"bytes": math.inf, "server_updates": math.inf})
        .rename_axis("round")
        .reset_index()
    )


def thinned(curve: pd.DataFrame) -> pd.DataFrame:
    """At most ``MOST_POINTS`` of its points, at equal distances, the first among them."""
    return curve.iloc[:: -(-len(curve) // MOST_POINTS)]


def measured(
    history: History, curve: pd.DataFrame, config: dict[str, Any], target: float | None = None
) -> dict[str, Any]:
    """The measures of :func:`tables`, of one run with this ``config``, from its history and its
    :func:`curve`.
    """
    accuracy = curve.test_accuracy.to_numpy()
    loss = curve.train_loss.to_numpy()
    rounds = int(config["rounds"])
    tenth = max(1, len(curve) // 10)
    fifth = max(1, len(curve) // 5)
    half = len(curve) // 2
    records = history.records
    budget = 2 * rounds * config["clients_per_round"] * config["model"]["num_parameters"] * _FLOAT
    return {
        "start_accuracy": accuracy[:fifth].mean(),
        "mean_accuracy": accuracy.mean(),
        "end_accuracy": accuracy[-tenth:].mean(),
        "mean_loss": loss.mean(),
        "end_loss": loss[-tenth:].mean(),
        "roughness": _roughness(accuracy[half:]),
        "loss_roughness": _roughness(loss[half:]),
        "accuracy_at_bytes": within(accuracy, curve.bytes <= 1.01 * budget),
        "accuracy_at_updates": within(accuracy, curve.server_updates <= rounds),
        "rounds_to_target": _rounds_to(target, curve, rounds),
        "drift": np.mean([record.drift for record in records]) if records else math.nan,
        "bytes": records[-1].bytes_up + records[-1].bytes_down if records else 0,
        "server_updates": records[-1].server_updates if records else 0,
        "worst_decile": history.clients.worst_decile if history.clients else None,
        "seconds": records[-1].seconds if records else 0.0,
    }


def _rounds_to(target: float | None, curve: pd.DataFrame, rounds: int) -> int | None:
    """The first round with the ``target`` accuracy; one round more than were run where none has it,
    and None without a target.
    """
    if target is None:
        return None
    reached = curve["round"][curve.test_accuracy >= target]
    return reached.iloc[0] if len(reached) else rounds + 1


def within(values: np.ndarray, fits: pd.Series) -> float:
    """The last of the ``values`` whose cost ``fits`` the budget; the first one where none does."""
    paid = values[fits]
    return float(paid[-1] if len(paid) else values[0])


def _roughness(values: np.ndarray) -> float:
    return float(np.diff(values).std(ddof=1)) if len(values) > 2 else math.nan


def banded(curves: pd.DataFrame, values: Sequence[str], costs: Sequence[str] = ()) -> pd.DataFrame:
    """Curves of several seeds as mean and standard deviation of their ``values``, the mean of
    ``costs``, and n.
    """
    keys = [name for name in curves if name not in (*values, *costs, "seed")]
    grouped = curves.groupby(
        sorted(keys, key=lambda name: name == "round"), sort=False, dropna=False
    )
    bands = grouped[[*values]].agg(["mean", "std"])
    bands.columns = [f"{name}_{statistic}" for name, statistic in bands.columns]
    return bands.assign(
        **{name: grouped[name].mean() for name in costs}, n=grouped.size()
    ).reset_index()


def pooled(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Join the bands of two groups of seeds to the bands of all of them.

    For each point of a curve: n seeds, and the mean m and standard deviation s of each measured
    value. Costs (bytes, server updates) are averaged over the seeds.
    """
    both = pd.concat([frame for frame in (first, second) if len(frame)], ignore_index=True)
    measured = [name.removesuffix("_mean") for name in both if name.endswith("_mean")]
    means = [f"{name}_mean" for name in measured]
    spreads = [f"{name}_std" for name in measured]
    costs = [name for name in ("bytes", "server_updates") if name in both]
    keys = [name for name in both if name not in (*means, *spreads, *costs, "n")]

    sums = both.copy()
    for name in (*means, *costs):
        sums[name] = both["n"] * both[name]
    for mean, spread in zip(means, spreads, strict=True):
        sums[spread] = _squares(both["n"], both[mean], both[spread].fillna(0))
    sums = sums.groupby(keys, sort=False, dropna=False).sum().reset_index()

    n = sums["n"]
    for name in (*means, *costs):
        sums[name] = sums[name] / n
    for mean, spread in zip(means, spreads, strict=True):
        sums[spread] = _deviation(n, sums[mean], sums[spread])
    return rounded(sums[[*both]])


def _squares(n: pd.Series, mean: pd.Series, deviation: pd.Series) -> pd.Series:
    """Σ x² of n values: (n − 1) s² + n m². Such sums of several groups add up."""
    return (n - 1) * deviation**2 + n * mean**2


def _deviation(n: pd.Series, mean: pd.Series, squares: pd.Series) -> pd.Series:
    """The standard deviation √((Σ x² − n m²) / (n − 1)); NaN for a single value."""
    about_mean = (squares - n * mean**2).clip(lower=0)
    return (about_mean / (n - 1).where(n > 1)) ** 0.5


def rounded(frame: pd.DataFrame, digits: int = _DIGITS) -> pd.DataFrame:
    """Numbers to so many significant digits, as they are stored."""
    return frame.map(
        lambda value: float(f"{value:.{digits}g}") if isinstance(value, float) else value
    )
