"""The updates that a cohort sends to the server."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from fedlab_core.one_page import average

_DISTANCE_VALUES = 200_000
WITHOUT_FLOAT64 = ("mps",)  # types of device


@dataclass(frozen=True)
class LocalUpdates:
    """The updates of a cohort of K clients.

    ``clients`` int64 array [K]; ``params`` [K, P] the local parameters y_k; ``num_steps`` [K] τ_k,
    the SGD steps that each client took; ``num_samples`` [K] n_k; ``received`` [P] the global
    parameters w at the start. Tensors are on the device of the run; counts have the dtype of
    ``params``.
    """

    clients: np.ndarray
    params: torch.Tensor
    num_steps: torch.Tensor
    num_samples: torch.Tensor
    received: torch.Tensor

    def weighted_mean(self, weights: torch.Tensor | None = None) -> torch.Tensor:
        """Σ a_k y_k / Σ a_k, a vector [P]; the default of ``weights`` a_k [K] is n_k."""
        return average(self.params, self.num_samples if weights is None else weights)

    def mean(self) -> torch.Tensor:
        """Σ y_k / K, a vector [P]."""
        return self.weighted_mean(torch.ones_like(self.num_samples))

    @cached_property
    def distances(self) -> torch.Tensor:
        """‖y_k − w‖₂ [K], a few at a time: a large temporary table takes longer than the sums."""
        few = max(1, _DISTANCE_VALUES // len(self.received))
        parts = self.params.split(few)
        return torch.cat([torch.linalg.vector_norm(part - self.received, dim=1) for part in parts])


def widened(numbers: torch.Tensor) -> torch.Tensor:
    """Convert ``numbers`` to float64, or to float32 on a device without float64."""
    return numbers.to(torch.float32 if numbers.device.type in WITHOUT_FLOAT64 else torch.float64)
