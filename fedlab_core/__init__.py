"""fedlab_core: federated learning on non-IID data, to learn, to teach and to reproduce.

>>> import fedlab_core as fl
>>> digits = fl.load_dataset("digits")
>>> parts = fl.partition.dirichlet(digits.train.y, num_clients=100, alpha=0.3, seed=0)
>>> fed = fl.FederatedDataset(digits, parts)
>>> model = fl.models.mlp(fed, seed=0)
>>> history = fl.simulate(fed, model, fl.FedProx(mu=0.1), rounds=50, clients_per_round=20,
...                       local_epochs=5, batch_size=10, lr=0.05, seed=0)
>>> fl.plots.convergence({"FedProx μ=0.1": history}).show()
"""

from fedlab_core import algorithms, clustering, compare, conformance, flower, importance

# isort: split
from fedlab_core import models, plots, read, sampling, seeds
from fedlab_core.algorithms import (
    Algorithm,
    FedAvg,
    FedCurv,
    FedMas,
    FedNova,
    FedProx,
    FedSSO,
    Scaffold,
)
from fedlab_core.correction import Correction
from fedlab_core.data import (
    Dataset,
    DatasetNotFound,
    FederatedDataset,
    Split,
    load_dataset,
    partition,
    synthetic,
)
from fedlab_core.history import History, RoundRecord
from fedlab_core.reproduce.rerun import rerun
from fedlab_core.schedules import InverseTime
from fedlab_core.settings import Settings
from fedlab_core.simulation import Diverged, Simulation, simulate

__version__ = "0.1.0"
__all__ = [
    "Algorithm",
    "Correction",
    "Dataset",
    "DatasetNotFound",
    "Diverged",
    "FedAvg",
    "FedCurv",
    "FedMas",
    "FedNova",
    "FedProx",
    "FedSSO",
    "FederatedDataset",
    "History",
    "InverseTime",
    "RoundRecord",
    "Scaffold",
    "Settings",
    "Simulation",
    "Split",
    "algorithms",
    "clustering",
    "compare",
    "conformance",
    "flower",
    "importance",
    "load_dataset",
    "models",
    "partition",
    "plots",
    "read",
    "rerun",
    "sampling",
    "seeds",
    "simulate",
    "synthetic",
]


def __dir__() -> list[str]:
    return __all__
