"""MimeLite: local steps use the server's momentum, which stays fixed during the round.

Karimireddy, Jaggi et al.: Breaking the Centralized Barrier for Cross-Device Federated Learning,
NeurIPS 2021, algorithm 1 (MimeLite) with the base optimiser SGD with momentum.

    m = 0 at the start
    y_k ← y_k − η ((1 − β) ∇F_k(y_k; batch) + β m)          local steps from y_k = w
    m ← (1 − β) mean_S ∇F_k(w) + β m                        full-batch gradients at the w sent
    w ← mean_S y_k                                          unweighted

m [P] the server's momentum, β its decay. As a local step: scale 1 − β, offset β m / (1 − β). 2P
numbers down (w, m) and 2P up (y_k, ∇F_k(w)) per client. Local momentum is refused, because MimeLite
replaces it.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import (
    Algorithm,
    Correction,
    FederatedDataset,
    LocalUpdates,
    Server,
    Settings,
)
from fedlab_core.validation import BelowOne


@dataclass(frozen=True)
class MimeLite(Algorithm):
    """MimeLite with momentum β in [0, 1).

    State: ``momentum`` m [P] and ``offset`` β m / (1 − β) [P].
    """

    needs = "each"
    beta: BelowOne

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        if settings.local_momentum:
            raise ValueError(
                f"local_momentum={settings.local_momentum}: must be 0, because MimeLite has its own"
            )

    def setup(self, server: Server) -> None:
        server.state["momentum"] = server.state["offset"] = torch.zeros_like(server.params)

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(offset=server.state["offset"], scale=1 - self.beta)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        gradient = server.gradients(updates.clients).sum(0) / len(updates.clients)
        momentum = (1 - self.beta) * gradient + self.beta * server.state["momentum"]
        # the same tensor for all clients of a cohort, so that the engine stores it once
        server.state |= {"momentum": momentum, "offset": self.beta / (1 - self.beta) * momentum}
        return updates.mean()

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return 2 * len(cohort) * server.num_parameters, 2 * len(cohort) * server.num_parameters
