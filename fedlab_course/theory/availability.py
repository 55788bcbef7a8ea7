"""How often a client is drawn that is not always there.

A client that is often absent is drawn less often than K/N, and a mean over the drawn ones is biased towards the others
([004] section 2.2). With the probabilities π_k below, weights ∝ ρ_k/π_k undo that.
"""

from collections.abc import Iterator

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
    return p * sum(chances * drawn[b] for b, chances in others_available(p))


def num_available(probabilities: np.ndarray) -> np.ndarray:
    """P(B = b), b = 0 … N, float64 [N + 1], of the sum B of independent coins with ``probabilities`` [N]."""
    law = np.zeros(len(probabilities) + 1)
    law[0] = 1
    for p in probabilities:
        law[1:] = (1 - p) * law[1:] + p * law[:-1]
        law[0] *= 1 - p
    return law


def others_available(probabilities: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """P(B_k = b) for all coins but the k-th, as pairs (b, float64 [N]), each b = 0 … N − 1 twice: two terms of a sum.

    Coin k is taken out of f, the law of the sum of all: f(b) = (1 − p) f_k(b) + p f_k(b − 1). Solved from b = 0 up
    where p ≤ ½ and from b = N down where p > ½, an error never grows from one step to the next: the first time round
    come the former coins, the others are 0, the second time the latter. O(N²) operations in O(N) memory.
    """
    p, law = probabilities, num_available(probabilities)
    low = p <= 0.5
    chances, low_p, high_p = np.zeros(len(p)), np.where(low, p, 0), np.where(low, 1, p)
    for b in range(len(p)):
        chances = np.where(low, (law[b] - low_p * chances) / (1 - low_p), 0)
        yield b, np.clip(chances, 0, 1)
    chances = np.zeros(len(p))
    for b in range(len(p) - 1, -1, -1):
        chances = np.where(low, 0, (law[b + 1] - (1 - high_p) * chances) / high_p)
        yield b, np.clip(chances, 0, 1)
