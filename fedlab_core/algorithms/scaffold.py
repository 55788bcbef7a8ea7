"""SCAFFOLD: control variates that correct client drift.

Karimireddy, Kale et al.: SCAFFOLD: Stochastic Controlled Averaging for Federated Learning, ICML
2020, algorithm 1; [000], [003].

    c = c_k = 0 at the start
    y_k ← y_k − η (∇F_k(y_k; batch) − c_k + c)        τ_k local steps from y_k = w
    option 1:  c_k⁺ = ∇F_k(w)                         one extra full pass
    option 2:  c_k⁺ = c_k − c + (w − y_k) / (τ_k η)   the mean of the raw local gradients
    w ← w + η_g mean_S (y_k − w)                      unweighted
    c ← c + Σ_S (c_k⁺ − c_k) / N                      control_update="all"
    c ← c + Σ_S (c_k⁺ − c_k) / |S|                    control_update="cohort", as in [000], [003]

c server and c_k client control variates [P], η_g server rate. 2P numbers down (w, c) and 2P up (Δw,
Δc) per client.

Deviations. With "all", c is the mean of c_k over all N clients after every round; with "cohort" and
constant |S| it is (N/|S|) times that mean. Option 2 refuses local momentum: w − y_k is then no sum
of gradients with equal weights.
"""

from dataclasses import dataclass
from typing import Literal

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
from fedlab_core.validation import Positive


@dataclass(frozen=True)
class Scaffold(Algorithm):
    """SCAFFOLD with server rate η_g > 0, option 1 or 2, control update "all" or "cohort".

    State: ``c`` [P] and ``c_clients`` [N, P].
    """

    title = "SCAFFOLD"
    server_lr: Positive = 1.0
    option: Literal[1, 2] = 2
    control_update: Literal["all", "cohort"] = "all"

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        if self.option == 2 and settings.local_momentum:
            raise ValueError(
                f"option=2: with local_momentum={settings.local_momentum}, (w − y_k) / (τ_k η) is "
                "not the mean of the local gradients; use option=1"
            )

    def setup(self, server: Server) -> None:
        server.state["c"] = torch.zeros_like(server.params)
        server.state["c_clients"] = server.client_table()

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(offset=server.state["c"] - server.state["c_clients"].view(client))

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        change = self._update_client_controls(server, updates)  # Σ_S (c_k⁺ − c_k)
        size = server.num_clients if self.control_update == "all" else len(updates.clients)
        server.state["c"] = server.state["c"] + change / size
        return server.params + self.server_lr * (updates.mean() - server.params)

    def _update_client_controls(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Replace c_k by c_k⁺ for the clients of ``updates``; return Σ_S (c_k⁺ − c_k) [P]."""
        if self.option == 1:
            gradients = server.gradients(updates.clients)
            return server.state["c_clients"].replace(
                updates.clients, lambda c_k, k, part: gradients[k, part]
            )

        def new_controls(c_k: torch.Tensor, k: slice, part: slice) -> torch.Tensor:
            """c_k⁺ of some clients ``k``, in a ``part`` of the parameters."""
            return c_k - c[part] + (w[part] - y[k, part]) / (tau[k, None] * server.lr)

        w = server.params
        y = updates.params
        c = server.state["c"]
        tau = updates.num_steps
        return server.state["c_clients"].replace(updates.clients, new_controls)

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return 2 * len(cohort) * server.num_parameters, 2 * len(cohort) * server.num_parameters
