"""What a cohort sends back to the server."""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.one_page import average


@dataclass(frozen=True)
class LocalUpdates:
    """What a cohort of K clients sends back.

    ``clients`` int64 array [K]; ``params`` [K, P] the local parameters y_k; ``num_steps`` [K] τ_k, the SGD steps that
    each really took; ``num_samples`` [K] n_k. Tensors on the device of the run; counts have the dtype of ``params``.
    """

    clients: np.ndarray
    params: torch.Tensor
    num_steps: torch.Tensor
    num_samples: torch.Tensor

    def weighted_mean(self) -> torch.Tensor:
        """Σ n_k y_k / Σ n_k, a vector [P]."""
        return average(self.params, self.num_samples)
