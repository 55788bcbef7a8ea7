"""Private: client-level differential privacy by clipped changes and noise on their mean.

McMahan et al.: Learning Differentially Private Recurrent Language Models, ICLR 2018, algorithm 1
(flat clipping).

    c_k = (y_k − w) · min(1, C / ‖y_k − w‖₂)
    the server receives only  w + (Σ_S c_k + z) / K,    z ~ N(0, (σ C)² I)

C = ``clip``, σ = ``noise`` the noise multiplier, K clients in the cohort. The mean is unweighted,
so that one client moves Σ c_k by at most C. The inner algorithm must need no more (``needs =
"mean"``). C = ∞ with σ = 0 is the inner algorithm exactly.

Deviations. The paper samples every client independently with probability q = K/N; here a cohort has
exactly K clients, and :func:`epsilon` uses the usual Poisson approximation. Noise comes from the
run's seed, and the history contains losses and drift without noise: this studies the method and
protects nobody.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, LocalUpdates, Needs, Server
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.history import History
from fedlab_core.validation import NotNegative

ORDERS = np.concatenate(
    [[1.01, 1.05], np.arange(1.1, 11, 0.1), np.arange(11, 65), [96, 128, 256, 512, 1000]]
)


@dataclass(frozen=True)
class Private(Wrapper):
    """``inner`` on changes clipped to the norm C = ``clip`` > 0, with the noise multiplier σ =
    ``noise`` ≥ 0.
    """

    needs: ClassVar[Needs] = "own"  # nothing may be put between the mean and the inner algorithm
    refusal: ClassVar[str] = (
        "Its server needs more than the noisy mean, and only the mean is private"
    )
    inner: Algorithm
    clip: float
    noise: NotNegative

    def __post_init__(self) -> None:
        self.check_inner("mean")
        super().__post_init__()
        if self.clip != math.inf:
            validation.real("clip", self.clip, exclusive=True)
        elif self.noise:
            raise ValueError(
                f"noise={self.noise}: must be 0 with clip=inf, or the noise would be infinite"
            )

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        updates = self.inner.upload(server, updates)
        if self.clip == math.inf:
            return updates
        shares = (self.clip / updates.distances).clamp(max=1)
        w = updates.received
        change = shares.mean() * (updates.weighted_mean(shares) - w)
        noise = torch.from_numpy(server.stream("privacy").standard_normal(len(w))).to(w)
        mean = w + change + self.noise * self.clip / len(shares) * noise
        # one row, as from a single client
        client = updates.clients[:1]
        weight = torch.ones_like(shares[:1])
        return LocalUpdates(client, mean[None], updates.num_steps[:1], weight, w)


def epsilon(history: History, delta: float) -> float:
    """Compute ε of the (ε, δ) differential privacy of a run of :class:`Private` so far; infinite
    without noise.

    ``delta`` δ in (0, 1). Uses opacus: Rényi divergences (Mironov et al. 2019) of the
    Poisson-sampled Gaussian mechanism with q = K/N. Rounds up to the next evaluation are counted.
    """
    validation.real("delta", delta, below=1, exclusive=True)
    config = history.config
    algorithm = history.config["algorithm"]
    if algorithm["name"] != Private.__name__:
        raise ValueError(f"history: is of {algorithm['name']}, but must be of Private")
    if config["availability"] is not None:
        raise ValueError(
            "history: has a run with availability; its cohorts are no random samples of all clients"
        )
    last = history.records[-1].round if history.records else 0
    rounds = min(config["rounds"], last + config["eval_every"] - 1)
    if rounds == 0 or not algorithm["noise"]:
        return math.inf if rounds else 0.0
    try:
        from opacus.accountants.analysis import rdp
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "epsilon needs opacus: pip install opacus", name="opacus"
        ) from error
    rate = config["clients_per_round"] / config["num_clients"]
    spent = rdp.compute_rdp(
        q=rate, noise_multiplier=algorithm["noise"], steps=rounds, orders=ORDERS
    )
    return float(rdp.get_privacy_spent(orders=ORDERS, rdp=spent, delta=delta)[0])
