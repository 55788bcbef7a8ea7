"""Federations from formulas: the synthetic(α, β) family, and quadratics with a known optimum."""

from collections.abc import Sequence

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.randomness import stream

NUM_FEATURES = 60
NUM_CLASSES = 10


def synthetic(
    alpha: float = 1.0,
    beta: float = 1.0,
    num_clients: int = 30,
    seed: int = 0,
    *,
    iid: bool = False,
) -> Dataset:
    """Draw synthetic(α, β) data of Li et al. 2020 ("Federated Optimization in Heterogeneous
    Networks", section 5.1).

    For client k, with x of 60 features and 10 classes:

        u_k ~ N(0, α)    W_k ~ N(u_k, 1) [10, 60]    b_k ~ N(u_k, 1) [10]
        B_k ~ N(0, β)    v_k ~ N(B_k, 1) [60]        x ~ N(v_k, Σ), Σ_jj = j^−1.2
        y = argmax softmax(W_k x + b_k)              n_k = ⌊lognormal(4, 2)⌋ + 50

    α and β are variances; in the authors' published generator they are standard deviations, so its
    0.5 is 0.25 here. u_k adds the same amount to all ten logits, so α changes no label.
    ``iid=True``: one W, b ~ N(0, 1), v = 0 for all.

    A random tenth of each client's samples goes to ``test``; ``users`` holds the clients' indices
    into ``train``. Client k's data depend on ``seed`` and k alone. Raises ``ValueError`` for
    negative α or β.
    """
    validation.real("alpha", alpha)
    validation.real("beta", beta)
    validation.integer("num_clients", num_clients, minimum=1)
    validation.seed(seed)
    shared = stream(seed, "data")
    labeller = None
    if iid:
        weights = shared.normal(size=(NUM_CLASSES, NUM_FEATURES))
        labeller = (weights, shared.normal(size=NUM_CLASSES))
    train = []
    test = []
    for k in range(num_clients):
        x, y = _synthetic_client(stream(seed, "data", client=k + 1), alpha, beta, labeller)
        held_out = len(y) // 10
        test.append((x[:held_out], y[:held_out]))
        train.append((x[held_out:], y[held_out:]))
    bounds = np.cumsum([len(y) for _, y in train])
    users = np.split(np.arange(bounds[-1]), bounds[:-1])
    name = "synthetic(iid)" if iid else f"synthetic({alpha:g}, {beta:g})"
    classes = tuple(str(c) for c in range(NUM_CLASSES))
    return Dataset(name, _joined(train), _joined(test), NUM_CLASSES, classes, users)


def _synthetic_client(
    rng: np.random.Generator,
    alpha: float,
    beta: float,
    labeller: tuple[np.ndarray, np.ndarray] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw samples [n, 60] and labels [n]; ``labeller``: the common (W, b) with v = 0, or None."""
    size = int(rng.lognormal(4, 2)) + 50
    if labeller is None:
        u = rng.normal(0, np.sqrt(alpha))
        weight = rng.normal(u, 1, (NUM_CLASSES, NUM_FEATURES))
        bias = rng.normal(u, 1, NUM_CLASSES)
        v = rng.normal(rng.normal(0, np.sqrt(beta)), 1, NUM_FEATURES)
    else:
        (weight, bias), v = labeller, np.zeros(NUM_FEATURES)
    deviation = np.arange(1, NUM_FEATURES + 1) ** -0.6
    x = rng.normal(v, deviation, (size, NUM_FEATURES))
    return x, (x @ weight.T + bias).argmax(1)


def _joined(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> Split:
    x, y = map(np.concatenate, zip(*pairs, strict=True))
    return Split(torch.from_numpy(x).float(), torch.from_numpy(y))


def quadratics(
    a: Sequence[float], b: Sequence[float], num_samples: int | Sequence[int] = 1
) -> FederatedDataset:
    """Make a federation in which client i minimises f_i(w) = a_i/2 (w − b_i)², with known exact
    results.

    The data: the sample √a_i with target √a_i·b_i, ``num_samples`` times (a number for all, or one
    per client), for a linear model without bias in float64 and the loss "squared_error". The test
    set has all samples, so the test loss is the global F = Σ p_i f_i with p_i = n_i/Σn.

    Raises ``ValueError`` for different lengths, or a_i ≤ 0.
    """
    curvatures, minima, sizes = _quadratic_arguments(a, b, num_samples)
    x = np.sqrt(np.repeat(curvatures, sizes))[:, None]
    y = x * np.repeat(minima, sizes)[:, None]
    cuts = np.cumsum(sizes)[:-1]
    clients = list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))
    return FederatedDataset.from_clients(clients, (x, y), name="quadratics")


def quadratic_optimum(
    a: Sequence[float], b: Sequence[float], num_samples: int | Sequence[int] = 1
) -> float:
    """Compute the global minimum of the federation
    :func:`quadratics`: Σ p_i a_i b_i / Σ p_i a_i.
    """
    curvatures, minima, sizes = _quadratic_arguments(a, b, num_samples)
    return float((sizes * curvatures * minima).sum() / (sizes * curvatures).sum())


def _quadratic_arguments(
    a: Sequence[float], b: Sequence[float], num_samples: int | Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    curvatures = np.array([validation.real("a", value, exclusive=True) for value in a])
    minima = np.array([validation.real("b", value, minimum=-np.inf) for value in b])
    counts = [num_samples] * len(curvatures) if isinstance(num_samples, int) else list(num_samples)
    sizes = np.array([validation.integer("num_samples", count, minimum=1) for count in counts])
    if not len(curvatures) == len(minima) == len(sizes) > 0:
        lengths = f"{len(curvatures)}, {len(minima)} and {len(sizes)}"
        raise ValueError(f"a, b, num_samples: must have one entry per client, got {lengths}")
    return curvatures, minima, sizes
