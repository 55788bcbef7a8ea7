"""Data sets, their partition over clients, and the heterogeneity of the clients."""

from fedlab_core.data.dataset import Dataset, DatasetNotFound, Split
from fedlab_core.data.disk.files import DatasetCorrupt
from fedlab_core.data.disk.sources import DATASETS
from fedlab_core.data.disk.vision import import_torchvision
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.data.load import load_dataset

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetCorrupt",
    "DatasetNotFound",
    "FederatedDataset",
    "Split",
    "import_torchvision",
    "load_dataset",
]
