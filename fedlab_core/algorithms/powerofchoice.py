"""Power-of-choice: of d candidates, those K train for whom the global model is worst.

Cho, Wang, Joshi: Client Selection in Federated Learning: Convergence Analysis and Power-of-Choice Selection Strategies,
2020, section 4 (π_pow-d).

    A: d of the clients there are, without replacement, one after another with probability ∝ n_k among those left
    S: the K of A with the largest F_k(w)
    w ← mean_S y_k                                          unweighted, for the n_k are in the draw

F_k(w) the mean loss of client k on all its samples, K ≤ d ≤ N. With d = K nobody is asked, and the cohort is drawn by
n_k alone; with d = N it is the K clients with the largest loss of all. d·P numbers down (w, with which those who are
chosen then train) and, if d > K, d losses up, besides the K·P of the y_k.

Deviations. The paper breaks ties at random; here the one drawn earlier goes first, which is random too and the same in
every run under one seed. Where fewer than d clients are there, all of them are candidates.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.server import Server
from fedlab_core.settings import Settings


@dataclass(frozen=True)
class PowerOfChoice(Algorithm):
    """Power-of-choice among d = ``candidates`` clients, an integer from K to N."""

    needs: ClassVar[Needs] = "each"
    candidates: int

    def __post_init__(self) -> None:
        validation.integer("candidates", self.candidates, minimum=1)

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        smallest = settings.cohort_size(fed.num_clients)
        validation.integer("candidates", self.candidates, minimum=smallest, maximum=fed.num_clients)

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        available = np.flatnonzero(server.available)
        drawn, chosen = min(self.candidates, len(available)), min(server.clients_per_round, len(available))
        if not chosen:
            return
        rho = server.fed.weights[available]
        candidates = server.stream("candidates").choice(available, drawn, replace=False, p=rho / rho.sum())
        if drawn > chosen:
            losses = server.losses(candidates)
            # those who are chosen get w when they train, as communication() says
            server.spend(down=(drawn - chosen) * server.num_parameters, up=drawn)
            candidates = candidates[losses.argsort(descending=True, stable=True).cpu().numpy()[:chosen]]
        yield np.sort(candidates)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.mean()
