"""Your own data as a federation: from tables, PyTorch data sets, folders of images and Hugging Face.

Each function returns a :class:`~fedlab_core.FederatedDataset` whose clients are the users that the data name, or, where
they name none, a :class:`~fedlab_core.Dataset`, which :mod:`fedlab_core.partition` deals out. Labels become 0 … C − 1,
the same in training and test, and ``dataset.classes`` tells what they were; ``fed.names[k]`` is who client k was.
Nothing is filled in or scaled unless it is asked for. Libraries that only some need are imported when they are used.
"""

from fedlab_core.read.hub import hugging_face
from fedlab_core.read.images import image_folder
from fedlab_core.read.samples import torch_dataset
from fedlab_core.read.tables import csv, frame

__all__ = ["csv", "frame", "hugging_face", "image_folder", "torch_dataset"]
