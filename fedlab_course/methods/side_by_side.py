"""Tiers side by side: a control of TFedAvg."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import fedlab_core as fl
from fedlab_core.server import Server


@dataclass(frozen=True)
class SideBySide(fl.algorithms.TFedAvg):
    """FedAvg on the clients that TFedAvg draws: all tiers train in one update, and none in turn."""

    def tier_cohorts(self, server: Server) -> Iterator[np.ndarray]:
        """Yield the cohorts of all tiers as one."""
        yield np.concatenate(list(super().tier_cohorts(server)))
