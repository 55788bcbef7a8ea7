"""FedSSO: stratified sampling over clusters of clients.

Lu, Deng, Ma, Wu, Zhou: Federated Learning Based on Stratified Sampling Optimization for Heterogeneous Clients, Computer
Science 49(9), 2022, algorithm 1 [004].

    w_1^k: every client trains from w_0;    w_1 = Σ_k ρ_k w_1^k                 the probe, a round of all N clients
    clusters c = OPTICS(min_samples, ξ) of the w_1^k
    each round: S takes its share of every cluster from the clients that are available;  y_k as in FedAvg
    w ← Σ_S ω_k y_k,    ω_k ∝ ρ_k/(π_k φ_c), Σ_S ω_k = 1

ρ_k = n_k/Σn sample weight of client k, π_k its inclusion probability given who is available, φ_c the share of its
cluster c that is available, by sample weight (1 if all are): who is there stands in for the absent of the cluster,
which keeps its weight. y_k and w [P]. P numbers down and P up per client, and once N·P down and N·P up with one server
update for the probe. The paper runs with η_t = 0.01/(1 + t), which is ``lr=fl.InverseTime(0.01)`` and as open to every
other algorithm: compare like with like.

Deviations.
- Eq. (9) probes with one step on one sample. On MNIST that finds hardly any cluster, so that the paper's figure 2
  cannot come from it; ``probe="sample"`` is it to the letter, the default is one epoch, "full_batch" one step on all
  samples. The probe's rate and batch size are settings of their own.
- "Density 2, radius 0.25" are read as min_samples = 2 and ξ = 0.25; ``eps=0.25`` reads the second as a radius.
- β·n_c clients of every cluster is less than one client for small clusters. The default draws systematically along the
  clusters: exactly K clients, each with π_k = K/N, and the floor or the ceiling of every cluster's share.
  "at_least_one" takes max(1, β·n_c), β = K/N, and π_k = s_c/n_c makes up for it.
- Algorithm 1 weighs with (N/K)·ρ_k, which sums to 1 only for equal clients; ``weights="literal"`` has it, with the size
  of the cohort for K. For equal clients and π_k = K/N the two are the same. Eq. (27) has a second ρ_k and eq. (30) no
  N/K; neither is a weighted mean.
- A client outside every cluster is a stratum of its own (``noise="keep"``), is never drawn ("drop"), or joins the
  nearest cluster ("nearest"). The paper does not say.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.algorithms.probe import check_enough_clients, probe_clients
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.clustering import optics, settle_noise
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.sampling import AtLeastOne, Design, Systematic
from fedlab_core.sampling import weights as weights_of
from fedlab_core.server import Server
from fedlab_core.settings import Settings


@dataclass(frozen=True)
class FedSSO(Algorithm):
    """FedSSO. ``min_samples``, ``xi`` and ``eps`` go to OPTICS; ``projection`` D clusters random projections to D.

    For thousands of clients choose one: clusters take N²P/2 products, and with it N²D/2.

    State: ``clusters`` int64 [N], −1 for noise.
    """

    needs: ClassVar[Needs] = "each"
    min_samples: int = 2
    xi: float = 0.25
    probe: Literal["epoch", "full_batch", "sample"] = "epoch"
    sampling: Literal["systematic", "at_least_one"] = "systematic"
    noise: Literal["keep", "drop", "nearest"] = "keep"
    eps: float | None = None
    weights: Literal["normalised", "literal"] = "normalised"
    probe_lr: float = 0.01
    probe_batch: int = 10
    projection: int | None = None

    def __post_init__(self) -> None:
        validation.integer("min_samples", self.min_samples, minimum=2)
        if not 0 < validation.real("xi", self.xi) < 1:
            raise ValueError(f"xi={self.xi!r}: must lie between 0 and 1")
        validation.literals(self)
        if self.eps is not None:
            validation.real("eps", self.eps, exclusive=True)
        validation.real("probe_lr", self.probe_lr, exclusive=True)
        validation.integer("probe_batch", self.probe_batch, minimum=1)
        if self.projection is not None:
            validation.integer("projection", self.projection, minimum=1)

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        check_enough_clients("min_samples", self.min_samples, fed)

    def setup(self, server: Server) -> None:
        found = probe_clients(server, lr=self.probe_lr, projection=self.projection, **self._probe_work())
        labels = optics(found.points, self.min_samples, self.xi, self.eps).labels
        server.state["clusters"] = torch.from_numpy(settle_noise(labels, found.points, self.noise))
        server.params = found.mean
        server.spend(server_updates=1)

    def _probe_work(self) -> dict[str, Any]:
        if self.probe == "epoch":
            return {"epochs": 1, "batch_size": self.probe_batch}
        return {"steps": 1, "batch_size": 1 if self.probe == "sample" else None}

    def cohorts(self, server: Server) -> list[np.ndarray]:
        cohort = self._design(server).draw(server.stream("cohort"))
        return [cohort] if len(cohort) else []

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return self._omega(server, updates.clients).to(updates.params) @ updates.params

    def _omega(self, server: Server, cohort: np.ndarray) -> torch.Tensor:
        """The weights ω_k of the cohort, float64 [K]."""
        rho = server.fed.weights
        if self.weights == "literal":
            drawn = np.full(len(cohort), len(cohort) / server.num_clients)
            return torch.from_numpy(weights_of(rho[cohort], drawn, literal=True))
        probabilities = self._design(server).probabilities * self._present_share(server)
        return torch.from_numpy(weights_of(rho[cohort], probabilities[cohort]))

    def _present_share(self, server: Server) -> np.ndarray:
        """φ_c for each client's cluster c, float64 [N]; 1 for a client that is a stratum of its own."""
        shares, rho = np.ones(server.num_clients), server.fed.weights
        for c, members in server.groups("clusters").items():
            present = server.present(members)
            if c >= 0 and len(present) < len(members):
                shares[members] = rho[present].sum() / rho[members].sum()
        return shares

    def _design(self, server: Server) -> Design:
        """This round's law over cohorts, given who is available."""
        clusters = server.state["clusters"].cpu().numpy()
        available = server.available & (clusters >= 0) if self.noise == "drop" else server.available
        if self.sampling == "systematic":
            return Systematic(clusters, server.clients_per_round, available)
        return AtLeastOne(clusters, server.clients_per_round / server.num_clients, available)
