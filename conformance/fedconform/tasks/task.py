"""The small problems of the conformance suite, as an adapter receives them.

Model and data are NumPy arrays, so that any framework can read them. PyTorch is imported only where
``model``, ``data`` or ``loss`` is called.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconform.tasks import problem

if TYPE_CHECKING:
    import torch
    from torch import nn

Vector = np.ndarray


@dataclass(frozen=True)
class Task:
    """One question to an implementation: which parameters w does this algorithm give after every
    round?

    ``algorithm``, such as "Scaffold", with ``parameters``, such as {"option": 2, "server_lr": 1.0};
    ``cohorts``: the clients of every round; ``x``, ``y``: the samples of each client, [n_k,
    features] and [n_k]; ``start``: w before round 1, [P]. A client trains from w for ``epochs``
    passes of plain SGD with rate ``lr``, in batches of ``batch_size`` (None: all samples) with the
    last short batch. Every pass takes the samples in the order in which they are stored;
    ``ordered``: the order changes the numbers. ``local_momentum`` is heavy ball from zero in every
    round. A parameter that is missing has its default, such as "penalty_step" the value "explicit".

    In a few tasks the rate differs from round to round, or the number of epochs from client to
    client: ``lr_of(i)`` and ``epochs_of(i, client)`` are those of cohort i, counted from 0. An
    adapter that does not call them is not asked for such tasks.

    "FedMas": tier k mod ``num_tiers`` has client k. Each cohort is of one tier and starts from the
    w of the tier before; asked for is w after every cohort. The client ``measured_by[i]`` measures
    the importance after cohort i.

    ``kind``: "quadratic" is f(x) = w x, "linear" f(x) = W x + b with 2 features, both with the loss
    mean ½ (f(x) − y)² and float y; "softmax" has 3 logits W x + b, integer y and mean
    cross-entropy; "slope" is "linear" with the loss mean −y f(x), whose gradient is the same
    everywhere; "batchnorm" is "linear" behind batch normalisation without parameters. w holds W row
    by row and then b, as ``torch.nn.Linear`` does.
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
    ordered: bool = False
    rates: tuple[float, ...] = ()  # of every cohort; empty: lr
    work: tuple[tuple[int, ...], ...] = ()  # the epochs of each client of a cohort; empty: epochs
    used: set[str] = field(default_factory=set, compare=False, repr=False)  # what was called

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

    @property
    def clients_per_round(self) -> int:
        """The size of all cohorts. Raises ``NotImplementedError`` where it changes."""
        sizes = {len(cohort) for cohort in self.cohorts}
        if len(sizes) > 1:
            raise NotImplementedError("all cohorts have one size in this implementation")
        return sizes.pop()

    def lr_of(self, cohort: int) -> float:
        """η in the cohort with this number, from 0."""
        self.used.add("lr_of")
        return self.rates[cohort] if self.rates else self.lr

    def epochs_of(self, cohort: int, client: int) -> int:
        """The epochs of a client in the cohort with this number, from 0."""
        self.used.add("epochs_of")
        if not self.work:
            return self.epochs
        return self.work[cohort][self.cohorts[cohort].index(client)]

    def loss_at(self, w: Any, x: Any, y: Any, xp: ModuleType = np) -> Any:
        """The mean loss of the samples x [n, features], y [n] at w [P].

        ``xp``: the array module of all three, such as ``jax.numpy``.
        """
        self.used.add("problem")
        return problem.loss(self.kind, w, x, y, xp)

    def gradient_at(self, w: Vector, x: np.ndarray, y: np.ndarray) -> Vector:
        """The gradient of ``loss_at`` with respect to w [P], in NumPy."""
        self.used.add("problem")
        return problem.gradient(self.kind, w, x, y)

    def model(self, dtype: torch.dtype | None = None) -> nn.Module:
        """A new PyTorch model that holds ``start``; of the precision of ``start`` by default."""
        import torch
        from torch import nn

        self.used.add("problem")
        start = torch.tensor(self.start, dtype=dtype)
        kind = problem.OF_KIND[self.kind]
        features = self.x[0].shape[1]
        linear = nn.Linear(features, kind.outputs, bias=kind.bias, dtype=start.dtype)
        model: nn.Module = linear
        if kind.normalised:
            normalise = nn.BatchNorm1d(features, affine=False, dtype=start.dtype)
            model = nn.Sequential(normalise, linear)
        nn.utils.vector_to_parameters(start, model.parameters())
        return model

    def loss(self, output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The mean loss of a batch in PyTorch, for the output of ``model``."""
        from torch import nn

        self.used.add("problem")
        if self.kind == "softmax":
            return nn.functional.cross_entropy(output, target)
        if self.kind == "slope":
            return -(output.squeeze(-1) * target).mean()
        return (output.squeeze(-1) - target).square().mean() / 2

    def data(
        self, client: int, dtype: torch.dtype | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The samples x and y of one client as PyTorch tensors."""
        import torch

        x = torch.tensor(self.x[client], dtype=dtype)
        y = torch.tensor(self.y[client])
        return x, y if self.kind == "softmax" else y.to(x.dtype)

    def copy(self) -> Task:
        """The same task with arrays of its own."""
        return replace(
            self,
            x=tuple(x.copy() for x in self.x),
            y=tuple(y.copy() for y in self.y),
            start=self.start.copy(),
            parameters=dict(self.parameters),
            used=set(),
        )
