"""FedAvg: federated averaging.

McMahan et al.: Communication-Efficient Learning of Deep Networks from Decentralized Data, AISTATS
2017, algorithm 1; [001], [002], [004].

    K of N clients, uniformly, without replacement
    y_k = w;  E epochs of mini-batch SGD, the last short batch included
    w ← Σ_S n_k y_k / Σ_S n_k

w [P] global and y_k [P] local parameters, n_k samples of client k, S the cohort. P numbers down and
P up per client.
"""

from dataclasses import dataclass

from fedlab_core.algorithms.base import Algorithm


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """The default behaviour of :class:`Algorithm`; no parameters."""

    needs = "mean"
