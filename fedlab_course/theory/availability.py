"""How often a client is drawn that is not always there.

A client that is often absent is drawn less often than K/N, and a mean over the drawn ones is biased towards the others
([004] section 2.2). With the probabilities π_k below, weights ∝ ρ_k/π_k undo that.
"""

import numpy as np

from fedlab_core import validation
from fedlab_core.sampling import Bernoulli


def inclusion(probabilities: np.ndarray, clients_per_round: int) -> np.ndarray:
    """π_k of drawing K (or all, if fewer) of the available clients with equal chances, float64 [N].

    Client k is there with ``probabilities`` p_k [N], independently of the others, as :class:`Bernoulli` has it:
    π_k = p_k · E min(1, K/(1 + B_k)), where B_k, the number of others that are there, is Poisson-binomial. Holds for
    :class:`~fedlab_core.sampling.Uniform` and for :class:`~fedlab_core.sampling.Systematic`.

    Raises ``ValueError`` for probabilities outside [0, 1] and fewer than one client per round.
    """
    p = Bernoulli(probabilities).probabilities
    validation.integer("clients_per_round", clients_per_round, minimum=1)
    drawn = np.minimum(1, clients_per_round / np.arange(1, len(p) + 1))
    return p * (others_available(p) @ drawn)


def num_available(probabilities: np.ndarray) -> np.ndarray:
    """P(B = b), b = 0 … N, float64 [N + 1], of the sum B of independent coins with ``probabilities`` [N]."""
    law = np.zeros(len(probabilities) + 1)
    law[0] = 1
    for p in probabilities:
        law[1:] = (1 - p) * law[1:] + p * law[:-1]
        law[0] *= 1 - p
    return law


def others_available(probabilities: np.ndarray) -> np.ndarray:
    """P(B_k = b), b = 0 … N − 1, for all coins but the k-th, float64 [N, N], in O(N²) operations.

    Coin k is taken out of f, the law of the sum of all: f(b) = (1 − p) f_k(b) + p f_k(b − 1). Solved from b = 0 up
    where p ≤ ½ and from b = N down where p > ½, an error never grows from one step to the next. Column N stays zero.
    """
    p, law = probabilities, num_available(probabilities)
    num = len(p)
    others = np.zeros((num, num + 1))
    low = p <= 0.5
    high = ~low
    for b in range(num):
        others[low, b] = (law[b] - p[low] * others[low, b - 1]) / (1 - p[low])
    for b in range(num - 1, -1, -1):
        others[high, b] = (law[b + 1] - (1 - p[high]) * others[high, b + 1]) / p[high]
    return np.clip(others[:, :num], 0, 1)
