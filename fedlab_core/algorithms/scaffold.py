"""SCAFFOLD: control variates that correct client drift.

Karimireddy, Kale et al.: SCAFFOLD: Stochastic Controlled Averaging for Federated Learning, ICML 2020, algorithm 1;
[000], [003].

    c = c_k = 0 at the start
    y_k ← y_k − η (∇F_k(y_k; batch) − c_k + c)                     τ_k local steps from y_k = w
    option 1:  c_k⁺ = ∇F_k(w)                                       one extra full pass
    option 2:  c_k⁺ = c_k − c + (w − y_k) / (τ_k η)                 the mean of the raw local gradients
    w ← w + η_g mean_S (y_k − w)                                    unweighted
    c ← c + Σ_S (c_k⁺ − c_k) / N                                    control_update="all"
    c ← c + Σ_S (c_k⁺ − c_k) / |S|                                  control_update="cohort", printed in [000] and [003]

c server and c_k client control variates [P], η_g server rate. 2P numbers down (w, c) and 2P up (Δw, Δc) per client.

Deviations. With "all", c is the mean of c_k over all N clients after every round; with "cohort" and constant |S| it is
(N/|S|) times that mean. Option 2 refuses local momentum: w − y_k is then no sum of gradients with equal weights.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, Correction, FederatedDataset, LocalUpdates, Server, Settings
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
                f"option=2: with local_momentum={settings.local_momentum}, (w − y_k) / (τ_k η) is not the mean of the "
                "local gradients; use option=1"
            )

    def setup(self, server: Server) -> None:
        server.state["c"] = torch.zeros_like(server.params)
        server.state["c_clients"] = server.client_table()

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(offset=server.state["c"] - server.state["c_clients"][client])

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c, clients = server.state["c"], updates.clients
        change = server.state["c_clients"].replace(clients, self._new_controls(server, updates))  # Σ_S (c_k⁺ − c_k)
        server.state["c"] = c + change / (server.num_clients if self.control_update == "all" else len(clients))
        return server.params + self.server_lr * updates.mean_change()

    def _new_controls(self, server: Server, updates: LocalUpdates) -> Callable[[torch.Tensor, slice], torch.Tensor]:
        """The function that computes c_k⁺ [K, ·] from c_k [K, ·], in some ``columns`` of the P parameters."""
        w, y, c = server.params, updates.params, server.state["c"]

        def option_1(c_k: torch.Tensor, columns: slice) -> torch.Tensor:
            return gradients[:, columns]

        def option_2(c_k: torch.Tensor, columns: slice) -> torch.Tensor:
            return c_k - c[columns] + (w[columns] - y[:, columns]) / (steps * server.lr)

        if self.option == 1:
            gradients = server.gradients(updates.clients)
            return option_1
        steps = updates.num_steps[:, None]
        return option_2

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        return 2 * len(cohort) * server.num_parameters, 2 * len(cohort) * server.num_parameters
