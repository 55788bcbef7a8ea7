"""What travels between server and clients.

Vectors travel as arrays, everything else as named numbers and texts.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import TypeAlias

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fedlab_core.aliases import Keywords
from fedlab_core.correction import Correction
from fedlab_core.engines.work import Work

Vectors: TypeAlias = Mapping[str, torch.Tensor]
Values: TypeAlias = Keywords  # numbers and texts by name
Answer: TypeAlias = tuple[Vectors, Values]
# work has the amount
_CORRECTION = [field.name for field in fields(Correction) if field.name != "amount"]
_WORK = ("unit", "batch_size", "lr", "round", "seed", "stream")


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


def pack_work(params: torch.Tensor, work: Work, place: int, correction: Correction) -> RecordDict:
    """The training of the client at ``place`` in ``work``. Vectors that are w are sent once."""
    vectors = {"w": params}
    values: Values = {name: getattr(work, name) for name in _WORK}
    values["kind"] = "train"
    values["amount"] = int(work.amount[place])
    for name in _CORRECTION:
        value = getattr(correction, name)
        if value is params:
            values[name] = "w"
        elif isinstance(value, torch.Tensor) and value.ndim:
            vectors[name] = value
        else:
            values[name] = float(value) if isinstance(value, torch.Tensor) else value
    return pack(vectors, values)


def unpack_work(
    client: int, vectors: Vectors, values: Values
) -> tuple[torch.Tensor, Work, Correction]:
    """The parameters w, the work and the correction that :func:`pack_work` packed."""
    w = vectors["w"]
    correction: Keywords = {}
    for name, value in {**values, **vectors}.items():
        if name in _CORRECTION:
            correction[name] = w if isinstance(value, str) else value
    settings: Keywords = {name: values.get(name) for name in _WORK}
    work = Work(clients=np.array([client]), amount=np.array([values["amount"]]), **settings)
    return w, work, Correction(**correction)
