"""Softmax regression with flat parameters in NumPy: the clients of the first federation that a
reader trains.
"""

from collections.abc import Callable, Mapping

import numpy as np
import torch

from fedlab_core.data import Dataset, FederatedDataset

Gradient = Callable[[int, np.ndarray], np.ndarray]


def gradient_of(fed: FederatedDataset) -> Gradient:
    """Make the function (k, y) → ∇F_k(y), the gradient of client k's mean loss at the parameters y
    [P].

    y holds the weights [classes, features], row by row, and then the biases, as
    ``fl.models.softmax_regression`` does.
    """
    clients = [
        (x.flatten(1).double().numpy(), y.numpy())
        for x, y in map(fed.client, range(fed.num_clients))
    ]

    def gradient(k: int, y: np.ndarray) -> np.ndarray:
        x, labels = clients[k]
        scores = _scores(y, x)
        errors = np.exp(scores - scores.max(axis=1, keepdims=True))
        errors /= errors.sum(axis=1, keepdims=True)
        errors[np.arange(len(labels)), labels] -= 1
        return np.concatenate([(errors.T @ x).ravel(), errors.sum(axis=0)]) / len(labels)

    return gradient


def flat(state: Mapping[str, torch.Tensor]) -> np.ndarray:
    """The tensors of a state dict, one after another, as one vector [P]."""
    vector: np.ndarray = torch.cat([tensor.flatten() for tensor in state.values()]).numpy()
    return vector


def accuracy(params: np.ndarray, data: Dataset) -> float:
    """The share of test images that the model with these parameters labels correctly."""
    scores = _scores(params, data.test.x.flatten(1).double().numpy())
    return float((scores.argmax(axis=1) == data.test.y.numpy()).mean())


def _scores(params: np.ndarray, x: np.ndarray) -> np.ndarray:
    classes = len(params) // (x.shape[1] + 1)
    return x @ params[:-classes].reshape(classes, -1).T + params[-classes:]
