"""The numbers of a figure: one series per name, averaged over seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fedlab_core.compare import price
from fedlab_core.history import History

Histories = Mapping[str, "History | Sequence[History]"]


@dataclass(frozen=True)
class Series:
    """The runs of one name: ``x``, mean ``y``, minimum ``low``, maximum ``high`` [T] over
    ``num_runs`` runs.

    ``planned``: how many points the curve has at its end, at least T; a run that is under way has
    fewer.
    """

    name: str
    num_runs: int
    x: np.ndarray
    y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    planned: int


def grouped(histories: Histories) -> dict[str, list[History]]:
    """Give each name a list of histories.

    Raises ``ValueError`` for anything but a mapping to histories.
    """
    if not isinstance(histories, Mapping) or not histories:
        raise ValueError(
            'histories: must be a non-empty mapping of names to histories, as in {"FedAvg": '
            "history}"
        )
    groups: dict[str, list[History]] = {}
    for name, value in histories.items():
        runs = list(value) if isinstance(value, Sequence) else [value]
        if not runs or not all(hasattr(run, "frame") for run in runs):
            raise ValueError(
                f"histories[{name!r}]: must be a History or a non-empty list of them (one per seed)"
            )
        groups[str(name)] = runs
    return groups


def algorithm_names(groups: Mapping[str, Sequence[History]]) -> dict[str, str]:
    """The algorithm of each name, from the run's configuration, or else the name itself."""
    return {
        name: runs[0].config.get("algorithm", {}).get("name", name) for name, runs in groups.items()
    }


def averaged(name: str, runs: Sequence[History], x: str, y: str) -> Series:
    """Average column ``y`` over runs, against their :func:`fedlab_core.compare.price` ``x``.

    Uses the rounds that every run has evaluated.
    """
    frames = [run.frame.assign(price=price(run, x)).set_index("round") for run in runs]
    rounds = frames[0].index
    for frame in frames[1:]:
        rounds = rounds.intersection(frame.index)
    values = np.stack([frame.loc[rounds, y].to_numpy(dtype=float) for frame in frames])
    if not values.size:
        raise ValueError(f"histories[{name!r}]: the runs have no evaluated round in common")
    if np.isnan(values).all():
        raise ValueError(
            f"histories[{name!r}]: {y} was not measured in these runs (all values are NaN)"
        )
    along = np.stack([frame.loc[rounds, "price"].to_numpy(dtype=float) for frame in frames]).mean(0)
    planned = max([len(rounds), *(_planned(run) for run in runs)])
    return Series(name, len(runs), along, values.mean(0), values.min(0), values.max(0), planned)


def _planned(run: History) -> int:
    """How many evaluations the configuration of a run asks for; 0 if it does not say."""
    return math.ceil(run.config.get("rounds", 0) / run.config.get("eval_every", 1))
