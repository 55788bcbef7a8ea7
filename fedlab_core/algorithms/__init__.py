"""The algorithms, one file each. Numbers in brackets are the source texts listed in docs/sources.md.

A new algorithm is a file here and its lines below; ``_ALL`` brings it to the command line and the explorers.
"""

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.fedavg import FedAvg
from fedlab_core.algorithms.fedcurv import FedCurv
from fedlab_core.algorithms.fedmas import FedAvgMas, FedMas, TFedAvg, TFedAvgMas
from fedlab_core.algorithms.fednova import FedNova
from fedlab_core.algorithms.fedprox import FedProx
from fedlab_core.algorithms.fedsso import FedSSO
from fedlab_core.algorithms.scaffold import Scaffold

_ALL: tuple[type[Algorithm], ...] = (FedAvg, FedProx, Scaffold, FedNova, FedCurv, FedSSO, FedMas)
ALGORITHMS = {kind.__name__.lower(): kind for kind in _ALL}

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
    "TFedAvg",
    "TFedAvgMas",
]
