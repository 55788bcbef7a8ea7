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


def weight_and_anchor(
    answer: Callable[..., Any],
    received: Sequence[float],
    first: Sequence[float],
    importance: Sequence[float],
    strength: float,
    lr: float,
) -> Any:
    """The weight and the anchor [2, P] of the correction that ``answer`` returns for these
    vectors [P].
    """
    vectors = [
        torch.tensor(values, dtype=torch.float64) for values in (received, first, importance)
    ]
    correction = answer(*vectors, strength, lr)
    parts = [
        torch.as_tensor(part, dtype=torch.float64)
        for part in (correction.weight, correction.anchor)
    ]
    return torch.stack([part.expand(len(received)) for part in parts])
