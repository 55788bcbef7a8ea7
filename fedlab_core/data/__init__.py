"""Data sets, how they are dealt out over clients, and how different that makes the clients."""

from fedlab_core.data.dataset import Dataset, DatasetNotFound, Split
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.data.files import DatasetCorrupt
from fedlab_core.data.load import load_dataset
from fedlab_core.data.sources import DATASETS

__all__ = ["DATASETS", "Dataset", "DatasetCorrupt", "DatasetNotFound", "FederatedDataset", "Split", "load_dataset"]
