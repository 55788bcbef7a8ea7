"""The data set of a training: samples and targets, for training and for test."""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.aliases import Column


class DatasetNotFound(FileNotFoundError):
    """A data set is not on disk. The message names the command that fetches it."""


@dataclass(frozen=True)
class Split:
    """Samples ``x`` [n, …] and their targets ``y``: classes, int64 [n], or for regression floats
    [n, …].

    Arrays and lists become tensors, and integer targets int64; otherwise the dtype is kept. Memory
    may be shared with the arguments: do not write to them afterwards. Raises ``ValueError`` for
    other types and for different lengths.
    """

    x: torch.Tensor
    y: torch.Tensor

    def __post_init__(self) -> None:
        x = as_tensor("x", self.x)
        y = as_tensor("y", self.y)
        if len(x) != len(y):
            raise ValueError(f"x and y must have the same length, got {len(x)} and {len(y)}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y if y.is_floating_point() else y.to(torch.int64))

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Dataset:
    """Training and test samples under one name.

    ``train.x`` is float32 ``[n, …]`` (images ``[n, channels, height, width]`` in [0, 1]) or int64
    token ids ``[n, length]``. For regression ``num_classes`` is None and ``classes`` empty.
    ``users``: one index array into ``train`` for each natural client, or None.

    Raises ``ValueError`` if ``train`` and ``test`` differ in kind or shape, or classes are not
    integers of shape [n].
    """

    name: str
    train: Split
    test: Split
    num_classes: int | None
    classes: tuple[str, ...] = ()
    users: list[np.ndarray] | None = None

    def __post_init__(self) -> None:
        for where, split in (("train", self.train), ("test", self.test)):
            if not isinstance(split, Split):
                raise ValueError(f"{where}: must be a Split(x, y), got {type(split).__name__}")
            y = split.y
            if self.num_classes is not None and len(y) and (y.is_floating_point() or y.ndim != 1):
                wrong = f"{where}.y: class labels must be integers of shape [n], got {describe(y)}"
                raise ValueError(
                    f"{wrong}; for regression leave num_classes at None and give float targets"
                )
        if len(self.test):
            _check_alike("x", self.train.x, self.test.x)
            _check_alike("y", self.train.y, self.test.y)


def as_tensor(name: str, values: Column) -> torch.Tensor:
    """Convert a tensor, an array or a nested list of numbers to a tensor [n, …].

    Raises ``ValueError`` for anything else.
    """
    if isinstance(values, torch.Tensor):
        tensor = values.detach() if values.requires_grad else values
    elif isinstance(values, list | tuple) or hasattr(values, "__array__"):
        try:
            if hasattr(values, "__array__"):
                values = np.require(values, None, ["C", "W"])
            tensor = torch.as_tensor(values)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{name}: cannot be made a tensor ({error})") from error
    else:
        raise ValueError(
            f"{name}: must be a tensor or an array [n, …], got {type(values).__name__}; from a "
            "PyTorch data set of pairs: x = torch.stack([x for x, _ in data]), y = torch.tensor([y "
            "for _, y in data])"
        )
    if tensor.ndim == 0:
        raise ValueError(f"{name}: must have one entry per sample [n, …], got a single number")
    if tensor.is_complex() or np.ma.is_masked(values):
        raise ValueError(
            f"{name}: has complex or masked values; must have real numbers, none of them masked"
        )
    return tensor


def _check_alike(name: str, train: torch.Tensor, test: torch.Tensor) -> None:
    is_same_kind = train.is_floating_point() == test.is_floating_point()
    if name == "x":
        is_same_kind = train.dtype == test.dtype
    if not is_same_kind or train.shape[1:] != test.shape[1:]:
        raise ValueError(
            f"test.{name}: {describe(test)} does not go with train.{name}, {describe(train)}"
        )


def describe(tensor: torch.Tensor) -> str:
    """Write dtype and shape for messages."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    shape = ", ".join(["n", *map(str, tensor.shape[1:])])
    return f"{dtype} [{shape}]"
