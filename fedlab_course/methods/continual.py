"""Tasks one after another: penalties that hold a model to the last one, and what it knows of each
on its way.

:class:`Continual` is elastic weight consolidation (Kirkpatrick et al., PNAS 2017) with the Fisher
information, and Memory Aware Synapses (Aljundi et al., ECCV 2018) with that of MAS; a uniform
importance is a plain spring.
"""

import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.utils import vector_to_parameters

import fedlab_core as fl
from fedlab_core.algorithms.wrapper import Wrapper
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.engines.flat import FlatModel
from fedlab_core.language import translator
from fedlab_core.server import Server
from fedlab_core.simulation import Diverged
from fedlab_core.validation import Count, NotNegative

_ = translator(__name__)

MOST_SAMPLES = 2000  # of a test set that are looked at after every update
MOST_IMAGES = 1500  # of a task: all of the digits, and of larger data what a live run has time for
Tests = list[tuple[torch.Tensor, torch.Tensor]]
Importance = Callable[[nn.Module, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Continual(fl.Algorithm):
    """One client after another, each a task, held to the model that the one before it left.

    The penalty is λ Σ_p Ω_p (y_p − r_p)² with λ = ``strength``, r the model at the end of the last
    task and Ω the ``importance`` on that task's data: "fisher", the diagonal of the empirical
    Fisher information, "mas", or "uniform",
    1. The first task is free. ``rounds_each``: rounds of a task; None: all take their turns in
       every round.
    """

    strength: NotNegative
    importance: Literal["fisher", "mas", "uniform"] = "fisher"
    rounds_each: Count | None = None

    def setup(self, server: Server) -> None:
        server.state |= {"importance": torch.zeros_like(server.params), "anchor": server.params}

    def cohorts(self, server: Server) -> Iterator[np.ndarray]:
        """The client whose rounds these are, or every client by itself, in their order."""
        for client in range(server.num_clients):
            if (
                self.rounds_each is None
                or client == (server.round - 1) // self.rounds_each % server.num_clients
            ):
                yield np.array([client])

    def correction(self, server: Server, client: int) -> Correction:
        """The gradient of the penalty, 2λ Ω ⊙ (y − r)."""
        return Correction(
            weight=2 * self.strength * server.state["importance"], anchor=server.state["anchor"]
        )

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        """At the end of a task measure what its client holds to be important."""
        if self.rounds_each is not None and server.round % self.rounds_each:
            return
        server.state |= {"importance": self.measured(server, updates), "anchor": server.params}

    def measured(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Ω [P] at the global parameters, on the samples of the client that trained."""
        if self.importance == "fisher":
            return server.fisher_diagonals(updates)[0]
        if self.importance == "mas":
            return server.importance(int(updates.clients[0]), server.params)
        return torch.ones_like(server.params)


def measure(importance: Importance, model: nn.Module, server: Server, client: int) -> torch.Tensor:
    """Ω [P]: ``importance`` of a copy of ``model`` at the global parameters, and of the samples x
    [n, …] of ``client``.
    """
    return importance(_at(model, server.params), server.fed.x[server.fed.parts[client]])


def _at(model: nn.Module, params: torch.Tensor) -> nn.Module:
    """A copy of ``model`` with the parameters ``params`` [P]."""
    at = copy.deepcopy(model)
    vector_to_parameters(params, at.parameters())
    return at


class Watched(NamedTuple):
    """``way`` [V, P] after each server update, the largest η·max a of a correction, and the end or
    last warning.
    """

    way: torch.Tensor
    stiffest: float
    trouble: str

    @property
    def diverged(self) -> bool:
        """Whether the run ended before its time."""
        return self.trouble.startswith("diverged")


@dataclass(frozen=True)
class Noted(Wrapper):
    """Does what ``inner`` does, and notes the parameters after every server update, the clients
    that trained for it, and the stiffest correction.
    """

    inner: fl.Algorithm

    def correction(self, server: Server, client: int) -> Correction:
        """That of ``inner``, whose largest η·a is kept."""
        correction = super().correction(server, client)
        weight = torch.as_tensor(correction.weight, dtype=server.params.dtype).max().cpu()
        before = server.state.get("noted_stiffest", torch.tensor(0.0))
        server.state["noted_stiffest"] = torch.maximum(before, server.lr * weight)
        return correction

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        before = server.state.get("noted_way", server.params[None][:0])
        server.state["noted_way"] = torch.cat([before, server.params[None]])
        trained = torch.zeros(1, server.num_clients, dtype=torch.bool)
        trained[0, updates.clients] = True
        earlier = server.state.get("noted_clients", trained[:0])
        server.state["noted_clients"] = torch.cat([earlier, trained])
        super().after_aggregation(server, updates)


def watch(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **settings: Any
) -> Watched:
    """Run ``algorithm`` from ``model`` with the ``settings`` of :func:`fedlab_core.simulate`, and
    watch every update.

    A run that diverges is a result here: nothing is raised, and no warning is shown.
    """
    simulation = fl.Simulation(fed, model, Noted(algorithm), **settings)
    trouble = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            simulation.run()
            trouble = str(caught[-1].message) if caught else ""
        except Diverged as error:
            trouble = _("diverged in round {round}").format(round=error.round)
    state = {"noted_way": torch.zeros(0, 0), "noted_stiffest": 0.0} | simulation.state_dict()[
        "algorithm"
    ]
    return Watched(state["noted_way"], float(state["noted_stiffest"]), trouble)


def knowledge(
    way: torch.Tensor, model: nn.Module, tasks: Sequence[tuple[torch.Tensor, torch.Tensor]]
) -> np.ndarray:
    """Of the samples of each task, the share that ``model`` gets right with each row of ``way`` [V,
    P]: [V, tasks].

    ``tasks``: samples x [n, …] and labels y [n] of each.
    """
    images = torch.cat([x for x, _ in tasks])
    labels = torch.cat([y for _, y in tasks])
    judge = FlatModel(model)
    found = np.zeros((len(way), len(tasks)))
    for v, params in enumerate(way):
        right = (judge.output(params, images).argmax(1) == labels).double()
        found[v] = [float(own.mean()) for own in right.split([len(y) for _, y in tasks])]
    return found


def by_labels(data: fl.data.Dataset) -> tuple[fl.FederatedDataset, Tests]:
    """Two clients, with ``MOST_IMAGES`` at most of the labels 0 to 4 and 5 to 9, and the test
    images of each.
    """
    tasks = [range(5), range(5, 10)]
    parts = [
        np.flatnonzero(np.isin(data.train.y.numpy(), list(task)))[:MOST_IMAGES] for task in tasks
    ]
    return fl.FederatedDataset(data, parts), tests_of(data, tasks)


def by_pixels(data: fl.data.Dataset, seed: int) -> tuple[fl.FederatedDataset, Tests]:
    """Two clients with all images, as they are and with their pixels in an order of this ``seed``,
    and tests.
    """
    order = torch.from_numpy(
        fl.randomness.stream(seed, "partition").permutation(data.train.x[0].numel())
    )
    train, test = (
        (split.x, split.x.flatten(1)[:, order].reshape(split.x.shape))
        for split in (data.train, data.test)
    )
    clients = [(x, data.train.y) for x in train]
    fed = fl.FederatedDataset.from_clients(clients, test=(data.test.x, data.test.y))
    return fed, [(x, data.test.y) for x in test]


def tests_of(data: fl.data.Dataset, tasks: Sequence[Sequence[int]]) -> Tests:
    """The test images and labels of each task, a list of labels, among the first ``MOST_SAMPLES``
    test images.
    """
    x = data.test.x[:MOST_SAMPLES]
    y = data.test.y[:MOST_SAMPLES]
    members = [torch.isin(y, torch.tensor(list(task))) for task in tasks]
    return [(x[mine], y[mine]) for mine in members]


def recall(knows: np.ndarray, rounds: range) -> np.ndarray:
    """Accuracy on a task 0, 1, …, T − 1 updates after its own, [T]: the mean over turns in
    ``rounds``.

    ``knows`` [V, T], tasks trained in the order 0, 1, …, T − 1, 0, …. A turn counts if its T − 1
    followers are there; NaN where none does: the run was over too soon.
    """
    updates, tasks = knows.shape
    turns = [v for v in range(updates - tasks + 1) if v // tasks in rounds]
    if not turns:
        return np.full(tasks, np.nan)
    return np.array([np.mean([knows[v + lag, v % tasks] for v in turns]) for lag in range(tasks)])
