"""How often a client is drawn that is not always there.

A client that is often absent is drawn less often than K/N, and a mean over the drawn ones is biased towards the others
([004] section 2.2). With the probabilities π_k below, weights ∝ ρ_k/π_k remove this bias.
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
    drawn = np.minimum(1, clients_per_round / np.arange(1, len(p) + 2))
    others = np.where(np.eye(len(p)), 0, p)  # row k: the chances of all clients but k
    law = np.zeros((len(p), len(p) + 1))  # row k: P(B_k = b), client after client
    law[:, 0] = 1
    for chance in others.T[:, :, None]:
        law[:, 1:] = (1 - chance) * law[:, 1:] + chance * law[:, :-1]
        law[:, :1] *= 1 - chance
    return np.asarray(p * (law @ drawn))
