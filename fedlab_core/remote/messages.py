"""What travels between server and clients: named vectors, and named numbers and texts."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TypeAlias

import numpy as np
import torch

from fedlab_core.aliases import Keywords
from fedlab_core.correction import Correction
from fedlab_core.engines.work import Work

Vectors: TypeAlias = Mapping[str, torch.Tensor]
Values: TypeAlias = Keywords  # numbers and texts by name
Answer: TypeAlias = tuple[Vectors, Values]  # a question has the same form
# work has the amount
_CORRECTION = [field.name for field in fields(Correction) if field.name != "amount"]
_WORK = ("unit", "batch_size", "lr", "round", "seed", "stream")


def work_message(params: torch.Tensor, work: Work, place: int, correction: Correction) -> Answer:
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
    return vectors, values


def correction_of(vectors: Vectors, values: Values) -> Correction:
    """The correction in a message of :func:`work_message`."""
    correction: Keywords = {}
    for name, value in {**values, **vectors}.items():
        if name in _CORRECTION:
            correction[name] = vectors["w"] if isinstance(value, str) else value
    return Correction(**correction)


def work_of(client: int, values: Values) -> Work:
    """The work of ``client`` in a message of :func:`work_message`."""
    settings: Keywords = {name: values.get(name) for name in _WORK}
    return Work(clients=np.array([client]), amount=np.array([values["amount"]]), **settings)
