"""The parameters of a chunk of clients while they train."""

from typing import Any

import torch

from fedlab_core.engines.stacked.corrections import BoundCorrection, StackedCorrection
from fedlab_core.engines.stacked.network import CohortModel


class Cohort:
    """A clients that start from ``params`` [P]; those that finish first must come last.

    Every parameter tensor of the clients that still work is one contiguous run of a buffer, which batched matrix
    products need to be fast. The buffer is made smaller when half of its clients are done.
    """

    _buffer: torch.Tensor
    _bound: Any
    _bound_correction: BoundCorrection

    def __init__(self, model: CohortModel, params: torch.Tensor, clients: int, correction: StackedCorrection) -> None:
        self._model = model
        self._correction = correction
        self._active = clients
        self._result = params.new_empty(clients, len(params))
        self._pack(params.expand(clients, -1))

    def keep_first(self, active: int) -> None:
        """Only the first ``active`` clients go on."""
        if active == self._active:
            return
        self._store(active)
        if 2 * active <= self._size:
            self._pack(self._model.layout.unpack(self._buffer, self._size, slice(active)))
        else:
            self._bind()

    def step(self, x: torch.Tensor, y: torch.Tensor, counts: torch.Tensor | None, lr: float) -> None:
        """One corrected SGD step of every active client on its batch; see ``CohortModel.step``."""
        self._model.step(self._bound, self._bound, x, y, counts, lr, self._bound_correction)

    def finish(self) -> torch.Tensor:
        """The final parameters [A, P] of all clients."""
        self._store(0)
        return self._result

    def _store(self, first: int) -> None:
        """Keep the parameters of the active clients from ``first`` on: they are done."""
        done = slice(first, self._active)
        self._result[done] = self._model.layout.unpack(self._buffer, self._size, done)
        self._active = first

    def _pack(self, rows: torch.Tensor) -> None:
        self._size = len(rows)
        self._buffer = self._model.layout.pack(rows)
        self._bound_correction = self._correction.bind(self._buffer, self._size, self._model.places)
        self._bind()

    def _bind(self) -> None:
        self._bound = self._model.bind(self._buffer, self._size, self._active)
