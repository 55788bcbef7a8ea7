"""The algorithms, one file each. Numbers in brackets are the source texts listed in docs/sources.md.

A new algorithm is a file here and its lines below; ``ALGORITHMS`` brings it to the command line.
"""

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.ditto import Ditto
from fedlab_core.algorithms.fedavg import FedAvg
from fedlab_core.algorithms.fedcurv import FedCurv
from fedlab_core.algorithms.fedmas import FedAvgMas, FedMas, TFedAvg, TFedAvgMas
from fedlab_core.algorithms.fednova import FedNova
from fedlab_core.algorithms.fedper import FedPer
from fedlab_core.algorithms.fedprox import FedProx
from fedlab_core.algorithms.fedsso import FedSSO
from fedlab_core.algorithms.finetune import FineTune
from fedlab_core.algorithms.ifca import IFCA
from fedlab_core.algorithms.scaffold import Scaffold

_COURSE: tuple[type[Algorithm], ...] = (FedAvg, FedProx, Scaffold, FedNova, FedCurv, FedSSO, FedMas)
_PERSONAL: tuple[type[Algorithm], ...] = (IFCA, Ditto, FedPer, FineTune)
_ALL = (*_COURSE, *_PERSONAL)
ALGORITHMS = {kind.__name__.lower(): kind for kind in _ALL}

__all__ = [
    "ALGORITHMS",
    "IFCA",
    "Algorithm",
    "Ditto",
    "FedAvg",
    "FedAvgMas",
    "FedCurv",
    "FedMas",
    "FedNova",
    "FedPer",
    "FedProx",
    "FedSSO",
    "FineTune",
    "Scaffold",
    "TFedAvg",
    "TFedAvgMas",
]
