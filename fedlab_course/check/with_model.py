"""Call an answer with a PyTorch model or with tensors. A submission gets plain numbers, and makes
them.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn


def linear(
    answer: Callable[..., Any],
    weight: Sequence[Sequence[float]],
    bias: Sequence[float],
    samples: Sequence[Sequence[float]],
) -> Any:
    """What ``answer`` returns for f(x) = W x + b with these W and b, and for these x, in double
    precision.
    """
    model = nn.Linear(len(weight[0]), len(weight), dtype=torch.float64)
    with torch.no_grad():
        model.weight.copy_(torch.tensor(weight, dtype=torch.float64))
        model.bias.copy_(torch.tensor(bias, dtype=torch.float64))
    return answer(model, torch.tensor(samples, dtype=torch.float64))


def weight_and_step(
    answer: Callable[..., Any],
    anchor: Sequence[float],
    importance: Sequence[float],
    params: Sequence[float],
    gradient: Sequence[float],
    strength: float,
    lr: float,
) -> Any:
    """The weight of the correction that ``answer`` returns, and the local parameters after one step
    with it from ``params`` at ``gradient`` [2, P], all vectors [P].
    """
    r, omega, y, g = (
        torch.tensor(values, dtype=torch.float64)
        for values in (anchor, importance, params, gradient)
    )
    correction = answer(r, omega, strength, lr)
    weight = torch.as_tensor(correction.weight, dtype=torch.float64)
    step = y - lr * correction.direction(g, y)
    return torch.stack([weight.broadcast_to(y.shape), step]).tolist()
