"""The corrections of a whole cohort, as one pass over the parameters per step."""

from collections.abc import Sequence
from typing import Any

import torch

from fedlab_core.correction import Correction
from fedlab_core.engines.stacked.layout import Layout


class StackedCorrection:
    """y ← y − η (a ⊙ (y − r) + d) for A clients at once, written as y ← shrink ⊙ y + pull.

    shrink = 1 − ηa and pull = ηa ⊙ r − ηd, formed once for a whole round. A pull alone (SCAFFOLD) is added in place
    after the gradient step. A shrinking one (FedProx) belongs to the parameters *before* the step, which the backward
    pass still reads: it is written to a second buffer (``needs_copy``), where the gradient step then lands.
    """

    def __init__(self, corrections: Sequence[Correction], lr: float, like: torch.Tensor) -> None:
        self.is_zero = all(correction.is_zero for correction in corrections)
        self.needs_copy = any(isinstance(c.weight, torch.Tensor) or c.weight != 0 for c in corrections)
        if self.is_zero:
            return
        weight = _rows([correction.weight for correction in corrections], like)
        anchor = _rows([correction.anchor for correction in corrections], like)
        offset = _rows([correction.offset for correction in corrections], like)
        self._shrink = 1 - lr * weight
        self._pull = like.new_zeros(1, len(like)) if anchor is None else lr * weight * anchor
        if offset is not None:
            self._pull = self._pull - lr * offset

    def lay_out(self, layout: Layout, clients: int) -> None:
        """Bring pull and shrink into the order of a buffer that holds the first ``clients`` of the cohort."""
        if self.is_zero:
            return
        self._packed_pull = layout.pack(self._pull[:clients].expand(clients, -1))
        if isinstance(self._shrink, torch.Tensor):
            self._packed_shrink = layout.pack(self._shrink[:clients].expand(clients, -1))

    def into(self, target: torch.Tensor, buffer: torch.Tensor) -> None:
        """target ← shrink ⊙ buffer + pull."""
        if isinstance(self._shrink, float):
            torch.add(self._packed_pull, buffer, alpha=self._shrink, out=target)
        else:
            torch.addcmul(self._packed_pull, buffer, self._packed_shrink, out=target)

    def after(self, buffer: torch.Tensor) -> None:
        """buffer ← buffer + pull, in place."""
        if not self.is_zero:
            buffer.add_(self._packed_pull)


def _rows(values: Sequence[Any], like: torch.Tensor) -> Any:
    """What all clients share as it is, a tensor as [1, P]; otherwise one row for each of them, [K, P]."""
    first = values[0]
    if all(value is first for value in values) or all(isinstance(v, (int, float)) and v == first for v in values):
        return first[None] if isinstance(first, torch.Tensor) else first
    zero = torch.zeros_like(like)
    return torch.stack([zero if v is None else v if isinstance(v, torch.Tensor) else zero + v for v in values])
