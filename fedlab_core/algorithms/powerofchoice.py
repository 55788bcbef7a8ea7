"""Power-of-choice: among d candidates, the K with the largest loss train.

Cho et al.: Client Selection in Federated Learning: Convergence Analysis and Power-of-Choice
Selection Strategies, 2020, section 4 (π_pow-d).

    A: d available clients, without replacement, one after another with probability ∝ n_k
       among those left
    S: the K clients of A with the largest F_k(w)
    w ← mean_S y_k                                          unweighted, because the draw uses n_k

F_k(w) mean loss of client k on all its samples, K ≤ d ≤ N; d = K needs no losses. d·P numbers down
and K·P up, and d losses up if d > K.

Deviations. The paper breaks ties at random; here the client drawn earlier comes first. If fewer
than d clients are available, all of them are candidates.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, FederatedDataset, LocalUpdates, Server, Settings
from fedlab_core.validation import Count


@dataclass(frozen=True)
class PowerOfChoice(Algorithm):
    """Power-of-choice among d = ``candidates`` clients, an integer from K to N."""

    needs = "each"
    candidates: Count

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        smallest = settings.cohort_size(fed.num_clients)
        validation.integer("candidates", self.candidates, minimum=smallest, maximum=fed.num_clients)

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        available = np.flatnonzero(server.available)
        drawn = min(self.candidates, len(available))
        chosen = min(server.clients_per_round, len(available))
        if not chosen:
            return
        rho = server.fed.weights[available]
        candidates = server.stream("candidates").choice(
            available, drawn, replace=False, p=rho / rho.sum()
        )
        if drawn > chosen:
            losses = server.losses(candidates)
            # communication() counts the chosen clients
            server.spend(down=(drawn - chosen) * server.num_parameters, up=drawn)
            candidates = candidates[
                losses.argsort(descending=True, stable=True).cpu().numpy()[:chosen]
            ]
        yield np.sort(candidates)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.mean()
