"""What a data set is."""

from dataclasses import dataclass

import numpy as np
import torch


class DatasetNotFound(FileNotFoundError):
    """A data set is not on disk. The message names the command that fetches it."""


@dataclass(frozen=True)
class Split:
    """Samples ``x`` [n, …] and their targets ``y`` [n] (int64 classes) or [n, …] (float, for regression)."""

    x: torch.Tensor
    y: torch.Tensor

    def __post_init__(self) -> None:
        if len(self.x) != len(self.y):
            raise ValueError(f"x and y must have the same length, got {len(self.x)} and {len(self.y)}")

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Dataset:
    """A named train/test pair.

    ``train.x`` is float32 ``[n, …]`` (images ``[n, channels, height, width]`` in [0, 1]) or int64 token ids
    ``[n, length]``.
    ``num_classes`` is None and ``classes`` empty for regression. ``users``: index arrays into ``train``, one for each
    natural client, or None.
    """

    name: str
    train: Split
    test: Split
    num_classes: int | None
    classes: tuple[str, ...] = ()
    users: list[np.ndarray] | None = None
