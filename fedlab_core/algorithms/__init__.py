"""The algorithms, one file each. Numbers in brackets are the source texts listed in docs/sources.md."""

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.fedavg import FedAvg
from fedlab_core.algorithms.fedcurv import FedCurv
from fedlab_core.algorithms.fedmas import FedAvgMas, FedMas, TFedAvg, TFedAvgMas
from fedlab_core.algorithms.fednova import FedNova
from fedlab_core.algorithms.fedprox import FedProx
from fedlab_core.algorithms.fedsso import FedSSO
from fedlab_core.algorithms.scaffold import Scaffold
from fedlab_core.server import Server

ALGORITHMS: dict[str, type[Algorithm]] = {
    "fedavg": FedAvg,
    "fedprox": FedProx,
    "scaffold": Scaffold,
    "fednova": FedNova,
    "fedcurv": FedCurv,
    "fedsso": FedSSO,
    "fedmas": FedMas,
}

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "FedAvg",
    "FedAvgMas",
    "FedCurv",
    "FedMas",
    "FedNova",
    "FedProx",
    "FedSSO",
    "Scaffold",
    "Server",
    "TFedAvg",
    "TFedAvgMas",
]
