"""The engines compute the same numbers for every algorithm and model, with equal and ragged
clients.

``ALGORITHMS`` and ``VARIANTS`` are the algorithms of all tests that take every one.
"""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.algorithms import (
    IFCA,
    Compressed,
    Ditto,
    FedAdam,
    FedAvgM,
    FedAvgMas,
    FedDyn,
    FedPer,
    FedYogi,
    FineTune,
    MimeLite,
    PowerOfChoice,
    Private,
    QFedAvg,
    TFedAvg,
)
from fedlab_core.algorithms.tiers import Dbscan, KMeans
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.server import Server
from tests.support import blobs

RAGGED = (3, 17, 8, 30, 1, 12, 25)
EQUAL = (12, 12, 12, 12, 12, 12, 12)


class PerParameter(fl.Algorithm):
    """A weight for each parameter, an anchor and an offset that differ from client to client."""

    def correction(self, server: Server, client: int) -> fl.Correction:
        weight = (
            torch.linspace(0, 1, server.num_parameters, dtype=server.params.dtype)
            * (1 + client)
            / 2
        )
        return fl.Correction(weight=weight, anchor=server.params * 0.5, offset=0.01 * weight)


class Mixed(fl.Algorithm):
    """Some clients corrected, others not; weights as plain numbers that differ."""

    def correction(self, server: Server, client: int) -> fl.Correction:
        return (
            fl.Correction()
            if client % 3 == 0
            else fl.Correction(weight=0.1 * client, anchor=server.params)
        )


