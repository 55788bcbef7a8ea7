"""Read your own data as a federation: tables, PyTorch data sets, folders of images, Hugging Face
and Flower.

The clients are the users in the data; without users, a :class:`fedlab_core.Dataset` is left to a
partition. Labels become 0 … C − 1; ``dataset.classes`` has the original ones, and ``fed.names[k]``
the name of client k.
"""

from fedlab_core.read.samples import hugging_face, image_folder, torch_dataset
from fedlab_core.read.tables import csv, frame

__all__ = ["csv", "frame", "hugging_face", "image_folder", "torch_dataset"]
