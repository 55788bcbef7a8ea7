"""Controls of FedMas: other penalties on its tiers, its penalty with another anchor or in the first
rounds alone, and its penalty on random groups.

An importance Ω [P] is measured as in FedMas, after each tier.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.algorithms.tiers import Tiers
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server
from fedlab_course.methods.random_groups import ShuffledTiers


@dataclass(frozen=True)
class PlainPenalty(fl.FedMas):
    """Ω = 1 for every parameter, from the second update on."""

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        server.state["importance"] = torch.ones_like(server.params)
        server.state["weight"] = 2 * self.strength * server.state["importance"]


@dataclass(frozen=True)
class ShuffledPenalty(fl.FedMas):
    """The values of Ω trade places within each tensor of the model, in a new order after each
    tier. What is added up is Ω as it was measured.
    """

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        super().after_aggregation(server, updates)
        rng = server.stream("shuffled", int(server.state["clusters"][updates.clients[0]]))
        _change_weight(server, self.strength, lambda part: part[rng.permutation(len(part))])


@dataclass(frozen=True)
class EvenPenalty(fl.FedMas):
    """Every parameter of a tensor has the mean of the tensor's Ω. What is added up is Ω as it was
    measured.
    """

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        super().after_aggregation(server, updates)
        _change_weight(
            server, self.strength, lambda part: torch.full_like(part, float(part.mean()))
        )


@dataclass(frozen=True)
class PenaltyAtFirstModel(fl.FedMas):
    """The anchor is the model with which the round began, not the one that the tier receives."""

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        server.state["first"] = server.params.clone()
        yield from super().cohorts(server)

    def correction(self, server: Server, client: int) -> Correction:
        return replace(super().correction(server, client), anchor=server.state["first"])


@dataclass(frozen=True)
class PenaltyAtFirst(fl.FedMas):
    """The penalty ends with round ``last_round``."""

    last_round: int = 10

    def _has_penalty(self, server: Server) -> bool:
        return server.round <= self.last_round and super()._has_penalty(server)


@dataclass(frozen=True)
class PenaltyOnRandomGroups(fl.FedMas):
    """Random groups of the tiers' sizes, drawn once before the first round, with FedMas's
    penalty.
    """

    tiers: Tiers | str | list[int] = field(default_factory=ShuffledTiers, init=False)


def _change_weight(
    server: Server, strength: float, change: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    """Let the penalty hold with Ω after a ``change`` of the part of each tensor; Ω itself stays."""
    parts = [server.state["importance"][place] for place in server.layout.values()]
    server.state["weight"] = 2 * strength * torch.cat([change(part) for part in parts])
