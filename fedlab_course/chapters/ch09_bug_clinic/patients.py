"""The patients that are algorithms, the healthy algorithms to compare with, and the diagnoses."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms import Algorithm, FedAvg, FedCurv, FedNova, FedProx, Scaffold
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server
from fedlab_course.chapters.ch09_bug_clinic.helpers import HELPERS


class Sick:
    """A mixin, first in the list of bases: the algorithm shows itself as "Patient 3", the third that is defined."""

    number: ClassVar[int]

    def describe(self) -> dict[str, Any]:
        """For the configuration of a run."""
        return {"name": str(self), **vars(self)}

    def __repr__(self) -> str:
        return f"Patient {self.number}"

    __str__ = __repr__


class UniformMean(Sick, FedAvg):
    """The server takes the plain mean of the y_k, and does not weigh them by their samples n_k."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.params.mean(0)


class CohortShare(Sick, Scaffold):
    """c is updated by the sum of the changes over |S|, the cohort, in place of N, all clients."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c + (server.state["c"] - c) * server.num_clients / len(updates.clients)
        return params


class NeverApplied(Sick, Scaffold):
    """The correction is written to gradients that are not there yet, so no local step ever contains it."""

    def correction(self, server: Server, client: int) -> Correction:
        y = server.params.clone().requires_grad_()  # what the client receives
        if y.grad is not None:  # before the first backward pass there is no gradient to add to
            y.grad += server.state["c"] - server.state["c_clients"][client]
        return Correction()


class MovingAnchor(Sick, FedProx):
    """The anchor is updated in place together with the parameters, so y − r is zero and the term never pulls."""

    def correction(self, server: Server, client: int) -> Correction:
        y = server.params.clone().requires_grad_()
        r = y  # a second name, and no copy
        (pull,) = torch.autograd.grad(self.mu / 2 * ((y - r) ** 2).sum(), y)
        return Correction(offset=pull)


class LastOverwrites(Sick, FedAvg):
    """The loop that sums says ``=`` where it should say ``+=``: the last client of the cohort overwrites the others."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        total, samples = torch.zeros_like(server.params), torch.zeros(())
        for local, n in zip(updates.params, updates.num_samples, strict=True):
            total, samples = n * local, n
        return total / samples


class FlippedSign(Sick, Scaffold):
    """The clients step along g + c_k − c: the correction has the wrong sign."""

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(offset=server.state["c_clients"][client] - server.state["c"])


class TwiceRescaled(Sick, FedNova):
    """The weights ρ_k^S sum to 1 over the cohort already, and the sum is multiplied by N/K once more."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        step = super().aggregate(server, updates) - server.params
        return server.params + server.num_clients / len(updates.clients) * step


class LongestSteps(Sick, Scaffold):
    """In the renewal of c_k, τ is the largest number of steps in the cohort, and not that of each client itself."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        longest = updates.num_steps.max().expand_as(updates.num_steps)
        return super().aggregate(server, replace(updates, num_steps=longest))


class OverwrittenControl(Sick, Scaffold):
    """c_k is overwritten before its change is formed, so every change is zero, and c stays zero."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c  # c + Σ (c_k⁺ − c_k⁺)
        return params


class SameCohorts(Sick, FedAvg):
    """The generator of the cohorts is seeded with the number of the round, so every seed asks the same clients."""

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(server.round)
        yield np.sort(rng.choice(server.num_clients, server.clients_per_round, replace=False))


class ControlFromWeights(Sick, Scaffold):
    """c starts as a copy of the weights, made together with the model, while the c_k start at zero."""

    def setup(self, server: Server) -> None:
        super().setup(server)
        server.state["c"] = server.params.clone()


class StaleShare(Sick, FedCurv):
    """A client subtracts its own share even if it was not in the last cohort: the penalty can become negative.

    The shares of all rounds are kept, and what is subtracted from the sum of the last cohort is then not part of it.
    """

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        kept = {name: server.state[name] for name in ("fisher", "fisher_params")}
        params = super().aggregate(server, updates)
        for name, table in kept.items():
            table[updates.clients] = server.state[name][updates.clients]
            server.state[name] = table
        return params


@dataclass(frozen=True)
class Patient:
    """``name``, such as "Patient 3"; ``method``: what it says it is; ``algorithm``: what it runs."""

    name: str
    method: str
    algorithm: Algorithm


_WELL = {"FedAvg": FedAvg(), "FedProx": FedProx(mu=1.0), "SCAFFOLD": Scaffold(), "FedNova": FedNova()}
_WELL |= {"FedCurv": FedCurv(strength=0.01)}
HEALTHY = {name: Patient(name, name, algorithm) for name, algorithm in _WELL.items()}
_SICK: dict[int, Any] = dict(enumerate(Sick.__subclasses__(), start=1))  # in the order of their definitions
PATIENTS: dict[int, Patient] = {}
for _number, _kind in _SICK.items():
    _kind.number = _number
    [_well] = [one for one in HEALTHY.values() if issubclass(_kind, type(one.algorithm))]
    PATIENTS[_number] = Patient(f"Patient {_number}", _well.method, _kind(**vars(_well.algorithm)))


def diagnosis(number: int) -> str:
    """What is wrong with this patient. Raises ``ValueError`` for a number that nobody has."""
    sick = _SICK | HELPERS
    return (inspect.getdoc(sick[validation.choice("patient", number, sick)]) or "").split("\n\n")[0]
