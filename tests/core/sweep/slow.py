"""An algorithm that takes its time, for clients and workers of the tests."""

import time
from dataclasses import dataclass

import torch

from fedlab_core import FedAvg
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.server import Server


@dataclass(frozen=True)
class Slow(FedAvg):
    """FedAvg whose server sleeps for some ``seconds`` in each round."""

    seconds: float = 0.0

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        time.sleep(self.seconds)
        return super().aggregate(server, updates)
