"""The corrections of a whole cohort, one pass over the parameters of a layer per step."""

from collections.abc import Sequence
from typing import Any

import torch

from fedlab_core.correction import Correction


class StackedCorrection:
    """y ← y − η (a ⊙ (y − r) + d) for A clients at once, written as y ← shrink ⊙ y + pull.

    shrink = 1 − ηa and pull = ηa ⊙ r − ηd, formed once for a whole round. What all clients share stays one row.
    """

    def __init__(self, corrections: Sequence[Correction], lr: float, like: torch.Tensor) -> None:
        self._shrink: Any = 1.0
        self._pull: torch.Tensor | None = None
        if all(correction.is_zero for correction in corrections):
            return
        weight = _rows([correction.weight for correction in corrections], like)
        anchor = _rows([correction.anchor for correction in corrections], like)
        offset = _rows([correction.offset for correction in corrections], like)
        self._shrink = 1 - lr * weight
        self._pull = like.new_zeros(1, len(like)) if anchor is None else lr * weight * anchor
        if offset is not None:
            self._pull = self._pull - lr * offset

    def bind(
        self, buffer: torch.Tensor, clients: int, places: Sequence[Sequence[tuple[int, int]]]
    ) -> "BoundCorrection":
        """The correction of the first ``clients`` in a ``buffer`` for them; ``places`` of the tensors of each layer."""
        if self._pull is None:
            return BoundCorrection([[] for _ in places])
        pull, shrink = self._pull[:clients], self._shrink
        tensors = []
        for layer in places:
            tensors.append(
                [
                    (
                        buffer[clients * start : clients * stop].view(clients, -1),
                        pull[:, start:stop],
                        shrink[:clients, start:stop] if isinstance(shrink, torch.Tensor) else shrink,
                    )
                    for start, stop in layer
                ]
            )
        return BoundCorrection(tensors)


class BoundCorrection:
    """Corrects one layer of all clients in place; ``tensors`` are (values, pull, shrink) for each layer."""

    def __init__(self, tensors: list[list[tuple[torch.Tensor, torch.Tensor, Any]]]) -> None:
        self._tensors = tensors

    def __call__(self, layer: int) -> None:
        """values ← shrink ⊙ values + pull."""
        for values, pull, shrink in self._tensors[layer]:
            if isinstance(shrink, torch.Tensor):
                torch.addcmul(pull, values, shrink, out=values)
            else:
                torch.add(pull, values, alpha=shrink, out=values)


def _rows(values: Sequence[Any], like: torch.Tensor) -> Any:
    """What all clients share as it is, a tensor as [1, P]; otherwise one row for each of them, [K, P]."""
    first = values[0]
    if all(value is first for value in values) or all(isinstance(v, (int, float)) and v == first for v in values):
        return first.expand_as(like)[None] if isinstance(first, torch.Tensor) else first
    zero = torch.zeros_like(like)
    rows = [zero if v is None else v.expand_as(like) if isinstance(v, torch.Tensor) else zero + v for v in values]
    return torch.stack(rows)
