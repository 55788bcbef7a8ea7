"""A data set dealt out over clients."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.heterogeneity import Heterogeneity, measure_heterogeneity


class FederatedDataset:
    """``dataset.train`` seen through ``parts``: client k holds the samples ``parts[k]``.

    The samples stay in one tensor ``x`` [n, …] (targets ``y``); a client is a run of ``indices`` [Σ n_k] from
    ``offsets[k]`` to ``offsets[k + 1]``. Clients may overlap (shared data) and may leave samples out; none is empty.

    Raises ``ValueError`` for an empty client, an index outside the data, or a label outside 0 … num_classes − 1.
    """

    def __init__(self, dataset: Dataset, parts: Sequence[np.ndarray]) -> None:
        self.dataset = dataset
        self.parts = [np.asarray(part, dtype=np.int64) for part in parts]
        self.recipe: dict[str, Any] = dict(getattr(parts, "recipe", None) or {"law": "given"})
        self._check()
        self.sizes = np.array([len(part) for part in self.parts], dtype=np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        self.indices = np.concatenate(self.parts)

    @classmethod
    def from_clients(cls, clients: Sequence[tuple[Any, Any]], test: tuple[Any, Any], name: str = "custom") -> Self:
        """One ``(x_k, y_k)`` per client, dtypes kept: integer targets are classes, float targets are regression."""
        if not clients:
            raise ValueError("clients=[]: must hold at least one (x, y)")
        pairs = [(torch.as_tensor(x), torch.as_tensor(y)) for x, y in clients]
        for k, (x, y) in enumerate(pairs):
            if len(x) != len(y):
                raise ValueError(f"clients[{k}]: x has {len(x)} samples but y has {len(y)}")
        train = Split(torch.cat([x for x, _ in pairs]), _targets(torch.cat([y for _, y in pairs])))
        held_out = Split(torch.as_tensor(test[0]), _targets(torch.as_tensor(test[1])))
        num_classes = None
        if not train.y.is_floating_point():
            if len(held_out) and held_out.y.is_floating_point():
                raise ValueError("test: targets are floats but the clients' targets are integers")
            num_classes = int(max(y.max() for y in (train.y, held_out.y) if len(y))) + 1
        classes = tuple(str(c) for c in range(num_classes or 0))
        bounds = np.cumsum([0] + [len(y) for _, y in pairs])
        parts = [np.arange(start, stop) for start, stop in pairwise(bounds)]
        return cls(Dataset(name, train, held_out, num_classes, classes), parts)

    def _check(self) -> None:
        if not self.parts:
            raise ValueError("parts=[]: must hold at least one client")
        size = len(self.y)
        for k, part in enumerate(self.parts):
            if part.ndim != 1 or len(part) == 0:
                raise ValueError(f"parts[{k}]: client {k} is empty; give every client at least one sample (min_size=1)")
            if part.min() < 0 or part.max() >= size:
                raise ValueError(f"parts[{k}]: indices must lie in 0 … {size - 1}, got {part.min()} … {part.max()}")
        if self.num_classes is not None:
            for where, y in (("train", self.y), ("test", self.test.y)):
                if len(y) and (int(y.min()) < 0 or int(y.max()) >= self.num_classes):
                    raise ValueError(
                        f"{where} labels must lie in 0 … {self.num_classes - 1}, got {int(y.min())} … {int(y.max())}"
                    )

    @property
    def x(self) -> torch.Tensor:
        return self.dataset.train.x

    @property
    def y(self) -> torch.Tensor:
        return self.dataset.train.y

    @property
    def test(self) -> Split:
        return self.dataset.test

    @property
    def num_classes(self) -> int | None:
        """Number of classes, None for regression."""
        return self.dataset.num_classes

    @property
    def num_clients(self) -> int:
        return len(self.parts)

    @property
    def weights(self) -> np.ndarray:
        """Sample weights ρ_k = n_k / Σ n, float64 [N]."""
        return self.sizes / self.sizes.sum()

    @property
    def dtype(self) -> torch.dtype:
        """The floating dtype a model for these data should have."""
        return self.x.dtype if self.x.is_floating_point() else torch.float32

    def client(self, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Client k's samples and targets."""
        index = torch.from_numpy(self.parts[k])
        return self.x[index], self.y[index]

    def heterogeneity(self) -> Heterogeneity:
        """Per client: size, label mix, EMD and Jensen–Shannon distance to the global mix; and the totals."""
        if self.num_classes is None:
            raise ValueError("heterogeneity() needs class labels; these targets are floats (regression)")
        return measure_heterogeneity(self.y.numpy(), self.parts, self.num_classes, self.dataset.classes)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every sample, target and part: two federations with the same digest are the same."""
        digest = hashlib.sha256()
        for tensor in (self.x, self.y, self.test.x, self.test.y):
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).data)
        digest.update(self.offsets.tobytes() + self.indices.tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return f"FederatedDataset({self.dataset.name}, {self.num_clients} clients, {int(self.sizes.sum())} samples)"


def _targets(y: torch.Tensor) -> torch.Tensor:
    return y if y.is_floating_point() else y.to(torch.int64)
