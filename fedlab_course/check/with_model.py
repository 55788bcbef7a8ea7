"""Call an answer with a PyTorch model. A submission gets plain numbers, and makes the model."""

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
