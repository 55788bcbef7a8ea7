"""Any other module, through ``torch.func.vmap``: slower than layers that know about clients, faster than a loop."""

import torch
from torch.func import grad, vmap

from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.stacked.layout import Layout
from fedlab_core.engines.stacked.network import ApplyCorrection
from fedlab_core.losses import Loss


class VectorisedNetwork:
    """A :class:`~fedlab_core.engines.stacked.network.CohortModel` of any module.

    Clients with equally many samples go through together, so that no padding is ever seen.
    """

    scratch_per_sample = 0

    def __init__(self, model: FlatModel, loss: Loss) -> None:
        def mean_loss(params: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return loss(model(params, x), y)

        self.layout = Layout([model.size])
        self.places = [[(0, model.size)]]
        self._gradients = vmap(grad(mean_loss))

    def bind(self, buffer: torch.Tensor, size: int, active: int) -> torch.Tensor:
        return buffer.view(size, -1)[:active]

    def step(
        self,
        params: torch.Tensor,
        target: torch.Tensor,
        x: torch.Tensor,
        y: torch.Tensor,
        counts: torch.Tensor | None,
        lr: float,
        apply_correction: ApplyCorrection,
    ) -> None:
        if counts is None:
            gradient = self._gradients(params, x, y)
        else:
            gradient = torch.empty_like(params)
            for count in counts.unique().tolist():
                rows = torch.nonzero(counts == count).flatten()
                gradient[rows] = self._gradients(params[rows], x[rows, :count], y[rows, :count])
        apply_correction(0)
        target.sub_(gradient, alpha=lr)
