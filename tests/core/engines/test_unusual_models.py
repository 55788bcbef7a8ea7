"""Models and data at the edges of what the stacked engine knows: the numbers of the reference
engine, or a loop.
"""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines.work import Work, plan_batches
from tests.support import blobs

SIZES = (3, 12, 25, 1, 9)
ARGUMENTS = {
    "rounds": 3,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 5,
    "lr": 0.05,
    "progress": False,
}


def federation(*shape: int, target: tuple[int, ...] | None = None) -> fl.FederatedDataset:
    """Random samples of a shape, with one of three labels or random targets of another shape."""
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(sum(SIZES), *shape, generator=generator, dtype=torch.float64)
    y = torch.arange(len(x)) % 3
    if target is not None:
        y = torch.rand(len(x), *target, generator=generator, dtype=torch.float64)
    bounds = np.cumsum((0, *SIZES))
    parts = [list(range(a, b)) for a, b in pairwise(bounds.tolist())]
    return fl.FederatedDataset(
        Dataset("random", Split(x, y), Split(x, y), 3 if target is None else None), parts
    )


def assert_same(fed: fl.FederatedDataset, model: nn.Module, expected_form: str, **changes) -> None:
    arguments = {**ARGUMENTS, **changes}
    left, right = (
        fl.simulate(fed, model, fl.FedAvg(), engine=name, **arguments)
        for name in ("reference", "auto")
    )
    assert right.config["engine_form"] == expected_form
    torch.testing.assert_close(right.params, left.params, rtol=0, atol=1e-9)
    assert (
        torch.nn.utils.parameters_to_vector(model.parameters()) - left.params
    ).abs().max() > 1e-5


def test_images_as_output() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3)).double()
    assert_same(
        federation(1, 8, 8, target=(4, 6, 6)), model, "vmap", loss="squared_error", lr=0.002
    )


def test_a_known_layer_used_in_an_unknown_way_still_goes_through_vmap() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 2), nn.Flatten(), nn.Linear(14, 3)).double()
    assert_same(federation(7, 4), model, "vmap")


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
    fed = blobs(SIZES)
    model = FunctionalDropout().double().train(mode)
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
    work = {
        "rounds": 4,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 2,
        "lr": 0.1,
        "progress": False,
    }

    def params(_=None) -> torch.Tensor:
        return fl.simulate(fed, model, fl.FedAvg(), **work, engine="reference").params

    alone = params()
    with ThreadPoolExecutor(4) as pool:
        assert all(torch.equal(alone, found) for found in pool.map(params, range(8)))
