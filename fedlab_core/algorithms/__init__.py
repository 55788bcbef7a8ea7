"""The algorithms, one file each. docs/sources.md has all authors of the papers, and the source
texts in brackets.

A new algorithm is a file here and its lines below; ``ALGORITHMS`` makes it available on the command
line.
"""

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.compressed import Compressed
from fedlab_core.algorithms.ditto import Ditto
from fedlab_core.algorithms.fedadam import FedAdam, FedYogi
from fedlab_core.algorithms.fedavg import FedAvg
from fedlab_core.algorithms.fedavgm import FedAvgM
from fedlab_core.algorithms.fedcurv import FedCurv
from fedlab_core.algorithms.feddyn import FedDyn
from fedlab_core.algorithms.fedmas import FedAvgMas, FedMas, TFedAvg, TFedAvgMas
from fedlab_core.algorithms.fednova import FedNova
from fedlab_core.algorithms.fedper import FedPer
from fedlab_core.algorithms.fedprox import FedProx
from fedlab_core.algorithms.fedsso import FedSSO
from fedlab_core.algorithms.finetune import FineTune
from fedlab_core.algorithms.ifca import IFCA
from fedlab_core.algorithms.mimelite import MimeLite
from fedlab_core.algorithms.powerofchoice import PowerOfChoice
from fedlab_core.algorithms.private import Private, epsilon
from fedlab_core.algorithms.qfedavg import QFedAvg
from fedlab_core.algorithms.scaffold import Scaffold
from fedlab_core.algorithms.wrapper import Wrapper

_COURSE: tuple[type[Algorithm], ...] = (FedAvg, FedProx, Scaffold, FedNova, FedCurv, FedSSO, FedMas)
_GALLERY: tuple[type[Algorithm], ...] = (
    FedAvgM,
    FedAdam,
    FedYogi,
    FedDyn,
    MimeLite,
    QFedAvg,
    PowerOfChoice,
)
_PERSONAL: tuple[type[Algorithm], ...] = (IFCA, Ditto, FedPer, FineTune)
# without wrappers: a command line cannot name what they wrap
_ALL = (*_COURSE, *_GALLERY, *_PERSONAL)
ALGORITHMS = {kind.__name__.lower(): kind for kind in _ALL}

__all__ = [
    "ALGORITHMS",
    "IFCA",
    "Algorithm",
    "Compressed",
    "Ditto",
    "FedAdam",
    "FedAvg",
    "FedAvgM",
    "FedAvgMas",
    "FedCurv",
    "FedDyn",
    "FedMas",
    "FedNova",
    "FedPer",
    "FedProx",
    "FedSSO",
    "FedYogi",
    "FineTune",
    "MimeLite",
    "PowerOfChoice",
    "Private",
    "QFedAvg",
    "Scaffold",
    "TFedAvg",
    "TFedAvgMas",
    "Wrapper",
    "epsilon",
]
