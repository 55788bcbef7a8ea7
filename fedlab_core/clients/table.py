"""Per-client vectors that take memory only for clients that have taken part."""

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.clients.columns import joined


class ClientTable:
    """A table [N, P] of zeros that stores a row once it is written.

    ``table[clients]`` is a tensor [K, P], or [P] for one client. A deep copy shares the rows, because a row is never
    changed in place.
    """

    def __init__(self, num_clients: int, like: torch.Tensor) -> None:
        self.num_clients = num_clients
        self._zero = torch.zeros_like(like)
        self._rows: dict[int, torch.Tensor] = {}

    def __getitem__(self, clients: int | np.ndarray) -> torch.Tensor:
        rows = [self._rows.get(client, self._zero) for client in self._checked(clients)]
        if np.ndim(clients) == 0:
            return rows[0].clone()
        return torch.stack(rows) if rows else self._zero.new_empty(0, len(self._zero))

    def __setitem__(self, clients: int | np.ndarray, rows: torch.Tensor) -> None:
        checked = self._checked(clients)
        for client, row in zip(checked, rows.expand(len(checked), len(self._zero)), strict=True):
            self._rows[client] = row.to(self._zero, copy=True)

    def replace(self, clients: np.ndarray, new_rows: Callable[[torch.Tensor, slice], torch.Tensor]) -> torch.Tensor:
        """Replace the rows r_k of ``clients`` by new rows r_k⁺; return the sum of the changes Σ (r_k⁺ − r_k) [P].

        ``new_rows(r, columns)`` computes r⁺ [K, ·] from r [K, ·], both only in these ``columns``: whole tables [K, P]
        would take most of the time of a round.
        """
        checked = self._checked(clients)
        old = [self._rows.get(client, self._zero) for client in checked]
        new = [torch.empty_like(self._zero) for _ in checked]

        def change(columns: slice) -> torch.Tensor:
            before = torch.stack([row[columns] for row in old])
            after = new_rows(before, columns)
            for row, values in zip(new, after, strict=True):
                row[columns] = values
            return torch.sub(after, before, out=before).sum(0)

        total = joined(change, len(checked), self._zero)
        self._rows.update(zip(checked, new, strict=True))
        return total

    def __deepcopy__(self, memo: Any) -> Self:
        copied = copy.copy(self)
        copied._rows = dict(self._rows)
        return copied

    def _checked(self, clients: int | np.ndarray) -> list[int]:
        checked: list[int] = validation.indices("clients", np.atleast_1d(clients), self.num_clients).tolist()
        return checked

    def dense(self) -> torch.Tensor:
        return self[np.arange(self.num_clients)]

    def stored(self) -> tuple[np.ndarray, torch.Tensor]:
        """The clients [M] with a stored row, in increasing order, and their rows [M, P]."""
        clients = np.array(sorted(self._rows), dtype=np.int64)
        return clients, self[clients]

    @classmethod
    def from_rows(cls, num_clients: int, clients: np.ndarray, rows: torch.Tensor) -> Self:
        """Copy ``rows`` [M, P] of increasing ``clients`` [M] to a table; ``ValueError`` if they do not fit."""
        if clients.shape != rows.shape[:1] or (np.diff(clients) <= 0).any():
            raise ValueError(f"rows {list(rows.shape)}: do not fit the clients {clients}, which must increase")
        table = cls(num_clients, rows.new_zeros(rows.shape[1]))
        table[clients] = rows
        return table

    @classmethod
    def from_dense(cls, rows: torch.Tensor) -> Self:
        """Copy ``rows`` [N, P] to a table; zero rows take no memory."""
        clients = np.flatnonzero(rows.any(dim=1).cpu().numpy())
        return cls.from_rows(len(rows), clients, rows[torch.from_numpy(clients)])

    def to(self, device: str) -> Self:
        """Copy the table to a device."""
        clients, rows = self.stored()
        return self.from_rows(self.num_clients, clients, rows.to(device))
