"""The patients (1 to 12 are algorithms, 13 to 18 helpers), and the healthy to compare with. What is
wrong with each is in :mod:`fedlab_course.chapters.ch07_bug_clinic.diagnoses`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.language import translator
from fedlab_core.server import Server
from fedlab_course.chapters.ch07_bug_clinic.diagnoses import WRONG

_ = translator(__name__)


def name_of(number: int) -> str:
    """The name of a patient."""
    return _("Patient {number}").format(number=number)


class Sick:
    """A mixin, first in the list of bases: the algorithm shows itself as "Patient 3", its number in
    ``_SICK``.
    """

    def describe(self) -> dict[str, Any]:
        """For the configuration of a run."""
        return {"name": str(self), **vars(self)}

    def __repr__(self) -> str:
        return name_of(next(number for number, pair in _SICK.items() if isinstance(self, pair[1])))

    __str__ = __repr__


class UniformMean(Sick, fl.FedAvg):
    """Patient 1."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return updates.params.mean(0)


class CohortShare(Sick, fl.Scaffold):
    """Patient 2."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c + (server.state["c"] - c) * server.num_clients / len(updates.clients)
        return params


class NeverApplied(Sick, fl.Scaffold):
    """Patient 3."""

    def correction(self, server: Server, client: int) -> fl.Correction:
        y = server.params.clone().requires_grad_()  # what the client receives
        if y.grad is not None:  # before the first backward pass there is no gradient to add to
            y.grad += server.state["c"] - server.state["c_clients"][client]
        return fl.Correction()


class MovingAnchor(Sick, fl.FedProx):
    """Patient 4."""

    def correction(self, server: Server, client: int) -> fl.Correction:
        y = server.params.clone().requires_grad_()
        r = y  # a second name, and no copy
        (pull,) = torch.autograd.grad(self.mu / 2 * ((y - r) ** 2).sum(), y)
        return fl.Correction(offset=pull)


class LastOverwrites(Sick, fl.FedAvg):
    """Patient 5."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        total = torch.zeros_like(server.params)
        samples = torch.zeros(())
        for local, n in zip(updates.params, updates.num_samples, strict=True):
            total = n * local
            samples = n
        return total / samples


class FlippedSign(Sick, fl.Scaffold):
    """Patient 6."""

    def correction(self, server: Server, client: int) -> fl.Correction:
        return fl.Correction(offset=server.state["c_clients"][client] - server.state["c"])


class TwiceRescaled(Sick, fl.FedNova):
    """Patient 7."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        step = super().aggregate(server, updates) - server.params
        return server.params + server.num_clients / len(updates.clients) * step


class LongestSteps(Sick, fl.Scaffold):
    """Patient 8."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        longest = updates.num_steps.max().expand_as(updates.num_steps)
        return super().aggregate(server, replace(updates, num_steps=longest))


