"""The parameters of a chunk of clients while they train, and the corrections of their gradients."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from fedlab_core.correction import Correction
from fedlab_core.engines.stacked.buffers import Layout, Workspace
from fedlab_core.engines.stacked.network import ApplyCorrection, CohortModel


class StackedCorrection:
    """y ← y − η (a ⊙ (y − r) + d) for A clients at once, written as y ← shrink ⊙ y + pull.

    shrink = 1 − ηa and pull = ηa ⊙ r − ηd are formed once for a round; values that all clients
    share are one row. ``start`` [A, P] or [1, P]. Clients with momentum or a scale have a velocity,
    v ← m v + a ⊙ y − pull, with pull = a ⊙ r − d.
    """

    def __init__(
        self, corrections: Sequence[Correction], lr: float, params: Tensor, workspace: Workspace
    ) -> None:
        self._workspace = workspace
        self.start = _rows(
            [params if own.start is None else own.start for own in corrections], params
        )
        self._momentum = _rows([own.momentum or 0.0 for own in corrections], params)
        self._scale = _rows([own.scale for own in corrections], params)
        self.has_velocity = any(
            isinstance(v, Tensor) or v for v in (self._momentum, self._scale - 1.0)
        )
        self._weight = _rows([own.weight for own in corrections], params)
        anchor = _rows([own.anchor for own in corrections], params)
        offsets = [own.offset for own in corrections]
        rate = 1.0 if self.has_velocity else lr
        self._shrink = 1 - rate * self._weight
        self._pull: Tensor | None = None
        if isinstance(self._weight, Tensor) or self._weight:
            self._pull = (
                params.new_zeros(1, len(params)) if anchor is None else rate * self._weight * anchor
            )
        if any(offset is not None for offset in offsets):
            self._pull = self._pull_of(offsets, rate, params)

    def _pull_of(self, offsets: Sequence[Tensor | None], rate: float, params: Tensor) -> Tensor:
        """The pull of weight and anchor − ``rate`` · offset; without weights row by row, to save
        memory.
        """
        if self._pull is not None or all(offset is offsets[0] for offset in offsets):
            return (0.0 if self._pull is None else self._pull) - rate * _rows(offsets, params)
        pull = self._workspace.empty("pull", len(offsets), len(params))
        for row, offset in zip(pull, offsets, strict=True):
            if offset is None:
                row.zero_()
            else:
                torch.mul(offset, -rate, out=row)
        return pull

    def packed(self, layout: Layout, clients: int) -> "Velocity":
        """The velocity of the first ``clients``, packed as their parameters."""
        numbers = (
            self._momentum,
            self._scale,
            self._weight,
            0.0 if self._pull is None else self._pull,
        )
        like = self.start[:1].expand(clients, -1)
        rows = (v[:clients].expand_as(like) if isinstance(v, Tensor) else v for v in numbers)
        momentum, scale, weight, pull = (
            layout.pack(v) if isinstance(v, Tensor) else v for v in rows
        )
        return Velocity(like.new_zeros(like.numel()), momentum, scale, weight, pull)

    def bind(
        self, buffer: Tensor, clients: int, places: Sequence[Sequence[tuple[int, int]]]
    ) -> ApplyCorrection:
        """A function that corrects one layer of the first ``clients`` in a ``buffer``, in place.

        ``places``: the begin and end of each layer's tensors in the flat vector.
        """
        if self._pull is None:
            return uncorrected
        pull = self._pull[:clients]
        shrink = self._shrink
        is_number = not isinstance(shrink, Tensor)

        def bound(start: int, stop: int) -> tuple[Tensor, Tensor, Any]:
            own = shrink if is_number else shrink[:clients, start:stop]
            return (
                buffer[clients * start : clients * stop].view(clients, -1),
                pull[:, start:stop],
                own,
            )

        layers = [[bound(*place) for place in layer] for layer in places]

        def apply(layer: int) -> None:
            for values, pull, shrink in layers[layer]:
                if is_number:
                    torch.add(pull, values, alpha=shrink, out=values)
                else:
                    torch.addcmul(pull, values, shrink, out=values)

        return apply


@dataclass(frozen=True)
class Velocity:
    """v of some clients, with m, s, a and a ⊙ r − d, each packed as their parameters or a
    number.
    """

    values: Tensor
    momentum: Any
    scale: Any
    weight: Any
    pull: Any

    def correct(self, params: Tensor) -> None:
        """v ← m v + a ⊙ y − (a ⊙ r − d), without the gradient."""
        self.values.mul_(self.momentum)
        if isinstance(self.weight, Tensor):
            self.values.addcmul_(self.weight, params)
        elif self.weight:
            self.values.add_(params, alpha=self.weight)
        if isinstance(self.pull, Tensor):
            self.values.sub_(self.pull)

    def move(self, params: Tensor, lr: float) -> None:
        """y ← y − η s ⊙ v."""
        if isinstance(self.scale, Tensor):
            params.addcmul_(self.scale, self.values, value=-lr)
        else:
            params.add_(self.values, alpha=-lr * self.scale)


def uncorrected(layer: int) -> None:
    """The correction that changes nothing."""


def _rows(values: Sequence[Any], like: Tensor) -> Any:
    """A value that all clients share, tensors as [1, P], or one row for each client, [K, P]."""
    first = values[0]
    if all(value is first for value in values) or all(
        isinstance(v, (int, float)) and v == first for v in values
    ):
        return first.expand_as(like)[None] if isinstance(first, Tensor) else first
    zero = torch.zeros_like(like)
    return torch.stack([_row(value, zero) for value in values])


def _row(value: Any, zero: Tensor) -> Tensor:
    """The value of one client as a tensor [P]; ``zero`` for None."""
    if value is None:
        return zero
    return value.expand_as(zero) if isinstance(value, Tensor) else zero + value


class Cohort:
    """A clients, sorted by steps: those that finish first come last.

    Each tensor of all is one run of a buffer, which is packed again when half of its clients are
    done. The final parameters go to ``rows`` [A, P].
    """

    def __init__(
        self, model: CohortModel, rows: Tensor, correction: StackedCorrection, workspace: Workspace
    ) -> None:
        self._model = model
        self._rows = rows
        self._correction = correction
        self._workspace = workspace
        self._active = len(rows)
        self._velocity: Velocity | None = None
        self._pack(correction.start.expand(len(rows), -1))

    def keep_first(self, active: int) -> None:
        """Finish all but the first ``active`` clients."""
        if active == self._active:
            return
        self._store(active)
        if 2 * active <= self._size:
            self._pack(self._unpacked(self._buffer, active))
        else:
            self._bind(active)

    def step(self, x: Tensor, y: Tensor, counts: Tensor | None, lr: float) -> None:
        """One corrected SGD step of every active client on its batch; see ``Network.step``."""
        if self._velocity is None:
            self._model.step(self._bound, self._bound, x, y, counts, lr, self._apply_correction)
            return
        self._velocity.correct(self._buffer)
        self._model.step(self._bound, self._bound_velocity, x, y, counts, -1.0, uncorrected)
        self._velocity.move(self._buffer, lr)

    def finish(self) -> None:
        """Write the final parameters of all clients."""
        self._store(0)

    def _store(self, first: int) -> None:
        """Write the parameters of the active clients from ``first`` on, which are done."""
        done = slice(first, self._active)
        self._model.layout.unpack(self._buffer, self._size, done, self._rows[done])
        self._active = first

    def _unpacked(self, buffer: Tensor, clients: int) -> Tensor:
        """The rows [``clients``, P] of the first clients in a ``buffer``."""
        rows = buffer.new_empty(clients, self._model.layout.size)
        return self._model.layout.unpack(buffer, self._size, slice(clients), rows)

    def _pack(self, rows: Tensor) -> None:
        """Pack these first clients into the buffer, and continue their velocity."""
        layout = self._model.layout
        last = None if self._velocity is None else self._unpacked(self._velocity.values, len(rows))
        self._size = len(rows)
        self._buffer = layout.pack(rows, self._workspace.empty("parameters", rows.numel()))
        if self._correction.has_velocity:
            self._velocity = self._correction.packed(layout, self._size)
            if last is not None:
                layout.pack(last, self._velocity.values)
        else:
            self._apply_correction = self._correction.bind(
                self._buffer, self._size, self._model.places
            )
        self._bind(self._size)

    def _bind(self, active: int) -> None:
        self._bound = self._model.bind(self._buffer, self._size, active)
        if self._velocity is not None:
            self._bound_velocity = self._model.bind(self._velocity.values, self._size, active)