class Local(fl.Algorithm):
    """Starts, scales, momenta and amounts of work that differ from client to client: each alone,
    and all together.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def correction(self, server: Server, client: int) -> fl.Correction:
        ramp = torch.linspace(0, 1, server.num_parameters, dtype=server.params.dtype) * (
            1 + client % 4
        )
        every = {
            "start": server.params + 0.02 * ramp,
            "scale": ramp.round(),
            "momentum": 0.2 * (client % 5),
            "amount": 1 + client % 3,
            "weight": 0.1 * ramp,
            "anchor": server.params * 0.5,
            "offset": 0.01 * ramp,
        }
        return fl.Correction(**{name: every[name] for name in self.names if client != 2})


STEP = ("start", "scale", "momentum", "amount")
LOCAL = [*(Local(name) for name in STEP), Local(*STEP, "weight", "anchor", "offset")]

ALGORITHMS = [
    fl.FedAvg(),
    fl.FedProx(0.5),
    fl.Scaffold(),
    fl.Scaffold(option=1, control_update="cohort"),
    fl.FedNova(),
    fl.FedNova(0.5),
    fl.FedCurv(0.5),
    fl.FedSSO(sampling="at_least_one", noise="nearest", eps=0.2, weights="literal", projection=50),
    fl.FedMas(0.01, tiers=KMeans(num_tiers=3)),
    fl.FedMas(
        0.01, tiers=[0, 0, 1, 1, 1, 2, 2], importance_update="accumulate", tier_order="shuffled"
    ),
    fl.FedMas(50.0, tiers=[0, 0, 1, 1, 1, 2, 2], penalty_step="implicit", output="softmax"),
    fl.FedCurv(20.0, penalty_step="implicit"),
    FedDyn(0.5),
    MimeLite(0.7),
    IFCA(3),
    Ditto(0.3),
    PerParameter(),
    Mixed(),
    *LOCAL,
]
VARIANTS = [
    FedPer(("3",)),
    fl.FedSSO(),
    fl.FedMas(0.01, tiers=Dbscan(eps=0.01)),
    FedAvgMas(0.01),
    TFedAvg(tiers=Dbscan(eps=0.01)),
    FedAvgM(),
    FedAdam(0.05),
    FedYogi(0.05),
    QFedAvg(1.5),
    PowerOfChoice(6),
    FineTune(2),
    Compressed(fl.FedAvg(), keep=0.3),
    Compressed(fl.FedAvg(), keep=0.5, bits=4),
    Private(fl.FedProx(0.5), clip=0.5, noise=0.1),
]


def both(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **changes
) -> list[fl.Simulation]:
    """A finished run of each engine."""
    arguments = {
        "rounds": 4,
        "clients_per_round": 5,
        "local_epochs": 2,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    if "local_steps" in changes:
        del arguments["local_epochs"]
    found = [
        fl.Simulation(fed, model, algorithm, engine=e, **arguments | changes)
        for e in ("reference", "stacked")
    ]
    for simulation in found:
        simulation.run()
    return found


def assert_same(
    fed: fl.FederatedDataset,
    model: nn.Module,
    algorithm: fl.Algorithm,
    atol: float = 1e-9,
    **changes,
) -> None:
    runs = both(fed, model, algorithm, **changes)
    reference, stacked = (run.history for run in runs)
    assert (stacked.config["engine"], stacked.config["engine_form"]) == ("stacked", "layers")
    torch.testing.assert_close(stacked.params, reference.params, rtol=0, atol=atol)
    assert stacked.frame.drift.to_numpy() == pytest.approx(
        reference.frame.drift.to_numpy(), abs=100 * atol
    )
    used = [algorithm.client_params(run._server, np.arange(fed.num_clients)) for run in runs]
    torch.testing.assert_close(*used, rtol=0, atol=atol)
    assert (
        torch.nn.utils.parameters_to_vector(model.parameters()) - reference.params
    ).abs().max() > 1e-3


WORK = [{}, {"local_steps": 7}, {"batch_size": None}, {"stragglers": 0.7, "local_epochs": 4}]


@pytest.mark.parametrize(("number", "algorithm"), list(enumerate(ALGORITHMS + VARIANTS)), ids=str)
def test_every_algorithm(number: int, algorithm: fl.Algorithm) -> None:
    fed = blobs((RAGGED, EQUAL)[number % 3 == 0])
    assert_same(fed, fl.models.mlp(fed, (6, 5), seed=1), algorithm, **WORK[number % 4])


@pytest.mark.parametrize("work", WORK, ids=str)
def test_every_kind_of_work(work: dict) -> None:
    fed = blobs(RAGGED)
    assert_same(fed, fl.models.mlp(fed, (6, 5), seed=1), LOCAL[-1], **work)


@pytest.mark.parametrize("algorithm", [fl.Scaffold(), fl.FedCurv(0.5), PerParameter()], ids=str)
def test_single_precision(algorithm: fl.Algorithm) -> None:
    fed = blobs(RAGGED, dtype=torch.float32)
    assert_same(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, atol=2e-5)


def images(side: int, channels: int = 1) -> fl.FederatedDataset:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(70, channels, side, side, generator=generator, dtype=torch.float64)
    y = (x.mean((1, 2, 3)) * 1000).long() % 3
    data = Dataset("images", Split(x[:60], y[:60]), Split(x[60:], y[60:]), 3)
    bounds = [0, 3, 15, 40, 41, 50, 60]
    return fl.FederatedDataset(data, [list(range(a, b)) for a, b in pairwise(bounds)])


def texts() -> fl.FederatedDataset:
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 9, (60, 7), generator=generator)
    y = x[:, -1] % 2
    data = Dataset("texts", Split(x[:50], y[:50]), Split(x[50:], y[50:]), 2)
    return fl.FederatedDataset(
        data, [list(range(a, b)) for a, b in ((0, 3), (3, 20), (20, 30), (30, 44), (44, 50))]
    )


@pytest.mark.parametrize("algorithm", [fl.FedAvg(), PerParameter(), LOCAL[-1]], ids=str)
@pytest.mark.parametrize(
    ("fed", "model"),
    [
        (images(10), fl.models.softmax_regression),
        (images(10), fl.models.cnn_mnist),
        (images(16, channels=3), fl.models.cnn_cifar),
        (texts(), lambda fed, seed: fl.models.lstm(fed, embedding=4, hidden=6, seed=seed)),
    ],
    ids=["softmax", "cnn_mnist", "cnn_cifar", "lstm"],
)
def test_every_built_in_model(fed, model, algorithm: fl.Algorithm) -> None:
    assert_same(fed, model(fed, seed=0).double(), algorithm, rounds=3, lr=0.3)


@pytest.mark.parametrize(
    "layers",
    [
        [nn.Linear(4, 5), nn.Tanh(), nn.ReLU(), nn.Linear(5, 3)],
        [nn.Linear(4, 5, bias=False), nn.Sigmoid(), nn.Linear(5, 3)],
        [nn.ReLU(), nn.Linear(4, 3)],
    ],
)
def test_other_layers(layers) -> None:
    fed = blobs(RAGGED)
    assert_same(fed, nn.Sequential(*layers).double(), fl.FedAvg())


def test_chunks_do_not_change_the_result(monkeypatch) -> None:
    fed = blobs(RAGGED)
    model = fl.models.mlp(fed, (6,))
    whole = both(fed, model, fl.Scaffold())[1].history
    monkeypatch.setattr("fedlab_core.engines.stacked.engine.CACHE_BYTES", 1000)
    chunked = both(fed, model, fl.Scaffold())[1].history
    torch.testing.assert_close(chunked.params, whole.params, rtol=0, atol=1e-12)


class Residual(nn.Module):
    """A module the stacked engine has no layer for."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.output = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(x + torch.tanh(self.inner(x)))


