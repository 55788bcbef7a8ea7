"""The importance of each parameter: Ω of Memory Aware Synapses, and the diagonal of the empirical
Fisher.

Ω: Aljundi, Babiloni, Elhoseiny, Rohrbach, Tuytelaars: Memory Aware Synapses, ECCV 2018, as [002]
uses it. Fisher: Kirkpatrick et al.: Overcoming catastrophic forgetting in neural networks, PNAS
2017, as FedCurv uses it.

    Ω = mean over samples of |∂ ‖f(x)‖² / ∂w|         f(x) the logits, or their softmax; no labels
    I = mean over samples of (∂ log p(y | x) / ∂w)²    y the given label: the *empirical* Fisher

Absolute value and square apply to the gradient of each sample, inside the mean.
"""

import numpy as np
import torch
from torch import nn

from fedlab_core import engines, losses, validation
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.inspection import output_of


def mas(model: nn.Module, x: torch.Tensor, output: losses.Output = "logits") -> torch.Tensor:
    """Ω [P] of ``model`` over the samples ``x`` [n, …].

    ``output``: "logits", as the authors of Memory Aware Synapses have it, or "softmax". The norm of
    the softmax is at most 1, so that Ω cannot grow without a bound.
    """
    norm = losses.OUTPUT_NORMS[validation.choice("output", output, losses.OUTPUT_NORMS)]
    return _moment(model, x, torch.zeros(len(x), dtype=torch.int64), norm, power=1)


def fisher_diagonal(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """I [P] of ``model`` over the samples ``x`` [n, …] with labels ``y`` [n], or float targets.

    The log-likelihood is minus the cross-entropy; for float targets it is minus half the squared
    error.
    """
    if len(y) != len(x):
        raise ValueError(f"y: {len(y)} labels for {len(x)} samples x")
    loss = losses.LOSSES["squared_error" if y.is_floating_point() else "cross_entropy"]
    return _moment(model, x, y, loss, power=2)


def _moment(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, loss: losses.Loss, power: int
) -> torch.Tensor:
    if not len(x):
        raise ValueError("x: has no samples")
    device = next(model.parameters()).device
    logits = output_of(model, x[:1].to(device))[0].numel()
    if not y.is_floating_point() and y.max() >= logits:
        raise ValueError(f"y: label {int(y.max())}, but the model has {logits} logits")
    fed = FederatedDataset.from_clients([(x, y)], test=(x[:0], y[:0]))
    engine = engines.create("auto", fed, model, loss, str(device))
    return engine.moments(engine.model.parameters()[None], [np.arange(len(x))], loss, power)[0]
