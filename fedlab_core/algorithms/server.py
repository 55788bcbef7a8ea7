"""What an algorithm sees and may change while a run goes on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fedlab_core.algorithms.client_table import ClientTable
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.randomness import stream


@dataclass(frozen=True)
class Ledger:
    """What a run has cost so far: aggregations, and bytes from clients (up) and to clients (down)."""

    server_updates: int = 0
    bytes_up: int = 0
    bytes_down: int = 0

    def plus(self, *, server_updates: int = 0, bytes_up: int = 0, bytes_down: int = 0) -> "Ledger":
        return Ledger(self.server_updates + server_updates, self.bytes_up + bytes_up, self.bytes_down + bytes_down)


class Server:
    """The global model, an algorithm's own state, and services that hide the engine.

    ``params`` [P] global parameters w; ``state`` the algorithm's named tensors [P] and client tables [N, P]; ``round``
    1, 2, … (0 before the first); ``lr`` η of this round; ``clients_per_round`` K; ``fed`` the federation; ``ledger``
    the cost so far.
    """

    def __init__(
        self,
        fed: FederatedDataset,
        params: torch.Tensor,
        clients_per_round: int,
        lr: float,
        seed: int,
        gradients: Callable[[torch.Tensor, np.ndarray], torch.Tensor],
    ) -> None:
        self.fed = fed
        self.params = params
        self.clients_per_round = clients_per_round
        self.lr = lr
        self.seed = seed
        self.round = 0
        self.state: dict[str, Any] = {}
        self.ledger = Ledger()
        self._gradients = gradients

    @property
    def num_clients(self) -> int:
        return self.fed.num_clients

    @property
    def num_parameters(self) -> int:
        return len(self.params)

    def stream(self, name: str, client: int = 0) -> np.random.Generator:
        """The named random stream of this round (and client)."""
        return stream(self.seed, name, round=self.round, client=client)

    def uniform_cohort(self) -> np.ndarray:
        """K of the N clients, uniformly and without replacement, in increasing order."""
        cohort = self.stream("cohort").choice(self.num_clients, self.clients_per_round, replace=False)
        return np.sort(cohort)

    def gradients(self, clients: np.ndarray) -> torch.Tensor:
        """Full-batch gradients ∇F_k(w) [K, P] at the global parameters."""
        return self._gradients(self.params, clients)

    def client_table(self) -> ClientTable:
        """A zero vector [P] for every client, stored only once it is written."""
        return ClientTable(self.num_clients, self.params)

    def snapshot(self) -> tuple[Any, ...]:
        """What :meth:`restore` needs to undo everything that happens from now on."""
        for table in self._tables():
            table.commit()
        return self.round, self.lr, self.params, dict(self.state), self.ledger

    def restore(self, snapshot: tuple[Any, ...]) -> None:
        """Undo everything since the ``snapshot``, which must be the latest one."""
        for table in self._tables():
            table.rollback()
        self.round, self.lr, self.params, self.state, self.ledger = snapshot

    def _tables(self) -> list[ClientTable]:
        return [value for value in self.state.values() if isinstance(value, ClientTable)]
