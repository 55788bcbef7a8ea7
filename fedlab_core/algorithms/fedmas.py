"""FedMas: tiers of similar clients train in sequence, under a penalty by Memory Aware Synapses.

Song, Li, Wan, Wei: the paper on FedMas [002], algorithm 1 and eqs. (3)–(6). The importance is that
of Aljundi et al.: Memory Aware Synapses, ECCV 2018.

    w_1^k: every client trains from w_0;  tiers = DBSCAN of the w_1^k;  w_0 stays the model
    each round, tier after tier, with w* the model that the tier receives:
      S: the share K/N of the tier, at least one client
      y_k ← y_k − η (∇F_k(y_k; batch) + 2λ Ω ⊙ (y_k − w*))    gradient of F_k + λ Σ Ω (y_k − w*)²
      y_k ← (y_k − η ∇F_k(y_k; batch) + 2ηλ Ω ⊙ w*) / (1 + 2ηλ Ω)    penalty_step="implicit"
      w ← Σ_S n_k y_k / Σ_S n_k,  which the next tier receives
      Ω: one random client of the tier:  mean over its samples of |∂ ‖f(x)‖² / ∂w|,
         f(x) the logits or their softmax

w, y_k, Ω [P]. T tiers make T server updates a round. Numbers of a tier with s sampled clients: s(w
+ Ω) down and s·w up, then w down and Ω up for the client that measures Ω; no Ω before the first
measurement or for λ = 0. The probe is a round of all N clients without a server update.

Gaps of the text.
- eps of DBSCAN is not given: the default is the knee of the k-distances; noise joins the nearest
  tier.
- λ is "as in FedFMC", without a value. The explicit step of the penalty is stable only for
  η·2λ·max Ω < 2; otherwise the run warns once. The implicit step takes the penalty at the new y_k:
  it has the same resting point, and no such bound. "explicit" is the default because it is the
  letter of the text: on the digits, each at its best rate by rounds, neither step ends above tiers
  without a penalty (results/claims/others.md, fair-2). It can diverge where "implicit" does not.
- Eq. (6) calls a "the output vector of the network" inside a cross-entropy. The authors of Memory
  Aware Synapses use the logits; the softmax is the other reading. Ω of the logits can grow with
  them without a bound, and ‖softmax‖² is at most 1.
- "No penalty in the first tier" is read as the first tier of the run; ``no_penalty="first_round"``
  as the first round.
- Ω is replaced by each measurement; "accumulate" adds, "ema" averages with weight 0.9 on the past.
  On the digits with one label, within fifty server updates and each at its best λ and rate, the
  implicit step with "accumulate" ends 24 points above "replace", and "ema" nine. After fifty rounds
  none is a point above tiers without a penalty (chapter 5 of the course).

Ablations, each with the question that it answers.
- ``FedAvgMas``, one tier: what does the penalty do without tiers?
- ``TFedAvg``, λ = 0: what do tiers do without the penalty?
- ``penalty_step``: does a λ fail because it is too strong, or because its explicit step diverges?
- ``output``: does a run fail because Ω grows with the logits?
Neither the step nor the output changes what is sent.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

from fedlab_core.algorithms.base import (
    Algorithm,
    Correction,
    FederatedDataset,
    LocalUpdates,
    Server,
    Settings,
)
from fedlab_core.algorithms.tiers import Dbscan, OneTier, Tiers, tiers_from
from fedlab_core.correction import PenaltyStep, implicit_scale
from fedlab_core.losses import Output
from fedlab_core.one_page import draw_cohort
from fedlab_core.validation import NotNegative

DECAY = 0.9


@dataclass(frozen=True)
class FedMas(Algorithm):
    """FedMas with penalty λ = ``strength`` ≥ 0.

    ``tiers``: :class:`Dbscan`, :class:`KMeans` or :class:`OneTier`, one of the names "dbscan",
    "kmeans" and "one", or a tier for each client [N]. State: ``clusters`` int64 [N], the tiers;
    ``importance`` Ω [P]; ``weight`` 2λΩ [P]; ``has_penalty``, whether the tier trains with it;
    ``warned``; with the implicit step ``scale`` 1 / (1 + 2ηλΩ) [P].
    """

    needs = "each"
    strength: NotNegative
    tiers: Tiers | str | list[int] = field(default_factory=Dbscan)
    importance_update: Literal["replace", "accumulate", "ema"] = "replace"
    no_penalty: Literal["first_tier", "first_round"] = "first_tier"
    tier_order: Literal["fixed", "shuffled"] = "fixed"
    penalty_step: PenaltyStep = "explicit"
    output: Output = "logits"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "tiers", tiers_from(self.tiers))

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        self.tiers.check(fed)  # type: ignore[union-attr]

    def setup(self, server: Server) -> None:
        server.state["clusters"] = torch.from_numpy(self.tiers.labels(server))  # type: ignore[union-attr]
        server.state["importance"] = server.state["weight"] = torch.zeros_like(server.params)
        server.state["has_penalty"] = False
        server.state["warned"] = torch.tensor(False)

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        for cohort in self.tier_cohorts(server):
            self._prepare_step(server)
            yield cohort

    def tier_cohorts(self, server: Server) -> Iterator[np.ndarray]:
        """Draw a cohort of each tier that has available clients, in the order of the visits."""
        tiers = server.groups("clusters")
        order = np.array(list(tiers))
        if self.tier_order == "shuffled":
            # the stream after the last tier's
            order = server.stream("cohort", int(order[-1]) + 1).permutation(order)
        for tier in order.tolist():
            present = server.present(tiers[tier])
            if len(present):
                share = server.clients_per_round / server.num_clients * len(tiers[tier])
                yield draw_cohort(present, max(1, int(share + 0.5)), server.stream("cohort", tier))

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        """Let one available client of the tier measure Ω at the
        tier's aggregate, on its own data.
        """
        if self.strength == 0:
            return
        client = self.measuring_client(server, updates)
        old = server.state["importance"]
        new = server.importance(client, server.params, self.output)
        if self.importance_update == "accumulate":
            new = old + new
        elif self.importance_update == "ema" and old.any():
            new = DECAY * old + (1 - DECAY) * new
        server.state["importance"] = new
        # the same tensor for all clients: the engine stores it once
        server.state["weight"] = 2 * self.strength * new
        server.spend(down=server.num_parameters, up=server.num_parameters)

    def measuring_client(self, server: Server, updates: LocalUpdates) -> int:
        """Draw the available client of the tier of ``updates`` that measures Ω."""
        tier = int(server.state["clusters"][updates.clients[0]])
        members = server.present(server.groups("clusters")[tier])
        return int(server.stream("importance", tier).choice(members))

    def correction(self, server: Server, client: int) -> Correction:
        if not server.state["has_penalty"]:
            return Correction()
        if self.penalty_step == "explicit":
            return Correction(weight=server.state["weight"], anchor=server.params)
        return Correction(
            weight=server.state["weight"], anchor=server.params, scale=server.state["scale"]
        )

    def _has_penalty(self, server: Server) -> bool:
        """Whether clients train with the penalty now: Ω has been measured, and ``no_penalty``
        allows it.
        """
        is_spared = self.no_penalty == "first_round" and server.round == 1
        return self.strength > 0 and not is_spared and bool(server.state["importance"].any())

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        down = 2 if server.state["has_penalty"] else 1
        return down * len(cohort) * server.num_parameters, len(cohort) * server.num_parameters

    def _prepare_step(self, server: Server) -> None:
        """Decide whether the tier trains with the penalty; check the explicit step, or scale the
        implicit one.

        All clients of the tier get the same tensors: the engine stores these once.
        """
        server.state["has_penalty"] = self._has_penalty(server)
        if self.penalty_step == "implicit":
            server.state["scale"] = implicit_scale(server.state["weight"], server.lr)
        else:
            self._check_stability(server)

    def _check_stability(self, server: Server) -> None:
        """Warn once in a run if the penalty makes local steps diverge."""
        largest = float(server.state["importance"].max()) if server.state["has_penalty"] else 0.0
        if server.lr * 2 * self.strength * largest < 2 or server.state["warned"]:
            return
        server.state["warned"] = torch.tensor(True)
        warnings.warn(
            f"strength={self.strength:g}: lr·2λ·max Ω = "
            f"{server.lr * 2 * self.strength * largest:.3g} in round {server.round}; local steps "
            f"are stable only below 2. For lr={server.lr:g} and max Ω = {largest:.3g}, λ must be "
            f"less than {1 / (server.lr * largest):.3g}, or take penalty_step='implicit'",
            stacklevel=2,
        )


@dataclass(frozen=True)
class FedAvgMas(FedMas):
    """FedAvg with the penalty: FedMas with one tier, an ablation of [002]."""

    tiers: Tiers | str | list[int] = field(default_factory=OneTier, init=False)


@dataclass(frozen=True)
class TFedAvg(FedMas):
    """FedAvg on one tier after another: FedMas without penalty, an ablation of [002]."""

    strength: float = field(default=0.0, init=False)


@dataclass(frozen=True)
class TFedAvgMas(FedMas):
    """FedMas under its name in the ablation of [002]."""
