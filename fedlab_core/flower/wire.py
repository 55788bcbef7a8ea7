"""Questions and answers as Flower's records.

Vectors travel as arrays, everything else as named numbers and texts.
"""

from collections.abc import Mapping

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fedlab_core.remote import Answer, Vectors


def pack(vectors: Vectors, values: Mapping[str, object]) -> RecordDict:
    """A message with ``vectors`` and ``values``; a value of None is left out."""
    arrays = {name: Array(vector.detach().cpu().numpy()) for name, vector in vectors.items()}
    given = {name: value for name, value in values.items() if value is not None}
    return RecordDict({"vectors": ArrayRecord(arrays), "values": ConfigRecord(given)})


def unpack(record: RecordDict) -> Answer:
    """The vectors and the values of a message."""
    vectors = {}
    for name, array in record["vectors"].items():
        vectors[name] = torch.from_numpy(np.array(array.numpy()))
    return vectors, dict(record["values"])


def size(record: RecordDict) -> int:
    """The bytes of the arrays in a message."""
    return sum(len(array.data) for array in record["vectors"].values())
