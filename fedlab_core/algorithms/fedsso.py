"""FedSSO: stratified sampling over clusters of clients.

Lu et al.: Federated Learning Based on Stratified Sampling Optimization for Heterogeneous Clients,
Computer Science 49(9), 2022, algorithm 1 [004].

    w_1^k: every client trains from w_0;    w_1 = Σ_k ρ_k w_1^k    probe, a round of all N
    clusters c = OPTICS(min_samples, ξ) of the w_1^k
    each round: S takes its share of the available clients of every cluster;  y_k as in FedAvg
    w ← Σ_S ω_k y_k,    ω_k ∝ ρ_k/(π_k φ_c), Σ_S ω_k = 1

w, y_k [P]; ρ_k = n_k/Σn weight of client k; π_k its inclusion probability given who is available;
φ_c the available share of its cluster, by weight: available clients represent the absent ones. The
probe takes N·P numbers down, N·P up and one server update. The paper's rate η_t = 0.01/(1 + t) is
``lr=fl.InverseTime(0.01)``.

Deviations.
- Eq. (9) probes with one step on one sample, which finds hardly any cluster on MNIST;
  ``probe="sample"`` does that, the default is one epoch, "full_batch" one step on all samples.
- "Density 2, radius 0.25" are read as min_samples = 2 and ξ = 0.25; ``eps=0.25`` reads the second
  as a radius.
- β·n_c clients are less than one for small clusters. The default draws systematically along the
  clusters: exactly K clients with π_k = K/N. "at_least_one" takes max(1, β·n_c), β = K/N, with
  π_k = s_c/n_c.
- Algorithm 1 weighs with (N/K)·ρ_k, which sums to 1 only for equal clients; ``weights="literal"``
  does that. Eq. (27) has a second ρ_k and eq. (30) no N/K; neither is a weighted mean.
- Noise (not in the paper): a noise client is a stratum ("keep"), is not drawn ("drop") or joins a
  cluster ("nearest").
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, FederatedDataset, LocalUpdates, Server, Settings
from fedlab_core.algorithms.probe import check_enough_clients, probe_clients
from fedlab_core.clustering import optics, settle_noise
from fedlab_core.sampling import AtLeastOne, Design, Systematic
from fedlab_core.sampling import weights as weights_of
from fedlab_core.validation import Count, Positive, ProperShare, Several


@dataclass(frozen=True)
class FedSSO(Algorithm):
    """FedSSO; ``min_samples``, ``xi`` and ``eps`` are those of OPTICS. State: ``clusters`` int64
    [N], −1 for noise.

    ``projection`` D: cluster random projections [N, D], for thousands of clients.
    """

    needs = "each"
    min_samples: Several = 2
    xi: ProperShare = 0.25
    probe: Literal["epoch", "full_batch", "sample"] = "epoch"
    sampling: Literal["systematic", "at_least_one"] = "systematic"
    noise: Literal["keep", "drop", "nearest"] = "keep"
    eps: Positive | None = None
    weights: Literal["normalised", "literal"] = "normalised"
    probe_lr: Positive = 0.01
    probe_batch: Count = 10
    projection: Count | None = None

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        check_enough_clients("min_samples", self.min_samples, fed)

    def setup(self, server: Server) -> None:
        batch_sizes = {"epoch": self.probe_batch, "full_batch": None, "sample": 1}
        points, mean = probe_clients(
            server,
            lr=self.probe_lr,
            batch_size=batch_sizes[self.probe],
            epochs=1 if self.probe == "epoch" else 0,
            steps=0 if self.probe == "epoch" else 1,
            projection=self.projection,
        )
        labels = self.cluster_labels(server, points)
        server.state["clusters"] = torch.from_numpy(settle_noise(labels, points, self.noise))
        server.params = mean
        server.spend(server_updates=1)

    def cluster_labels(self, server: Server, points: np.ndarray) -> np.ndarray:
        """Cluster the ``points`` [N, D] of the probe: a number a client, int64 [N]; −1 is noise."""
        return optics(points, self.min_samples, self.xi, self.eps).labels

    def cohorts(self, server: Server) -> list[np.ndarray]:
        return [self._design(server).draw(server.stream("cohort"))]

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        cohort = updates.clients
        rho = server.fed.weights
        if self.weights == "literal":
            probabilities = np.full(len(cohort), len(cohort) / server.num_clients)
            omega = weights_of(rho[cohort], probabilities, literal=True)
        else:
            probabilities = self._design(server).probabilities * self._present_share(server)
            omega = weights_of(rho[cohort], probabilities[cohort])
        return torch.from_numpy(omega).to(updates.params) @ updates.params

    def _present_share(self, server: Server) -> np.ndarray:
        """φ_c of each client's cluster c, float64 [N]; 1 for noise clients."""
        shares = np.ones(server.num_clients)
        rho = server.fed.weights
        for c, members in server.groups("clusters").items():
            present = server.present(members)
            if c >= 0 and len(present) < len(members):
                shares[members] = rho[present].sum() / rho[members].sum()
        return shares

    def _design(self, server: Server) -> Design:
        """The sampling design of this round, given who is available."""
        clusters = server.state["clusters"].cpu().numpy()
        available = server.available
        if self.noise == "drop":
            available = available & (clusters >= 0)
        if self.sampling == "systematic":
            return Systematic(clusters, server.clients_per_round, available)
        return AtLeastOne(clusters, server.clients_per_round / server.num_clients, available)
