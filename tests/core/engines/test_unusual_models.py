"""Models and data at the edges of what the stacked engine knows: the numbers of the reference engine, or a loop."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines import ReferenceEngine, StackedEngine
from fedlab_core.engines.stacked import convolution
from fedlab_core.engines.stacked.ways import Geometry, Ways, fastest
from fedlab_core.engines.work import Work, plan_batches
from fedlab_core.losses import LOSSES, squared_norm
from tests.support import blobs

SIZES = (3, 12, 25, 1, 9)
ARGUMENTS = {"rounds": 3, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "lr": 0.05, "progress": False}


def federation(*shape: int, target: tuple[int, ...] | None = None) -> fl.FederatedDataset:
    """Random samples of a shape, with one of three labels or random targets of another shape."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(sum(SIZES), *shape, generator=generator, dtype=torch.float64)
    y = torch.arange(len(x)) % 3
    if target is not None:
        y = torch.rand(len(x), *target, generator=generator, dtype=torch.float64)
    bounds = np.cumsum((0, *SIZES))
    parts = [list(range(a, b)) for a, b in pairwise(bounds.tolist())]
    return fl.FederatedDataset(Dataset("random", Split(x, y), Split(x, y), 3 if target is None else None), parts)


def assert_same(fed: fl.FederatedDataset, model: nn.Module, expected_form: str, **changes) -> None:
    arguments = {**ARGUMENTS, **changes}
    left, right = (fl.simulate(fed, model, fl.FedAvg(), engine=name, **arguments) for name in ("reference", "auto"))
    assert right.config["engine_form"] == expected_form
    torch.testing.assert_close(right.params, left.params, rtol=0, atol=1e-9)
    assert (torch.nn.utils.parameters_to_vector(model.parameters()) - left.params).abs().max() > 1e-5


def test_images_as_output() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3)).double()
    assert_same(federation(1, 8, 8, target=(4, 6, 6)), model, "vmap", loss="squared_error", lr=0.002)


def test_a_known_layer_used_in_an_unknown_way_still_goes_through_vmap() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 2), nn.Flatten(), nn.Linear(14, 3)).double()
    assert_same(federation(7, 4), model, "vmap")


WAYS = [Ways(*names) for names in itertools.product(["patches", "each"], repeat=3)]


def padded_convolutions() -> nn.Module:
    """The first layer takes raw images; padding, stride, kernels that are not square, and a layer without bias."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(3, 4, (2, 3), padding=(0, 2)),
        nn.Tanh(),
        nn.Conv2d(4, 5, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(5, 2, 3, padding="same", bias=False),
        nn.Flatten(),
        nn.Linear(24, 3),
    ).double()


@pytest.mark.parametrize("ways", WAYS, ids=str)
@pytest.mark.parametrize("batch_size", [5, None])
def test_every_way_of_convolving_is_the_same(monkeypatch, batch_size: int | None, ways: Ways) -> None:
    """Each pass in each way, against automatic differentiation; gradients and moments, in blocks of a few numbers."""
    monkeypatch.setattr(convolution, "fastest", lambda *_: ways)
    monkeypatch.setattr(convolution, "PATCH_VALUES", 3000)
    fed = federation(2, 12, 12)
    model = padded_convolutions()
    assert_same(fed, model, "layers", batch_size=batch_size, lr=0.3)
    engines = [kind(fed, model, LOSSES["cross_entropy"]) for kind in (ReferenceEngine, StackedEngine)]
    params = engines[0].model.parameters().expand(3, -1)
    groups = [np.arange(4), np.array([7]), np.arange(20, 31)]
    for loss, power in ((squared_norm, 1), (LOSSES["cross_entropy"], 2)):
        left, right = (engine.moments(params, groups, loss, power) for engine in engines)
        torch.testing.assert_close(right, left, rtol=0, atol=1e-12)


def test_padding_that_differs_from_side_to_side_goes_through_vmap() -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(2, 3, 4, padding="same"), nn.ReLU(), nn.Flatten(), nn.Linear(432, 3)]
    assert_same(federation(2, 12, 12), nn.Sequential(*layers).double(), "vmap", lr=0.1)


def test_of_equal_maxima_the_first_gets_the_gradient() -> None:
    """Images of whole numbers from 0 to 2 have equal maxima in most tiles, and a convolution by ones keeps them."""
    fed = federation(1, 8, 8)
    clients = [(x.abs().round().clamp(max=2), y) for x, y in map(fed.client, range(fed.num_clients))]
    ties = fl.FederatedDataset.from_clients(clients, test=clients[0])
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32, 3)).double()
    with torch.no_grad():
        model[0].weight.fill_(1.0)
    assert_same(ties, model, "layers", lr=0.1)


def test_the_rule_counts_work() -> None:
    """Much work for each client pays for a call of its own; many channels and few pixels do not."""
    few = Geometry(channels=1, filters=8, kernel=(3, 3), stride=(1, 1), padding=(0, 0))
    assert fastest(few, places=10 * 36, is_raw=True).forward == "patches"
    many = Geometry(channels=32, filters=64, kernel=(5, 5), stride=(1, 1), padding=(2, 2))
    assert fastest(many, places=50 * 1024, is_raw=False) == Ways("each", "each", "each")


class FunctionalDropout(nn.Module):
    """Random, and not by a layer whose type would say so."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(functional.dropout(x, 0.5, self.training))


@pytest.mark.parametrize("mode", [True, False], ids=["train", "eval"])
def test_any_randomness_of_a_model_comes_from_the_seed_of_the_run(mode: bool) -> None:
    torch.manual_seed(0)
    fed, model = blobs(SIZES), FunctionalDropout().double().train(mode)
    results = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        with pytest.warns(UserWarning, match="one after another"):
            results.append(fl.simulate(fed, model, fl.FedAvg(), **ARGUMENTS).params)
        assert torch.initial_seed() == seed
    assert torch.equal(*results)
    with pytest.warns(UserWarning, match="one after another"):
        other = fl.simulate(fed, model, fl.FedAvg(), **ARGUMENTS, seed=1).params
    assert not torch.equal(other, results[0])


def test_a_batch_larger_than_a_client_is_the_client() -> None:
    work = Work(np.arange(2), np.array([2, 2]), "epochs", 1000, 0.1, round=1, seed=0)
    plans = plan_batches(work, [7, 3])
    assert [(plan.batch_size, plan.num_steps, plan.batch(1).tolist()) for plan in plans] == [
        (7, 2, list(range(7))),
        (3, 2, list(range(3))),
    ]


def test_dropout_is_the_same_when_runs_go_on_in_several_threads() -> None:
    """PyTorch has one generator for all threads: who lends it must have it alone."""
    fed = blobs((30, 30, 30))
    model = nn.Sequential(nn.Linear(4, 16), nn.Dropout(0.5), nn.Linear(16, 3)).double()
    work = {"rounds": 4, "clients_per_round": 3, "local_epochs": 2, "batch_size": 2, "lr": 0.1, "progress": False}

    def params(_=None) -> torch.Tensor:
        return fl.simulate(fed, model, fl.FedAvg(), **work, engine="reference").params

    alone = params()
    with ThreadPoolExecutor(4) as pool:
        assert all(torch.equal(alone, found) for found in pool.map(params, range(8)))
