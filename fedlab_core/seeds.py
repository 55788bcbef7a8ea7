"""Repeat runs over seeds and read their accuracy, as chapter 0 explains."""

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from torch import nn

from fedlab_core.algorithms import Algorithm
from fedlab_core.data import FederatedDataset
from fedlab_core.history import History
from fedlab_core.simulation import simulate


def runs(
    algorithm: Algorithm | Callable[[FederatedDataset], Algorithm],
    deal: Callable[[int], FederatedDataset],
    build_model: Callable[..., nn.Module],
    seeds: Iterable[int],
    **settings: Any,
) -> list[History]:
    """Run once per seed, on the federation ``deal(seed)`` from the model ``build_model(fed,
    seed=seed)``.

    ``algorithm``: one for all seeds, or a function that makes one for a federation. ``settings``:
    further arguments of :func:`fedlab_core.simulate`. With equal settings, two algorithms see the
    same clients and batches under each seed.
    """
    histories = []
    for seed in seeds:
        fed = deal(seed)
        rule = algorithm if isinstance(algorithm, Algorithm) else algorithm(fed)
        histories.append(simulate(fed, build_model(fed, seed=seed), rule, **settings, seed=seed))
    return histories


def accuracy(histories: Sequence[History], rounds: int | range) -> np.ndarray:
    """Test accuracy after a round, or its mean over a range of rounds, one value per history."""
    if isinstance(rounds, bool) or not isinstance(rounds, (Integral, range)):
        raise ValueError(
            f"rounds={rounds!r}: must be a round, as in 30, or a range of rounds, as in range(21, "
            "31)"
        )
    chosen = list(rounds) if isinstance(rounds, range) else [int(rounds)]
    return np.array([_mean(history, chosen) for history in histories])


def _mean(history: History, rounds: list[int]) -> float:
    measured = history.frame.set_index("round").test_accuracy.dropna()
    missing = [t for t in rounds if t not in measured.index]
    if missing or not rounds:
        known = f"{measured.index.min()} to {measured.index.max()}" if len(measured) else "none"
        raise ValueError(f"rounds={missing}: must be rounds that were evaluated, {known}")
    return float(measured[rounds].mean())
