"""Read your own data as a federation: tables, PyTorch data sets, folders of images, Hugging Face and Flower.

Each function returns a :class:`~fedlab_core.FederatedDataset` whose clients are the users in the data. Data without
users become a :class:`~fedlab_core.Dataset`, which :mod:`fedlab_core.partition` splits. Labels become 0 … C − 1, the
same in training and test; ``dataset.classes`` has the original labels and ``fed.names[k]`` the name of client k.
Values are filled in or scaled only on request. Libraries that only some readers need are imported on use.
"""

from fedlab_core.read.hub import hugging_face
from fedlab_core.read.images import image_folder
from fedlab_core.read.pytorch import torch_dataset
from fedlab_core.read.tables import csv, frame

__all__ = ["csv", "frame", "hugging_face", "image_folder", "torch_dataset"]
