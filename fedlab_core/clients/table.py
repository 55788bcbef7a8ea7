"""Per-client vectors that take memory only for clients that have taken part."""

from typing import Self

import numpy as np
import torch


class ClientTable:
    """A table [N, P] of zeros that stores a row once it is written.

    ``table[clients]`` is a tensor [K, P], or [P] for one client. ``rollback`` undoes all writes since ``commit``.
    """

    def __init__(self, num_clients: int, like: torch.Tensor) -> None:
        self.num_clients = num_clients
        self._slots = np.full(num_clients, -1, dtype=np.int64)
        self._rows = torch.zeros(0, len(like), dtype=like.dtype, device=like.device)
        self._used = 0
        self._undo: list[tuple[np.ndarray, torch.Tensor]] = []

    def __getitem__(self, clients: int | np.ndarray) -> torch.Tensor:
        slots = self._slots[np.atleast_1d(clients)]
        if (seen := slots >= 0).all():
            rows = self._rows[torch.from_numpy(slots)]
        else:
            rows = self._rows.new_zeros(len(slots), self._rows.shape[1])
            rows[torch.from_numpy(np.flatnonzero(seen))] = self._rows[torch.from_numpy(slots[seen])]
        return rows[0] if np.ndim(clients) == 0 else rows

    def __setitem__(self, clients: int | np.ndarray, rows: torch.Tensor) -> None:
        clients = np.atleast_1d(clients)
        seen = self._slots[clients] >= 0
        self._undo.append((clients[~seen], self._rows.new_zeros(self._rows.shape[1])))
        self._undo.append((clients[seen], self[clients[seen]]))
        self._write(clients, rows)

    def commit(self) -> None:
        self._undo.clear()

    def rollback(self) -> None:
        while self._undo:
            self._write(*self._undo.pop())

    def _write(self, clients: np.ndarray, rows: torch.Tensor) -> None:
        new = clients[self._slots[clients] < 0]
        used, capacity = self._used + len(new), len(self._rows)
        if used > capacity:
            grown = self._rows.new_empty(min(max(used, 2 * capacity), self.num_clients), self._rows.shape[1])
            grown[:capacity] = self._rows
            self._rows = grown
        self._slots[new] = np.arange(self._used, used)
        self._used = used
        self._rows[torch.from_numpy(self._slots[clients])] = rows

    def dense(self) -> torch.Tensor:
        return self[np.arange(self.num_clients)]

    def stored(self) -> tuple[np.ndarray, torch.Tensor]:
        """The clients [M] with a stored row, in increasing order, and their rows [M, P]."""
        clients = np.flatnonzero(self._slots >= 0)
        return clients, self._rows[torch.from_numpy(self._slots[clients])]

    @classmethod
    def from_rows(cls, num_clients: int, clients: np.ndarray, rows: torch.Tensor) -> Self:
        """Copy ``rows`` [M, P] of increasing int64 ``clients`` [M] to a table; ``ValueError`` if they do not fit."""
        if rows.ndim != 2 or clients.shape != rows.shape[:1] or clients.dtype != np.int64:
            raise ValueError(f"{clients.dtype} clients {list(clients.shape)} do not fit rows {list(rows.shape)}")
        if len(clients) and (clients[0] < 0 or clients[-1] >= num_clients or (np.diff(clients) <= 0).any()):
            raise ValueError(f"the clients of the rows are not increasing or not in 0 … {num_clients - 1}")
        table = cls(num_clients, rows.new_zeros(rows.shape[1]))
        table._write(clients, rows)
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
