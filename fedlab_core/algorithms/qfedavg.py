"""q-FedAvg: clients with a large loss get more weight, which makes accuracy more even between
clients.

Li, Sanjabi et al.: Fair Resource Allocation in Federated Learning, ICLR 2020, algorithm 2, which
minimises Σ_k F_k^(q+1) / (q + 1).

    d_k = L (w − y_k),    L = 1/η                           y_k after the local steps of FedAvg
    Δ_k = F_k^q d_k
    h_k = q F_k^(q−1) ‖d_k‖² + L F_k^q
    w ← w − Σ_S Δ_k / Σ_S h_k

F_k mean loss of client k on all its samples at the w that was sent, η the rate of the round, q ≥ 0.
q = 0 is the unweighted mean of the y_k. P numbers down and P + 1 up (Δ_k, h_k) per client.

Deviations. The paper samples clients with probability n_k / n; here sampling is uniform. A loss
below 10⁻¹⁰ counts as 10⁻¹⁰, because 0^(q−1) has no value (the authors' code adds 10⁻¹⁰ to every
loss); a negative loss is refused.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Server
from fedlab_core.clients.updates import widened
from fedlab_core.validation import NotNegative

SMALLEST_LOSS = 1e-10


@dataclass(frozen=True)
class QFedAvg(Algorithm):
    """q-FedAvg with fairness q ≥ 0.

    Raises ``ValueError`` in a round in which a client's loss is negative.
    """

    needs = "each"
    q: NotNegative

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        losses = widened(server.losses(updates.clients))
        if (losses < 0).any():
            raise ValueError(
                f"loss: is {losses.min():g} for a client; must be ≥ 0, because q-FedAvg takes "
                "powers"
            )
        losses = losses.clamp_min(SMALLEST_LOSS)
        lipschitz = 1 / server.lr
        powers = (losses / losses.max()) ** self.q  # F_k^q, less a common factor that cancels
        mean = updates.weighted_mean(powers.to(server.params))  # Σ F_k^q y_k / Σ F_k^q
        squares = (lipschitz * widened(updates.distances)) ** 2
        h = self.q * powers / losses * squares + lipschitz * powers
        step = (lipschitz * powers.sum() / h.sum()).to(server.params)
        return server.params - step * (server.params - mean)

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return len(cohort) * server.num_parameters, len(cohort) * (server.num_parameters + 1)
