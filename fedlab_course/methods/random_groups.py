"""Random groups of the tiers' sizes: a control of TFedAvg."""

from dataclasses import dataclass, field

import numpy as np

import fedlab_core as fl
from fedlab_core.algorithms.tiers import Dbscan, Tiers
from fedlab_core.server import Server


@dataclass(frozen=True)
class ShuffledTiers(Dbscan):
    """The tiers that DBSCAN finds, with their members drawn at random: as many tiers of the same
    sizes, of clients that need not be alike.
    """

    def labels(self, server: Server) -> np.ndarray:
        found = super().labels(server)
        return server.stream("random_groups").permutation(found)


@dataclass(frozen=True)
class RandomGroups(fl.algorithms.TFedAvg):
    """TFedAvg whose tiers are random groups of the tiers' sizes, drawn once before the first
    round.
    """

    tiers: Tiers | str | list[int] = field(default_factory=ShuffledTiers, init=False)
