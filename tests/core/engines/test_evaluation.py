"""Evaluation is exact for any loss and any number of samples, and leaves the data as they are."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines import ReferenceEngine, StackedEngine
from fedlab_core.engines.base import Engine
from fedlab_core.engines.work import Work
from fedlab_core.losses import LOSSES, squared_norm

WEIGHTS = torch.tensor([1.0, 10.0, 0.1], dtype=torch.float64)
SIZES = (3, 12, 250, 1, 9)


def weighted(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output, target, weight=WEIGHTS)


def ignoring(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(output, target, ignore_index=0)


def federation(n: int = sum(SIZES)) -> fl.FederatedDataset:
    """Labels in sorted order, so that the first third is ignored as a whole and classes do not mix
    in a chunk.
    """
    x = torch.randn(n, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    split = Split(x, torch.arange(n) * 3 // n)
    parts = [range(a, b) for a, b in pairwise(np.cumsum((0, *SIZES)).tolist())]
    return fl.FederatedDataset(Dataset("sorted", split, split, 3), parts)


class InPlace(nn.Module):
    """Scales what it is given, in the tensor that it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.output = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.output(x.div_(2))


def model(*first: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(*first, nn.Linear(4, 3)).double()


@pytest.mark.parametrize("loss", [weighted, ignoring, *LOSSES.values()])
def test_the_loss_is_that_of_all_samples_at_once(loss) -> None:
    """6000 samples are three chunks; the weighted mean of one
    chunk counts as much as its weights.
    """
    fed = federation(6000)
    net = model()
    y = fed.y if loss is not LOSSES["squared_error"] else fed.x[:, :3].clone()
    engine = ReferenceEngine(fed, net, loss)
    with torch.no_grad():
        expected = float(loss(net(fed.x), y))
    assert engine.evaluate(engine.model.parameters(), fed.x, y).loss == pytest.approx(
        expected, rel=1e-12
    )


@pytest.mark.parametrize("first", [nn.ReLU(inplace=True), InPlace()], ids=["relu", "div"])
@pytest.mark.parametrize("kind", [ReferenceEngine, StackedEngine])
def test_a_model_that_works_in_place_does_not_change_the_data(
    kind: type[Engine], first: nn.Module
) -> None:
    """Expected loss and hits are those of the samples one by one, each in a tensor of its own."""
    fed = federation(4001)
    net = model(first) if isinstance(first, nn.ReLU) else InPlace().double()
    engine = kind(fed, net, LOSSES["cross_entropy"])
    before = fed.x.clone()
    params = engine.model.parameters()
    with torch.no_grad():
        logits = net(before.clone())
    assert engine.evaluate(params, fed.x, fed.y).loss == pytest.approx(
        float(functional.cross_entropy(logits, fed.y)), rel=1e-12
    )
    assert np.array_equal(
        engine.hits(params, np.arange(len(fed.y))), (logits.argmax(1) == fed.y).numpy()
    )
    groups = [fed.parts[0], fed.parts[2]]
    work = Work(np.arange(5), np.full(5, 2), "epochs", 5, 0.1, round=1, seed=0)
    engine.train(params, work, [fl.Correction()] * 5)
    engine.mean_gradients(params, groups)
    engine.moments(params.expand(2, -1), groups, squared_norm, 1)
    assert torch.equal(fed.x, before)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("loss", [weighted, ignoring], ids=["weighted", "ignoring"])
def test_moments_take_each_sample_on_its_own(loss, power: int) -> None:
    """One class's weight cancels in the mean over one sample: its gradient is that of the plain
    cross-entropy.

    Of a sample that is ignored, it is zero.
    """
    fed = federation()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 3)).double()
    engine = StackedEngine(fed, net, loss)
    params = engine.model.parameters()
    expected = torch.zeros(len(fed.parts), len(params), dtype=torch.float64)
    for mean, part in zip(expected, fed.parts, strict=True):
        for i in part.tolist():
            value = functional.cross_entropy(net(fed.x[i : i + 1]), fed.y[i : i + 1])
            gradient = torch.nn.utils.parameters_to_vector(
                torch.autograd.grad(value, list(net.parameters()))
            )
            if loss is weighted or fed.y[i] != 0:
                mean += gradient.abs() ** power / len(part)
    assert expected[2:].abs().max() > 1e-3
    found = engine.moments(params.expand(len(fed.parts), -1), fed.parts, loss, power)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
