"""FedAvg with one client an update: the extreme of small cohorts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import fedlab_core as fl
from fedlab_core.server import Server


@dataclass(frozen=True)
class OneClientAnUpdate(fl.Algorithm):
    """The K clients of a round train one after another, and the server takes over each result.

    A round costs as many bytes as a round of FedAvg, and makes K server updates in place of one.
    """

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        """Yield the clients of a uniform cohort, one at a time, in random order."""
        for client in server.stream("cohort").permutation(server.uniform_cohort()):
            yield np.array([client])
