"""The small problems of the conformance suite, as an adapter receives them.

Model and data are NumPy arrays, so that any framework can read them; ``model`` and ``loss`` are PyTorch's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn

Vector = np.ndarray
KINDS = ("quadratic", "linear", "softmax")
_CLASSES, _FEATURES = 3, 2


@dataclass(frozen=True)
class Task:
    """One question to an implementation: which parameters w does this algorithm give after every round?

    ``algorithm``, such as "Scaffold", with ``parameters``, such as {"option": 2, "server_lr": 1.0};
    ``cohorts``: the clients of every round; ``x``, ``y``: the samples of each client, [n_k, features] and [n_k];
    ``start``: w before round 1, [P]. A client trains from w for ``epochs`` passes of plain SGD with rate ``lr``, in
    batches of ``batch_size`` (None: all samples) with the last short batch; ``local_momentum`` is heavy ball from zero
    in every round. The samples of a client are equal wherever it has several batches, so that their order is free.

    ``kind``: "quadratic" is f(x) = w x, "linear" f(x) = W x + b with 2 features, both with the loss
    mean ½ (f(x) − y)² and float y; "softmax" has 3 logits W x + b, integer y and mean cross-entropy. w holds W row by
    row and then b, as ``torch.nn.Linear`` does.
    """

    algorithm: str
    kind: str
    setting: str
    x: tuple[np.ndarray, ...]
    y: tuple[np.ndarray, ...]
    start: Vector
    cohorts: tuple[tuple[int, ...], ...]
    epochs: int
    batch_size: int | None
    lr: float = 0.1
    local_momentum: float = 0.0
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def num_clients(self) -> int:
        return len(self.x)

    @property
    def sizes(self) -> list[int]:
        """n_k of every client."""
        return [len(y) for y in self.y]

    @property
    def steps(self) -> list[int]:
        """τ_k = epochs · ⌈n_k / batch_size⌉ of every client."""
        return [self.epochs * math.ceil(n / (self.batch_size or n)) for n in self.sizes]

    def model(self, dtype: torch.dtype = torch.float64) -> nn.Linear:
        """A new PyTorch model that holds ``start``."""
        outputs = _CLASSES if self.kind == "softmax" else 1
        model = nn.Linear(self.x[0].shape[1], outputs, bias=self.kind != "quadratic", dtype=dtype)
        nn.utils.vector_to_parameters(torch.tensor(self.start, dtype=dtype), model.parameters())
        return model

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The mean loss of a batch, for the output of ``model``."""
        if self.kind == "softmax":
            return nn.functional.cross_entropy(output, target)
        return (output.squeeze(-1) - target).square().mean() / 2

    def data(self, client: int, dtype: torch.dtype = torch.float64) -> tuple[torch.Tensor, torch.Tensor]:
        """The samples x and y of one client as tensors."""
        y = torch.tensor(self.y[client])
        return torch.tensor(self.x[client], dtype=dtype), y if self.kind == "softmax" else y.to(dtype)


@dataclass(frozen=True)
class Setting:
    """``name``; ``sizes`` n_k; ``cohorts``; whether all samples of a client are equal (``copies``)."""

    name: str
    sizes: tuple[int, ...]
    cohorts: tuple[tuple[int, ...], ...]
    copies: bool = False


_ALL = ((0, 1, 2),) * 3
SETTINGS = (
    Setting("equal clients", (3, 3, 3), _ALL),
    Setting("unequal n_k", (2, 3, 7), _ALL),
    Setting("unequal steps", (1, 3, 6), _ALL, copies=True),
    Setting("partial participation", (1, 3, 6, 2, 4), ((0, 1), (1, 3), (0, 2), (4, 1), (3, 2), (0, 4)), copies=True),
)


def make(algorithm: str, kind: str, setting: Setting, parameters: Mapping[str, Any]) -> Task:
    """The task of one kind in one setting; always the same numbers.

    The curvatures of "quadratic" lie between 0.5 and 3.
    """
    rng = np.random.default_rng([KINDS.index(kind), len(setting.sizes), setting.copies])
    features = 1 if kind == "quadratic" else _FEATURES
    x, y = [], []
    for client, n in enumerate(setting.sizes):
        shape = 1 if setting.copies else n
        inputs = rng.normal(size=(shape, features))
        if kind == "quadratic":
            inputs = rng.uniform(0.7, 1.7, size=(shape, 1))
        targets = (np.arange(shape) + client) % _CLASSES if kind == "softmax" else rng.normal(client, 1.0, size=shape)
        x.append(np.repeat(inputs, n // shape, axis=0))
        y.append(np.repeat(targets, n // shape, axis=0))
    size = {"quadratic": 1, "linear": features + 1, "softmax": _CLASSES * (features + 1)}[kind]
    options = dict(parameters)
    momentum = options.pop("local_momentum", 0.0)
    return Task(
        algorithm=algorithm,
        kind=kind,
        setting=setting.name,
        x=tuple(x),
        y=tuple(y),
        start=rng.normal(size=size),
        cohorts=setting.cohorts,
        epochs=2 if setting.copies else 3,
        batch_size=2 if setting.copies else None,
        local_momentum=momentum,
        parameters=options,
    )
