"""A data set that is divided among clients."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Self, TypeAlias

import numpy as np
import torch

from fedlab_core.aliases import Column, Config
from fedlab_core.data.dataset import Dataset, Split, as_tensor, describe
from fedlab_core.data.heterogeneity import Heterogeneity, measure_heterogeneity
from fedlab_core.data.partition.parts import join_parts

_MAX_UNSEEN_CLASSES = 10_000  # up to here there may be more classes than samples: a vocabulary

# samples and targets of a client: tensors, arrays or nested lists
Pair: TypeAlias = tuple[Column, Column]


class FederatedDataset:
    """Clients with data: client k holds the samples ``parts[k]`` of ``dataset.train``.

    ``x`` [n, …] and ``y`` are all training samples and targets, of which client k has
    ``indices[offsets[k]:offsets[k + 1]]``. Clients may overlap and may leave samples out. Do not
    change data or parts afterwards: runs are recorded under the ``fingerprint``, which is computed
    once. ``sizes`` n_k, int64 [N]; ``weights`` ρ_k = n_k/Σ n, float64 [N]; ``num_classes``, None
    for regression; ``test``, a ``Split``; ``dtype`` for a model; ``names`` of the clients, possibly
    empty; ``bytes_received``, the bytes of shared data sent to clients.

    Raises ``ValueError`` for an empty client, parts that are not indices into the data, a label
    outside 0 … num_classes − 1, or samples or targets that are not finite.
    """

    def __init__(self, dataset: Dataset, parts: Sequence[Column]) -> None:
        if not isinstance(dataset, Dataset):
            raise ValueError(
                "dataset: must be a Dataset(name, train, test, num_classes), got "
                f"{type(dataset).__name__}; FederatedDataset.from_clients takes tensors"
            )
        self.dataset = dataset
        self.num_classes = dataset.num_classes
        self.test = dataset.test
        self.x = dataset.train.x
        self.y = dataset.train.y
        self.dtype = self.x.dtype if self.x.is_floating_point() else torch.float32
        self.recipe: Config = dict(getattr(parts, "recipe", None) or {"law": "given"})
        self.names: tuple[str, ...] = getattr(parts, "names", ())
        received: int = getattr(parts, "received", 0)
        self.bytes_received = received * sum(t[:1].nbytes for t in (self.x, self.y))
        self.parts, self.sizes, self.indices = join_parts("parts", parts, len(dataset.train))
        self.num_clients = len(self.parts)
        self.weights = self.sizes / self.sizes.sum()
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)])
        self._check_values()

    @classmethod
    def from_clients(cls, clients: Sequence[Pair], test: Pair, name: str = "custom") -> Self:
        """Build a federation from one ``(x_k, y_k)`` per client: tensors, arrays or lists; dtypes
        are kept.

        Integer targets are classes, counted from 0 to the highest label; float targets are
        regression. Raises ``ValueError`` for pairs that do not match each other or ``test``, for
        more classes than samples if that is over 10,000, and for everything that
        ``FederatedDataset`` refuses.
        """
        if len(clients) == 0:
            raise ValueError("clients=[]: must hold at least one (x, y)")
        splits = [_split(f"clients[{k}]", client) for k, client in enumerate(clients)]
        x = _join("x", [split.x for split in splits])
        train = Split(x, _join("y", [split.y for split in splits]))
        held_out = _split("test", test)
        num_classes = None if train.y.is_floating_point() else _count_classes(train.y, held_out.y)
        classes = tuple(str(c) for c in range(num_classes or 0))
        bounds = np.cumsum([len(split) for split in splits])
        parts = np.split(np.arange(bounds[-1]), bounds[:-1])
        return cls(Dataset(name, train, held_out, num_classes, classes), parts)

    def _check_values(self) -> None:
        for where, split in (("train", self.dataset.train), ("test", self.test)):
            if not len(split):
                continue
            for name, tensor in (("x", split.x), ("y", split.y)):
                if tensor.is_floating_point() and not _is_finite(tensor):
                    raise ValueError(
                        f"{where}.{name}: holds values that are not finite (NaN or inf)"
                    )
            if self.num_classes is not None:
                low, high = (int(bound) for bound in split.y.aminmax())
                if low < 0 or high >= self.num_classes:
                    raise ValueError(
                        f"{where} labels must lie in 0 … {self.num_classes - 1}, got {low} … {high}"
                    )

    def client(self, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the samples and targets of client k."""
        index = torch.from_numpy(self.parts[k])
        return self.x[index], self.y[index]

    def heterogeneity(self) -> Heterogeneity:
        """Measure size and label mix of each client, and the distance to the global mix.

        Distances are EMD and Jensen–Shannon, per client and in total.
        """
        if self.num_classes is None:
            raise ValueError(
                "heterogeneity() needs class labels; these targets are floats (regression)"
            )
        labels = self.y.numpy()[self.indices]
        return measure_heterogeneity(labels, self.sizes, self.num_classes, self.dataset.classes)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every sample, target and part: federations with equal digests are equal."""
        digest = hashlib.sha256()
        for tensor in (self.x, self.y, self.test.x, self.test.y):
            digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
            digest.update(np.ascontiguousarray(tensor.detach().cpu().numpy()).data)
        digest.update(self.offsets.tobytes() + self.indices.tobytes())
        return digest.hexdigest()[:16]

    def __repr__(self) -> str:
        return (
            f"FederatedDataset({self.dataset.name}, {self.num_clients} clients, "
            f"{int(self.sizes.sum())} samples)"
        )


def _is_finite(tensor: torch.Tensor) -> bool:
    """Whether all numbers are finite; its two bounds show it without a copy."""
    return all(torch.isfinite(bound) for bound in tensor.aminmax())


def _split(name: str, pair: Pair) -> Split:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        raise ValueError(f"{name}: must be a pair (x, y), got {type(pair).__name__}")
    try:
        x, y = pair
        return Split(as_tensor("x", x), as_tensor("y", y))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _join(what: str, tensors: list[torch.Tensor]) -> torch.Tensor:
    kinds = [(tensor.is_floating_point(), tensor.device, tensor.shape[1:]) for tensor in tensors]
    if len(set(kinds)) == 1:
        return torch.cat(tensors)
    k = next(k for k, kind in enumerate(kinds) if kind != kinds[0])
    here = describe(tensors[k])
    first = describe(tensors[0])
    raise ValueError(f"clients[{k}]: {what} is {here}, but that of clients[0] is {first}")


def _count_classes(*labels: torch.Tensor) -> int:
    """Return the highest label + 1. Refuse labels so high that they cannot be class numbers."""
    classes = [y for y in labels if y.numel() and not y.is_floating_point()]
    highest = max((int(y.max()) for y in classes), default=-1)
    samples = sum(map(len, labels))
    if highest >= max(samples, _MAX_UNSEEN_CLASSES):
        raise ValueError(
            f"y: the label {highest} would make {highest + 1} classes of {samples} samples; number "
            "the classes from 0, for example with np.unique(y, return_inverse=True)[1]"
        )
    return highest + 1
