"""FedCurv: elastic weight consolidation between the clients of two rounds.

Shoham et al.: Overcoming Forgetting in Federated Learning on Non-IID Data, 2019; a baseline of
[002].

    penalty of client k:  λ Σ_{j ∈ S⁻, j ≠ k} (y − θ_j)ᵀ diag(I_j) (y − θ_j)
    its gradient:         2λ (u − I_k) ⊙ y − 2λ (v − I_k ⊙ θ_k),
                          u = Σ_{S⁻} I_j,    v = Σ_{S⁻} I_j ⊙ θ_j
    implicit step:        y ← (y − η (∇F_k(y; batch) + d)) / (1 + η a),
                          a = 2λ (u − I_k),  d = −2λ (v − I_k ⊙ θ_k)
    w ← Σ_S n_k y_k / Σ_S n_k

S⁻ the last cohort (none in the first round); θ_j [P] the local parameters of its client j; I_j [P]
the empirical Fisher diagonal there: the mean over samples of the squared gradient of the
log-likelihood. I_k and θ_k are zero for a client outside S⁻. 3P numbers down (w, u, v) and 2P up
(y, I) per client. λ = 0 is FedAvg at FedAvg's communication cost.

Deviations. The paper sums over all other clients; here the sums run over the last cohort, which
bounds the memory. λ = 2.0 is the value in [002]. The explicit step is stable only for η·2λ·max u
below about 2; the implicit step, which takes the penalty at the new y, is stable for every λ and
has the same resting point. ``penalty_step`` tells a λ that is too strong from an explicit step that
diverges; it does not change what is sent.
"""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, Correction, LocalUpdates, Server
from fedlab_core.correction import PenaltyStep, implicit_scale
from fedlab_core.validation import NotNegative


@dataclass(frozen=True)
class FedCurv(Algorithm):
    """FedCurv with λ = ``strength`` ≥ 0.

    State: ``u``, ``v`` [P]; of S⁻ ``fisher`` I_j, ``fisher_params`` I_j ⊙ θ_j.
    """

    strength: NotNegative = 2.0
    penalty_step: PenaltyStep = "explicit"

    def setup(self, server: Server) -> None:
        server.state["u"] = torch.zeros_like(server.params)
        server.state["v"] = torch.zeros_like(server.params)
        server.state["fisher"] = server.client_table()
        server.state["fisher_params"] = server.client_table()

    def correction(self, server: Server, client: int) -> Correction:
        if not self._has_penalty(server):
            return Correction()
        state = server.state
        weight = 2 * self.strength * (state["u"] - state["fisher"][client])
        offset = -2 * self.strength * (state["v"] - state["fisher_params"][client])
        if self.penalty_step == "explicit":
            return Correction(weight=weight, offset=offset)
        return Correction(weight=weight, offset=offset, scale=implicit_scale(weight, server.lr))

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        if self.strength > 0:
            fisher = server.fisher_diagonals(updates)
            fisher_params = fisher * updates.params
            server.state |= {"u": fisher.sum(0), "v": fisher_params.sum(0)}
            for name, rows in (("fisher", fisher), ("fisher_params", fisher_params)):
                server.state[name] = server.client_table()
                server.state[name][updates.clients] = rows
        return updates.weighted_mean()

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        down = 3 if self._has_penalty(server) else 1
        up = 2 if self.strength > 0 else 1
        return down * len(cohort) * server.num_parameters, up * len(cohort) * server.num_parameters

    def _has_penalty(self, server: Server) -> bool:
        return self.strength > 0 and bool(server.state["u"].any())
