"""The algorithms, one file each. Numbers in brackets are the source texts listed in docs/sources.md."""

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.fedavg import FedAvg
from fedlab_core.algorithms.fednova import FedNova
from fedlab_core.algorithms.fedprox import FedProx
from fedlab_core.algorithms.scaffold import Scaffold
from fedlab_core.algorithms.server import Server

ALGORITHMS: dict[str, type[Algorithm]] = {
    "fedavg": FedAvg,
    "fedprox": FedProx,
    "scaffold": Scaffold,
    "fednova": FedNova,
}

__all__ = ["ALGORITHMS", "Algorithm", "FedAvg", "FedNova", "FedProx", "Scaffold", "Server"]
