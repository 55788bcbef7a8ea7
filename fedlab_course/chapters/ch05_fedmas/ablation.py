"""FedMas with one part changed: tiers that are the true groups, tiers drawn at random, and pairs in
rotation.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.algorithms.tiers import Tiers
from fedlab_core.server import Server


@dataclass(frozen=True)
class TrueTiers(Tiers):
    """A tier for each set of labels that clients hold: what a clustering could find at best."""

    def labels(self, server: Server) -> np.ndarray:
        sets: dict[tuple[int, ...], int] = {}
        held = [tuple(np.unique(server.fed.y[part].numpy()).tolist()) for part in server.fed.parts]
        return np.array([sets.setdefault(labels, len(sets)) for labels in held], dtype=np.int64)


@dataclass(frozen=True)
class RandomTiers(Tiers):
    """``num_tiers`` tiers of equal size, to one client, that know nothing of the data."""

    num_tiers: int = 10

    def labels(self, server: Server) -> np.ndarray:
        return server.stream("random_tiers").permutation(
            np.arange(server.num_clients) % self.num_tiers
        )


@dataclass(frozen=True)
class FedMasTrueTiers(fl.FedMas):
    """FedMas whose tiers are the groups of clients with the same labels."""

    tiers: Tiers | str | list[int] = field(default_factory=TrueTiers, init=False)


@dataclass(frozen=True)
class FedMasRandomTiers(fl.FedMas):
    """FedMas whose tiers are drawn at random."""

    tiers: Tiers | str | list[int] = field(default_factory=RandomTiers, init=False)


@dataclass(frozen=True)
class RotatedPairs(fl.Algorithm):
    """Pairs of clients with different labels: each group has its turns, as with tiers of true
    groups, and the two of a pair are never of one kind.

    The groups of :class:`TrueTiers` stand in a ring. A round has a cohort for each group: one
    client of it, and one of the group on the opposite side, so that each group trains twice a
    round, as with two clients of every tier. ``order`` of the cohorts: "ring", where half a round
    lies between the two turns of a group; "together", where its two turns follow one another, and
    then nearly a round goes by; "shuffled", a new order in each round. The number of groups is
    even.
    """

    order: Literal["ring", "together", "shuffled"] = "ring"

    def setup(self, server: Server) -> None:
        server.state["clusters"] = torch.from_numpy(TrueTiers().labels(server))

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        """One pair for each group; the next starts from the aggregate of the one before."""
        groups = list(server.groups("clusters").values())
        half = len(groups) // 2
        turns = np.arange(len(groups))
        if self.order == "together":
            turns = np.argsort(turns % half, kind="stable")
        elif self.order == "shuffled":
            turns = server.stream("cohort", len(groups)).permutation(turns)
        for turn in turns.tolist():
            rng = server.stream("cohort", turn)
            group = groups[turn]
            opposite = groups[(turn + half) % len(groups)]
            first = rng.choice(group)
            yield np.sort([first, rng.choice(opposite[opposite != first])])
