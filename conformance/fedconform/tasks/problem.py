"""The models and losses of the tasks as functions of w, in NumPy or with another array module.

A kind fixes the model f and the loss of a batch. w holds W row by row and then b.
"""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

FEATURES = 2
SMALL = 1e-5  # batch normalisation adds it to the variance


@dataclass(frozen=True)
class Kind:
    """``outputs`` of f; ``bias``: f has b; ``squared``: the loss is ½ (f − y)²; ``normalised``: f
    gets the features of a batch with mean 0 and variance 1.
    """

    outputs: int = 1
    bias: bool = True
    squared: bool = True
    normalised: bool = False


OF_KIND = {
    "quadratic": Kind(bias=False),
    "linear": Kind(),
    "softmax": Kind(outputs=3, squared=False),
    "slope": Kind(squared=False),
    "batchnorm": Kind(normalised=True),
}


def num_features(kind: str) -> int:
    return 1 if kind == "quadratic" else FEATURES


def num_parameters(kind: str) -> int:
    """P."""
    form = OF_KIND[kind]
    return form.outputs * (num_features(kind) + form.bias)


def prepared(kind: str, x: Any, xp: ModuleType = np) -> Any:
    """The features [n, features] as the linear layer gets them."""
    if not OF_KIND[kind].normalised:
        return x
    return (x - x.mean(0)) / xp.sqrt(x.var(0) + SMALL)


def outputs(kind: str, w: Any, x: Any, xp: ModuleType = np) -> Any:
    """f(x) of each sample [n, outputs]."""
    form = OF_KIND[kind]
    weights = w[: form.outputs * x.shape[1]].reshape(form.outputs, -1)
    product = prepared(kind, x, xp) @ weights.T
    return product + w[-form.outputs :] if form.bias else product


def loss(kind: str, w: Any, x: Any, y: Any, xp: ModuleType = np) -> Any:
    """The mean loss of samples x [n, features], y [n] at w [P], a scalar of ``xp``."""
    output = outputs(kind, w, x, xp)
    if OF_KIND[kind].squared:
        return ((output[:, 0] - y) ** 2).mean() / 2
    if kind == "slope":
        return -(output[:, 0] * y).mean()
    highest = output.max(1, keepdims=True)
    total = xp.log(xp.exp(output - highest).sum(1)) + highest[:, 0]
    return (total - output[xp.arange(len(y)), y]).mean()


def residuals(kind: str, output: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the loss of each sample with respect to its output, [n, outputs]."""
    if OF_KIND[kind].squared:
        difference: np.ndarray = output - y[:, None]
        return difference
    if kind == "slope":
        return -np.broadcast_to(y[:, None], output.shape)
    powers = np.exp(output - output.max(1, keepdims=True))
    probabilities: np.ndarray = powers / powers.sum(1, keepdims=True)
    probabilities[np.arange(len(y)), y] -= 1
    return probabilities


def chained(kind: str, x: np.ndarray, outer: np.ndarray) -> np.ndarray:
    """The gradients of each sample with respect to w [n, P], from those with respect to f."""
    products = (outer[:, :, None] * prepared(kind, x)[:, None, :]).reshape(len(outer), -1)
    return np.concatenate([products, outer], axis=1) if OF_KIND[kind].bias else products


def sample_gradients(kind: str, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the loss of each sample, [n, P]."""
    return chained(kind, x, residuals(kind, outputs(kind, w, x), y))


def gradient(kind: str, w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the mean loss [P]."""
    outer = residuals(kind, outputs(kind, w, x), y)
    products = (outer.T @ prepared(kind, x)).reshape(-1)
    total = np.concatenate([products, outer.sum(0)]) if OF_KIND[kind].bias else products
    mean: np.ndarray = total / len(y)
    return mean
