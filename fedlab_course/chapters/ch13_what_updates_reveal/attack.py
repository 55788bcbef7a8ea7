"""One axis of noise: what a server reads off single moves, and what the noise costs.

Each client adds noise of σκ to every entry of its clipped move. The reader's ``Noisy`` makes such a
move if a client is alone in its cohort. Where K clients train together, their K noises add up to
one of √K σκ in the sum, which ``Noisy`` adds at once.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering
from fedlab_core.algorithms.base import LocalUpdates, Server
from fedlab_course.methods import leaks
from fedlab_course.theory import cluster_quality

LEVELS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
CLIP = 0.3
WORK: dict[str, Any] = {"local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
ROUNDS = 30
_FACTORS = tuple(10.0 ** (power / 2) for power in range(-2, 5))
Make = Callable[[float, float], fl.Algorithm]
Reading = Callable[[np.ndarray, np.ndarray], Any]


class Level(NamedTuple):
    """What noise of one level leaves: the ten sums of each client [N, C], the standard deviation of
    the noise in a sum, how well clusters agree with the label sets, and the accuracy of training.
    """

    sums: np.ndarray
    deviation: float
    of_sums: float
    of_all: float
    accuracy: float


class _Seen(fl.Algorithm):
    """One client a round, who always starts at w_0; ``look`` gets the server and its update."""

    def __init__(self, look: Callable[[Server, LocalUpdates], None]) -> None:
        self._look = look

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        yield np.array([server.round - 1])

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        self._look(server, updates)
        return server.params

    def describe(self) -> dict[str, Any]:
        return {"name": type(self).__name__}


def _show(
    look: Callable[[Server, LocalUpdates], None],
    fed: fl.FederatedDataset,
    model: torch.nn.Module,
    clients: int,
    seed: int,
) -> None:
    settings = WORK | {"rounds": clients, "clients_per_round": 1, "seed": seed}
    fl.simulate(fed, model, _Seen(look), **settings, eval_every=clients, train_loss=False)


def alone(
    make: Make, fed: fl.FederatedDataset, model: torch.nn.Module, seed: int
) -> dict[float, torch.Tensor]:
    """For each level of noise the moves [N, P] that the reader's server makes public if each client
    is alone in its cohort. The draws are the same at all levels.
    """
    rules = {noise: make(CLIP, noise) for noise in LEVELS}
    seen: dict[float, list[torch.Tensor]] = {noise: [] for noise in LEVELS}

    def look(server: Server, updates: LocalUpdates) -> None:
        for noise, rule in rules.items():
            seen[noise].append(rule.aggregate(server, updates) - server.params)

    _show(look, fed, model, fed.num_clients, seed)
    return {noise: torch.stack(moves) for noise, moves in seen.items()}


def levels(
    make: Make, fed: fl.FederatedDataset, model: torch.nn.Module, seed: int
) -> dict[float, Level]:
    """What each level of noise leaves, in round 1 and after 30 rounds of all clients."""
    _, sets = np.unique(leaks.label_mixes(fed) > 0, axis=0, return_inverse=True)
    *_, weight, _ = model.parameters()
    entries = weight.size(1) + 1  # of one sum
    found = {}
    for noise, moves in alone(make, fed, model, seed).items():
        sums = leaks.scores(moves, model, "row")
        of_sums, of_all = (
            cluster_quality.quality(clustering.optics(points).labels, sets.ravel()).adjusted_rand
            for points in (torch.from_numpy(sums), moves)
        )
        work = WORK | {"rounds": ROUNDS, "clients_per_round": fed.num_clients, "seed": seed}
        rule = make(CLIP, noise * math.sqrt(fed.num_clients))
        frame = fl.simulate(fed, model, rule, **work, train_loss=False).frame
        accuracy = float(frame.test_accuracy.tail(3).mean())
        deviation = noise * CLIP * math.sqrt(entries)
        found[noise] = Level(sums, deviation, of_sums, of_all, accuracy)
    return found


def named(labels_seen: Reading, level: Level, threshold: float) -> np.ndarray:
    """Which labels the reader's function names [N, C], if a sum must be above ``threshold``
    standard deviations of the noise.
    """
    said = np.zeros(level.sums.shape, dtype=bool)
    least = np.full(level.sums.shape[1], threshold * level.deviation)
    for row, sums in zip(said, level.sums, strict=True):
        row[np.asarray(list(labels_seen(least, sums)), dtype=int)] = True
    return said


def lengths(
    make: Make, fed: fl.FederatedDataset, model: torch.nn.Module, seed: int
) -> Mapping[str, list[float]]:
    """The length of a move of client 0 times several factors, and of what two servers make of it:
    the reader's, and one that clips every entry.
    """
    found: dict[str, list[float]] = {"before": [], "moves": [], "entries": []}

    def look(server: Server, updates: LocalUpdates) -> None:
        rule = make(CLIP, 0.0)
        for factor in _FACTORS:
            move = factor * (updates.params - server.params)
            longer = replace(updates, params=server.params + move)
            kept = rule.aggregate(server, longer) - server.params
            for name, one in zip(found, (move, kept, move.clamp(-CLIP, CLIP)), strict=True):
                found[name].append(float(one.norm()))

    _show(look, fed, model, 1, seed)
    return found