class Doubled(nn.Linear):
    """A subclass of a known layer that computes something else."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(x)


def tied() -> nn.Module:
    """A layer used twice."""
    layer = nn.Linear(4, 4)
    return nn.Sequential(layer, nn.Tanh(), layer, nn.Linear(4, 3))


def shared() -> nn.Module:
    """Two layers that share one parameter."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4), nn.Linear(4, 3))
    model[2].weight = model[0].weight
    return model


CORRECTED = [
    fl.FedAvg(),
    fl.FedProx(0.5),
    fl.FedCurv(0.5),
    fl.FedMas(0.01),
    PerParameter(),
    Mixed(),
    *LOCAL,
]
UNKNOWN = [Residual(), nn.Sequential(nn.Linear(4, 5), Doubled(5, 3)), tied(), shared()]


@pytest.mark.parametrize(("number", "algorithm"), list(enumerate(CORRECTED)), ids=str)
def test_unknown_modules_go_through_vmap(number: int, algorithm: fl.Algorithm) -> None:
    model = UNKNOWN[number % 4].double()
    reference, stacked = (run.history for run in both(blobs(RAGGED), model, algorithm, lr=0.05))
    assert (stacked.config["engine"], stacked.config["engine_form"]) == ("stacked", "vmap")
    torch.testing.assert_close(stacked.params, reference.params, rtol=0, atol=1e-9)


class Branching(nn.Module):
    """Control flow on data, which vmap cannot do."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(x if x.sum() > 0 else -x)


@pytest.mark.parametrize(
    "model", [Branching(), nn.Sequential(nn.Linear(4, 5), nn.Dropout(0.5), nn.Linear(5, 3))]
)
def test_what_vmap_cannot_do_goes_to_the_loop_and_says_so(model: nn.Module) -> None:
    fed = blobs(RAGGED)
    arguments = {
        "rounds": 1,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    with pytest.warns(UserWarning, match="one after another") as warned:
        history = fl.simulate(fed, model.double(), fl.FedAvg(), **arguments)
    assert len(warned) == 1 and (history.config["engine"], history.config["engine_form"]) == (
        "reference",
        "loop",
    )
    with pytest.raises(ValueError, match=r"engine='stacked'.*use engine='reference'"):
        fl.simulate(fed, model.double(), fl.FedAvg(), engine="stacked", **arguments)
