"""The corrections of a whole cohort, as one pass over the parameters per step."""

from collections.abc import Sequence

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
        weights = [correction.weight for correction in corrections]
        self.needs_copy = any(isinstance(weight, torch.Tensor) or weight != 0 for weight in weights)
        if self.is_zero:
            return
        first = corrections[0]
        parts = [(c.weight, c.anchor, c.offset) for c in corrections]
        if all(a is first.weight and r is first.anchor and d is first.offset for a, r, d in parts):
            corrections, weights = corrections[:1], weights[:1]
        self._pull = torch.stack([_pull(correction, lr, like) for correction in corrections])
        self._shrink: torch.Tensor | float
        if all(isinstance(weight, (int, float)) and weight == weights[0] for weight in weights):
            self._shrink = 1 - lr * weights[0]
        else:
            self._shrink = torch.stack([1 - lr * torch.as_tensor(w, dtype=like.dtype).expand_as(like) for w in weights])

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


def _pull(correction: Correction, lr: float, like: torch.Tensor) -> torch.Tensor:
    pull = torch.zeros_like(like)
    if correction.anchor is not None:
        pull += lr * correction.weight * correction.anchor
    if correction.offset is not None:
        pull -= lr * correction.offset
    return pull
