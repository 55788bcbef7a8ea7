"""Patients whose server combines, or draws, wrongly; and one whose clients are not held."""

from collections.abc import Iterator

import numpy as np
import torch

from fedlab_core.algorithms import FedAvg, FedNova, FedProx
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server
from fedlab_course.chapters.ch09_bug_clinic.sick import Sick


class UniformMean(Sick, FedAvg):
    """The server takes the plain mean of the y_k, and does not weigh them by their samples n_k."""

    number = 1

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.params.mean(0)


class MovingAnchor(Sick, FedProx):
    """The anchor is updated in place together with the parameters, so y − r is zero and the term never pulls."""

    number = 4

    def correction(self, server: Server, client: int) -> Correction:
        y = server.params.clone().requires_grad_()
        r = y  # a second name, and no copy
        (pull,) = torch.autograd.grad(self.mu / 2 * ((y - r) ** 2).sum(), y)
        return Correction(offset=pull)


class LastOverwrites(Sick, FedAvg):
    """The loop that sums says ``=`` where it should say ``+=``: the last client of the cohort overwrites the others."""

    number = 5

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        total, samples = torch.zeros_like(server.params), torch.zeros(())
        for local, n in zip(updates.params, updates.num_samples, strict=True):
            total, samples = n * local, n
        return total / samples


class TwiceRescaled(Sick, FedNova):
    """The weights ρ_k^S sum to 1 over the cohort already, and the sum is multiplied by N/K once more."""

    number = 7

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        step = super().aggregate(server, updates) - server.params
        return server.params + server.num_clients / len(updates.clients) * step


class SameCohorts(Sick, FedAvg):
    """The generator of the cohorts is seeded with the number of the round, so every seed asks the same clients."""

    number = 10

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(server.round)
        yield np.sort(rng.choice(server.num_clients, server.clients_per_round, replace=False))
