"""Client-level differential privacy: clipped changes, and noise on their mean.

McMahan, Ramage, Talwar, Zhang: Learning Differentially Private Recurrent Language Models, ICLR 2018, algorithm 1
(DP-FedAvg, flat clipping, estimator f̃_f).

    c_k = (y_k − w) · min(1, C / ‖y_k − w‖₂)
    the server sees only  w + (Σ_S c_k + z) / K,    z ~ N(0, (σ C)² I)

C = ``clip``, σ = ``noise`` the noise multiplier, K the clients of the cohort. A client moves Σ c_k by at most C, for
all count alike: the mean is unweighted, whatever their n_k, and has noise of standard deviation σ C / K in each entry.
The inner algorithm gets that mean in place of all updates, so that nothing else can leak; hence it must be one whose
server needs no more (``needs = "mean"``). C = ∞ (with σ = 0) switches all of it off: the inner algorithm, weights
included. Numbers down and up as the inner algorithm has them.

Deviations. The paper draws every client independently with probability q = K/N and divides by qN; here a cohort has
exactly K = qN clients, without replacement. :func:`epsilon` accounts for it as if it were drawn as in the paper (the
usual Poisson approximation), where a neighbour is a federation with one client more or fewer. Noise comes from the
seed of the run and can be drawn again from it, and a history tells losses and drift without noise: this is to study the
method, not to protect anybody.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.history import History
from fedlab_core.server import Server

ORDERS = np.concatenate([[1.01, 1.05], np.arange(1.1, 11, 0.1), np.arange(11, 65), [96, 128, 256, 512, 1000]])


@dataclass(frozen=True)
class Private(Wrapper):
    """``inner`` on changes clipped to the norm C = ``clip`` > 0, with the noise multiplier σ = ``noise`` ≥ 0."""

    needs: ClassVar[Needs] = "own"  # nothing may come between the mean and the algorithm that uses it
    refusal: ClassVar[str] = "Its server learns more than a noisy mean, which is all that is private"
    inner: Algorithm
    clip: float
    noise: float

    def __post_init__(self) -> None:
        self.check_inner("mean")
        validation.real("noise", self.noise)
        if self.clip != math.inf:
            validation.real("clip", self.clip, exclusive=True)
        elif self.noise:
            raise ValueError(f"noise={self.noise}: must be 0 with clip=inf, or the noise would be infinite")

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        updates = self.inner.upload(server, updates)
        if self.clip == math.inf:
            return updates
        shares, w = (self.clip / updates.distances()).clamp(max=1), updates.received
        change = shares.mean() * (updates.weighted_mean(shares) - w)
        noise = torch.from_numpy(server.stream("privacy").standard_normal(len(w))).to(w)
        mean = w + change + self.noise * self.clip / len(shares) * noise
        # one row, as if a single client had sent it
        one, weight = updates.clients[:1], torch.ones_like(shares[:1])
        return LocalUpdates(one, mean[None], updates.num_steps[:1], weight, w)


def epsilon(history: History, delta: float) -> float:
    """ε of the (ε, δ) differential privacy of a run of :class:`Private` so far; infinite without noise.

    ``delta`` δ in (0, 1). By Rényi divergences (Mironov, Talwar, Zhang 2019, as the package opacus computes them) of
    the Poisson-sampled Gaussian mechanism with q = K/N. Of a run left between two evaluations, all rounds before the
    next one are counted. Raises ``ValueError`` for another algorithm, and for a run with ``availability``, where not
    only the server decides who takes part; ``ModuleNotFoundError`` without opacus.
    """
    validation.real("delta", delta, below=1, exclusive=True)
    config, algorithm = history.config, history.config["algorithm"]
    if algorithm["name"] != Private.__name__:
        raise ValueError(f"history: is of {algorithm['name']}, but must be of Private")
    if config["availability"] is not None:
        raise ValueError("history: was run with availability; its cohorts are no random sample of all clients")
    rounds, rate = _rounds(history), config["clients_per_round"] / config["num_clients"]
    if rounds == 0 or not algorithm["noise"]:
        return math.inf if rounds else 0.0
    rdp = _accountant()
    spent = rdp.compute_rdp(q=rate, noise_multiplier=algorithm["noise"], steps=rounds, orders=ORDERS)
    return float(rdp.get_privacy_spent(orders=ORDERS, rdp=spent, delta=delta)[0])


def _rounds(history: History) -> int:
    """How many rounds may have been run, at most."""
    config: Mapping[str, Any] = history.config
    last = history.records[-1].round if history.records else 0
    return min(config["rounds"], last + config["eval_every"] - 1)


def _accountant() -> Any:
    try:
        from opacus.accountants.analysis import rdp
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("epsilon needs opacus: pip install opacus", name="opacus") from error
    return rdp
