"""IFCA: several models; every client trains the one that fits its data best.

Ghosh et al.: An Efficient Framework for Clustered Federated Learning, NeurIPS 2020, algorithm 1,
option II.

    M models θ_1 … θ_M are sent to the cohort S
    m(k) = argmin_m F_k(θ_m)    on all samples of client k; ties: the lowest m
    y_k: E epochs of SGD from θ_m(k)
    θ_m ← Σ_{k ∈ S, m(k) = m} n_k y_k / Σ_{k ∈ S, m(k) = m} n_k    unchanged if no client chose it

θ_m [P]. A client is measured with the model that fits its training samples best. M·P numbers down
and P + 1 up (y_k, m(k)) per client; M = 1 is FedAvg exactly. The global parameters w, with their
test accuracy and ``drift``, are the model with the most samples in the cohort, which may change
from round to round.

Deviations. The paper averages with equal weights; here the weights are n_k. It leaves the first
models open; here they are w_0, and w_0 + σ ⊙ z with z standard normal from the stream "models" and
σ the root mean square of each parameter tensor: 1/√2 as far from w_0 as another random
initialisation, with √2 times its norm.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, Correction, LocalUpdates, Server
from fedlab_core.validation import Count


@dataclass(frozen=True)
class IFCA(Algorithm):
    """IFCA with M = ``num_models`` ≥ 1. State: ``models`` [M, P].

    Raises ``ValueError`` if M > 1 and w_0 is zero, because all models would be equal.
    """

    num_models: Count

    def setup(self, server: Server) -> None:
        w = server.params
        if self.num_models > 1 and not w.any():
            raise ValueError(
                f"num_models={self.num_models}: the first weights are zero, so that all models "
                "would be equal; use a model with random first weights"
            )
        rms = torch.cat(
            [w[part].square().mean().sqrt().expand_as(w[part]) for part in server.layout.values()]
        )
        noise = server.stream("models").standard_normal((self.num_models - 1, len(w)))
        others = w + rms * torch.from_numpy(noise).to(w)
        server.state["models"] = torch.cat([w[None], others])

    def cohorts(self, server: Server) -> Iterator[Any]:  # pairs of clients and their choices
        cohort = server.uniform_cohort()
        yield cohort, dict(zip(cohort.tolist(), self._choices(server, cohort), strict=True))

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(start=server.state["models"][server.tag[client]])

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        choices = torch.tensor([server.tag[client] for client in updates.clients.tolist()])
        models = list(server.state["models"])
        samples = np.zeros(self.num_models)
        for m in set(choices.tolist()):
            weights = updates.num_samples * (choices == m).to(updates.num_samples)
            models[m] = updates.weighted_mean(weights)
            samples[m] = weights.sum().item()
        server.state["models"] = torch.stack(models)
        return server.state["models"][int(samples.argmax())]

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        return server.state["models"][self._choices(server, clients)]

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        down = self.num_models * server.num_parameters
        up = server.num_parameters + (self.num_models > 1)
        return len(cohort) * down, len(cohort) * up

    def _choices(self, server: Server, clients: np.ndarray) -> list[int]:
        """m(k) of each client."""
        if not len(clients):
            return []
        choices: list[int] = server.losses(clients, server.state["models"]).argmin(0).tolist()
        return choices
