"""Per-client vectors that take memory only for clients that have taken part."""

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeAlias

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.clients.columns import tiles
from fedlab_core.clients.memory import Slots

Clients: TypeAlias = int | slice | np.ndarray | torch.Tensor


def _joined(rows: list[torch.Tensor]) -> torch.Tensor:
    """Join rows to a table [A, ·]; a single row is not copied."""
    return rows[0][None] if len(rows) == 1 else torch.stack(rows)


def _sum(rows: torch.Tensor) -> torch.Tensor:
    """Sum rows [A, ·]; a single row is not copied."""
    return rows[0] if len(rows) == 1 else rows.sum(0)


class ClientTable:
    """A table [N, P] of zeros that stores a row once it is written.

    ``table[clients]`` is a tensor [K, P], or [P] for one client; ``clients`` may be a slice or a
    mask, too. The methods and functions of PyTorch, such as ``table.mean(0)`` or
    ``torch.sum(table, 0)``, work on a copy with all rows. A deep copy shares the rows, because a
    row is never changed in place.
    """

    def __init__(self, num_clients: int, like: torch.Tensor) -> None:
        self.num_clients = num_clients
        self._zero = torch.zeros_like(like)
        self._rows: dict[int, torch.Tensor] = {}
        self._slots = Slots(like)

    def __getitem__(self, clients: Clients) -> torch.Tensor:
        rows = [self._rows.get(client, self._zero) for client in self._checked(clients)]
        if not isinstance(clients, slice) and np.ndim(clients) == 0:
            return rows[0].clone()
        return torch.stack(rows) if rows else self._zero.new_empty(0, len(self._zero))

    def __setitem__(self, clients: Clients, rows: torch.Tensor | np.ndarray | float) -> None:
        checked = self._checked(clients)
        stored = self._slots.take(len(checked))
        given = torch.as_tensor(rows).expand(len(checked), len(self._zero))
        for own, row in zip(stored, given, strict=True):
            own.copy_(row)
        self._rows.update(zip(checked, stored, strict=True))

    def __len__(self) -> int:
        return self.num_clients

    def __iter__(self) -> Iterator[torch.Tensor]:
        return (self[client] for client in range(self.num_clients))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.dense().cpu(), dtype=dtype)

    def __getattr__(self, name: str) -> Any:
        """Give a method or an attribute of the tensor [N, P], such as ``mean`` or ``shape``."""
        if name.startswith("_") or name.endswith("_"):
            raise AttributeError(
                f"a table of clients has no {name!r}: write table[clients] = rows to change it"
            )
        return getattr(self.dense(), name)

    @classmethod
    def __torch_function__(
        cls, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function of PyTorch, or an operator, with the tensor [N, P]."""
        plain = [value.dense() if isinstance(value, cls) else value for value in args]
        return function(*plain, **(kwargs or {}))

    def view(self, client: int) -> torch.Tensor:
        """The row [P] of one client, not a copy: do not change it."""
        return self._rows.get(client, self._zero)

    def replace(
        self, clients: np.ndarray, new_rows: Callable[[torch.Tensor, slice, slice], torch.Tensor]
    ) -> torch.Tensor:
        """Replace the rows r_k of ``clients`` by new rows r_k⁺; return the sum of the changes Σ
        (r_k⁺ − r_k) [P].

        ``new_rows(r, places, columns)`` computes r⁺ [A, ·] from r [A, ·] for the A clients at these
        ``places``, only in these ``columns``: whole tables [K, P] would take most of the time of a
        round.
        """
        checked = self._checked(clients)
        old = [self.view(client) for client in checked]
        new = self._slots.take(len(checked))
        total = torch.zeros_like(self._zero)
        for places, columns in tiles(len(checked), self._zero):
            before = _joined([row[columns] for row in old[places]])
            after = new_rows(before, places, columns)
            for row, values in zip(new[places], after, strict=True):
                row[columns] = values
            total[columns] += _sum(after - before)
        self._rows.update(zip(checked, new, strict=True))
        return total

    def __deepcopy__(self, memo: Any) -> Self:
        copied = copy.copy(self)
        copied._rows = dict(self._rows)
        return copied

    def _checked(self, clients: Clients) -> list[int]:
        if isinstance(clients, tuple):
            raise ValueError(
                f"table[{', '.join(map(str, clients))}]: the index must be clients alone; write "
                "table[clients][:, columns]"
            )
        if isinstance(clients, slice):
            return list(range(self.num_clients))[clients]
        numbers = clients if isinstance(clients, torch.Tensor) else np.asarray(clients)
        if numbers.dtype in (bool, torch.bool) and len(numbers) == self.num_clients:
            numbers = np.flatnonzero(numbers)
        checked: list[int] = validation.indices(
            "clients", np.atleast_1d(numbers), self.num_clients
        ).tolist()
        return checked

    def dense(self) -> torch.Tensor:
        return self[np.arange(self.num_clients)]

    def stored(self) -> tuple[np.ndarray, torch.Tensor]:
        """The clients [M] with a stored row, in increasing order, and their rows [M, P]."""
        clients = np.array(sorted(self._rows), dtype=np.int64)
        return clients, self[clients]

    @classmethod
    def from_rows(cls, num_clients: int, clients: np.ndarray, rows: torch.Tensor) -> Self:
        """Copy ``rows`` [M, P] of increasing ``clients`` [M] to a table; ``ValueError`` if they do
        not fit.
        """
        if clients.shape != rows.shape[:1] or (np.diff(clients) <= 0).any():
            raise ValueError(
                f"rows {list(rows.shape)}: do not fit the clients {clients}, which must increase"
            )
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