class OverwrittenControl(Sick, fl.Scaffold):
    """Patient 9."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c  # c + Σ (c_k⁺ − c_k⁺)
        return params


class SameCohorts(Sick, fl.FedAvg):
    """Patient 10."""

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(server.round)
        yield np.sort(rng.choice(server.num_clients, server.clients_per_round, replace=False))


class ControlFromWeights(Sick, fl.Scaffold):
    """Patient 11."""

    def setup(self, server: Server) -> None:
        super().setup(server)
        server.state["c"] = server.params.clone()


class StaleShare(Sick, fl.FedCurv):
    """Patient 12."""

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        kept = {name: server.state[name] for name in ("fisher", "fisher_params")}
        params = super().aggregate(server, updates)
        for name, table in kept.items():
            table[updates.clients] = server.state[name][updates.clients]
            server.state[name] = table
        return params


@dataclass(frozen=True)
class Patient:
    """``name``, such as "Patient 3"; ``method``: what it says
    it is; ``algorithm``: what it runs.
    """

    name: str
    method: str
    algorithm: fl.Algorithm


_WELL: dict[str, fl.Algorithm] = {
    "FedAvg": fl.FedAvg(),
    "FedProx": fl.FedProx(mu=1.0),
    "SCAFFOLD": fl.Scaffold(),
    "FedNova": fl.FedNova(),
    "FedCurv": fl.FedCurv(strength=0.01),
}
HEALTHY = {name: Patient(name, name, algorithm) for name, algorithm in _WELL.items()}
# Number → the method that the patient says it is, and the class that runs.
_SICK: dict[int, tuple[str, type[fl.Algorithm]]] = {
    1: ("FedAvg", UniformMean),
    2: ("SCAFFOLD", CohortShare),
    3: ("SCAFFOLD", NeverApplied),
    4: ("FedProx", MovingAnchor),
    5: ("FedAvg", LastOverwrites),
    6: ("SCAFFOLD", FlippedSign),
    7: ("FedNova", TwiceRescaled),
    8: ("SCAFFOLD", LongestSteps),
    9: ("SCAFFOLD", OverwrittenControl),
    10: ("FedAvg", SameCohorts),
    11: ("SCAFFOLD", ControlFromWeights),
    12: ("FedCurv", StaleShare),
}


def _patient(number: int) -> Patient:
    """The patient with the parameters of its healthy method."""
    method, kind = _SICK[number]
    return Patient(name_of(number), method, kind(**vars(_WELL[method])))


PATIENTS = {number: _patient(number) for number in _SICK}


class GaveUp(RuntimeError):
    """A loop without an end was stopped."""


def squared_mean(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Patient 13."""
    return _gradient(model, functional.cross_entropy(model(x), y)) ** 2


def last_batch(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch_size: int = 8
) -> torch.Tensor:
    """Patient 14."""
    for batch in zip(x.split(batch_size), y.split(batch_size), strict=True):
        fisher = fl.importance.fisher_diagonal(model, *batch)
    return fisher


def signed_importance(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Patient 15."""
    return _gradient(model, (model(x) ** 2).sum(1).mean())


def retry_partition(
    y: Any, *, num_clients: int, alpha: float, min_size: int = 10, patience: int = 1000
) -> tuple[list[np.ndarray], int]:
    """Patient 16.

    Returns the index arrays and the number of deals. The original has no ``patience``: here it
    raises :class:`GaveUp`.
    """
    for deal in range(1, patience + 1):
        parts = fl.partition.dirichlet(
            y, num_clients=num_clients, alpha=alpha, by="class", seed=deal
        )
        if min(map(len, parts)) >= min_size:
            return parts, deal
    raise GaveUp(f"after {patience} deals some client still has fewer than {min_size} samples")


def straggler_epochs(local_epochs: int, rng: np.random.Generator) -> int:
    """Patient 17."""
    return int(rng.integers(1, local_epochs))


@torch.no_grad()
def mean_of_batches(
    model: nn.Module, x: torch.Tensor, y: torch.Tensor, batch_size: int = 100
) -> float:
    """Patient 18."""
    batches = zip(x.split(batch_size), y.split(batch_size), strict=True)
    return float(np.mean([float((model(x).argmax(1) == y).float().mean()) for x, y in batches]))


def _gradient(model: nn.Module, value: torch.Tensor) -> torch.Tensor:
    """∂ value / ∂w, flat [P]."""
    gradients = torch.autograd.grad(value, list(model.parameters()))
    return torch.cat([gradient.reshape(-1) for gradient in gradients])


_HELPERS = (
    squared_mean,
    last_batch,
    signed_importance,
    retry_partition,
    straggler_epochs,
    mean_of_batches,
)
HELPERS: dict[int, Callable[..., Any]] = dict(enumerate(_HELPERS, start=len(PATIENTS) + 1))


def diagnosis(number: int) -> str:
    """What is wrong with this patient. Raises ``ValueError`` for a number that nobody has."""
    return WRONG[validation.choice("patient", number, WRONG)]
