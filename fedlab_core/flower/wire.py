"""What travels between server and clients: vectors as arrays, everything else as named numbers and texts."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fedlab_core.correction import Correction
from fedlab_core.engines.work import Work

Vectors = Mapping[str, torch.Tensor]
_CORRECTION = [field.name for field in fields(Correction) if field.name != "amount"]  # work has the amount
_WORK = ("unit", "batch_size", "lr", "round", "seed", "stream")


def pack(vectors: Vectors, values: Mapping[str, Any]) -> RecordDict:
    """A message with ``vectors`` and ``values``; a value of None is left out."""
    arrays = {name: Array(vector.detach().cpu().numpy()) for name, vector in vectors.items()}
    given = {name: value for name, value in values.items() if value is not None}
    return RecordDict({"vectors": ArrayRecord(arrays), "values": ConfigRecord(given)})


def unpack(record: RecordDict) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The vectors and the values of a message."""
    arrays = {name: torch.from_numpy(np.array(array.numpy())) for name, array in record["vectors"].items()}
    return arrays, dict(record["values"])


def size(record: RecordDict) -> int:
    """The bytes of the arrays in a message."""
    return sum(len(array.data) for array in record["vectors"].values())


def pack_work(params: torch.Tensor, work: Work, place: int, correction: Correction) -> RecordDict:
    """The training of the client at ``place`` in ``work``. Vectors that are w itself are sent once."""
    vectors, values = {"w": params}, {name: getattr(work, name) for name in _WORK}
    values |= {"kind": "train", "amount": int(work.amount[place])}
    for name in _CORRECTION:
        value = getattr(correction, name)
        if value is params:
            values[name] = "w"
        elif isinstance(value, torch.Tensor) and value.ndim:
            vectors[name] = value
        else:
            values[name] = float(value) if isinstance(value, torch.Tensor) else value
    return pack(vectors, values)


def unpack_work(client: int, vectors: Vectors, values: Mapping[str, Any]) -> tuple[torch.Tensor, Work, Correction]:
    """The parameters w, the work and the correction that :func:`pack_work` packed."""
    found: dict[str, Any] = {name: value for name, value in {**values, **vectors}.items() if name in _CORRECTION}
    given: dict[str, Any] = {n: vectors["w"] if isinstance(value, str) else value for n, value in found.items()}
    settings = {name: values.get(name) for name in _WORK}
    work = Work(clients=np.array([client]), amount=np.array([values["amount"]]), **settings)  # type: ignore[arg-type]
    return vectors["w"], work, Correction(**given)
