"""The parameters of a chunk of clients while they train, and the corrections of their gradients."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from fedlab_core.correction import Correction
from fedlab_core.engines.stacked.network import ApplyCorrection, CohortModel


class StackedCorrection:
    """y ← y − η (a ⊙ (y − r) + d) for A clients at once, written as y ← shrink ⊙ y + pull.

    shrink = 1 − ηa and pull = ηa ⊙ r − ηd, formed once for a whole round. What all clients share stays one row.
    """

    def __init__(self, corrections: Sequence[Correction], lr: float, like: Tensor) -> None:
        self._shrink: Any = 1.0
        self._pull: Tensor | None = None
        if all(correction.is_zero for correction in corrections):
            return
        weight = _rows([correction.weight for correction in corrections], like)
        anchor = _rows([correction.anchor for correction in corrections], like)
        offset = _rows([correction.offset for correction in corrections], like)
        self._shrink = 1 - lr * weight
        self._pull = like.new_zeros(1, len(like)) if anchor is None else lr * weight * anchor
        if offset is not None:
            self._pull = self._pull - lr * offset

    def bind(self, buffer: Tensor, clients: int, places: Sequence[Sequence[tuple[int, int]]]) -> ApplyCorrection:
        """What corrects, in place, one layer of the first ``clients`` in a ``buffer`` for them, in one pass.

        ``places``: where the tensors of each layer begin and end in the flat vector.
        """
        if self._pull is None:
            return uncorrected
        pull, shrink = self._pull[:clients], self._shrink
        is_number = not isinstance(shrink, Tensor)

        def bound(start: int, stop: int) -> tuple[Tensor, Tensor, Any]:
            own = shrink if is_number else shrink[:clients, start:stop]
            return buffer[clients * start : clients * stop].view(clients, -1), pull[:, start:stop], own

        layers = [[bound(*place) for place in layer] for layer in places]

        def apply(layer: int) -> None:
            for values, pull, shrink in layers[layer]:
                if is_number:
                    torch.add(pull, values, alpha=shrink, out=values)
                else:
                    torch.addcmul(pull, values, shrink, out=values)

        return apply


def uncorrected(layer: int) -> None:
    """The correction that leaves every gradient as it is."""


def _rows(values: Sequence[Any], like: Tensor) -> Any:
    """What all clients share as it is, a tensor as [1, P]; otherwise one row for each of them, [K, P]."""
    first = values[0]
    if all(value is first for value in values) or all(isinstance(v, (int, float)) and v == first for v in values):
        return first.expand_as(like)[None] if isinstance(first, Tensor) else first
    zero = torch.zeros_like(like)
    rows = [zero if v is None else v.expand_as(like) if isinstance(v, Tensor) else zero + v for v in values]
    return torch.stack(rows)


class Cohort:
    """A clients that start from ``params`` [P]; those that finish first must come last.

    Every parameter tensor of the clients that still work is one contiguous run of a buffer, which batched matrix
    products need to be fast. The buffer is made smaller when half of its clients are done.
    """

    def __init__(self, model: CohortModel, params: Tensor, clients: int, correction: StackedCorrection) -> None:
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
            self._bound = self._model.bind(self._buffer, self._size, active)

    def step(self, x: Tensor, y: Tensor, counts: Tensor | None, lr: float) -> None:
        """One corrected SGD step of every active client on its batch; see ``Network.step``."""
        self._model.step(self._bound, self._bound, x, y, counts, lr, self._apply_correction)

    def finish(self) -> Tensor:
        """The final parameters [A, P] of all clients."""
        self._store(0)
        return self._result

    def _store(self, first: int) -> None:
        """Keep the parameters of the active clients from ``first`` on: they are done."""
        done = slice(first, self._active)
        self._result[done] = self._model.layout.unpack(self._buffer, self._size, done)
        self._active = first

    def _pack(self, rows: Tensor) -> None:
        self._size = len(rows)
        self._buffer = self._model.layout.pack(rows)
        self._apply_correction = self._correction.bind(self._buffer, self._size, self._model.places)
        self._bound = self._model.bind(self._buffer, self._size, self._size)
