"""Any other module, through ``torch.func.vmap``: slower than layers that know about clients, faster than a loop."""

from typing import Any

import torch
from torch import Tensor
from torch.func import grad, vmap

from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.stacked.buffers import Layout
from fedlab_core.engines.stacked.network import ApplyCorrection, Network
from fedlab_core.losses import Loss


class VectorisedNetwork:
    """What :class:`Network` is for known layers, for any module.

    Clients with equally many samples go through together, so that no padding is ever seen.
    """

    has_moments, scratch_per_sample = False, 0

    def __init__(self, model: FlatModel, loss: Loss) -> None:
        def mean_loss(params: Tensor, x: Tensor, y: Tensor) -> Tensor:
            return loss(model(params, x), y)

        self.layout = Layout([model.size])
        self.places = [[(0, model.size)]]
        self._gradients = vmap(grad(mean_loss))

    def bind(self, buffer: Tensor, size: int, active: int) -> Any:
        return buffer.view(size, -1)[:active]

    def step(
        self, params: Any, target: Any, x: Tensor, y: Tensor, counts: Tensor | None, lr: float, correct: ApplyCorrection
    ) -> None:
        if counts is None:
            gradient = self._gradients(params, x, y)
        else:
            gradient = torch.empty_like(params)
            for count in counts.unique().tolist():
                rows = torch.nonzero(counts == count).flatten()
                gradient[rows] = self._gradients(params[rows], x[rows, :count], y[rows, :count])
        correct(0)
        target.sub_(gradient, alpha=lr)


CohortModel = Network | VectorisedNetwork
