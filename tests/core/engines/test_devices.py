"""Everything in a round stays on its device: a tensor left on the CPU cannot be mixed with those of
another one.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.engines.stacked import StackedEngine
from fedlab_core.engines.work import Work
from fedlab_core.losses import LOSSES


def federation(x: torch.Tensor) -> fl.FederatedDataset:
    split = Split(x, torch.arange(len(x)) % 3)
    parts = [list(range(0, 5)), list(range(5, 17)), list(range(17, len(x)))]
    return fl.FederatedDataset(Dataset("random", split, split, 3), parts)


IMAGES = torch.rand(30, 1, 8, 8)
COLOURS = torch.rand(30, 3, 16, 16)
TEXT = torch.randint(0, 9, (30, 6))
CASES = {
    "mlp": (IMAGES, fl.models.mlp),
    "cnn_mnist": (IMAGES, fl.models.cnn_mnist),
    "cnn_cifar": (COLOURS, fl.models.cnn_cifar),
    "lstm": (TEXT, fl.models.lstm),
}
DEVICES = [
    "meta",
    pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES)
def test_a_round_stays_on_its_device(case: str, device: str) -> None:
    """The meta device computes shapes only, but refuses tensors of other devices as CUDA does."""
    x, build = CASES[case]
    fed = federation(x)
    engine = StackedEngine(fed, build(fed), LOSSES["cross_entropy"], device)
    params = engine.model.parameters()
    corrections = [
        fl.Correction(weight=torch.rand_like(params), anchor=params, offset=params)
        for _ in range(3)
    ]
    for unit, amount in (("epochs", 2), ("steps", 4)):
        work = Work(np.arange(3), np.full(3, amount), unit, 4, 0.1, round=1, seed=0)
        for kind in (
            [fl.Correction()] * 3,
            corrections,
            [fl.Correction(weight=0.5, anchor=params)] * 3,
        ):
            updates = engine.train(params, work, kind)
            assert {
                updates.params.device.type,
                updates.num_steps.device.type,
                updates.num_samples.device.type,
            } == {device}
            assert updates.weighted_mean().shape == params.shape
    gradients = engine.mean_gradients(params, [fed.parts[client] for client in range(3)])
    assert gradients.device.type == device and gradients.shape == (3, len(params))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize(
    "algorithm", [fl.FedAvg(), fl.FedProx(0.5), fl.Scaffold(option=1), fl.FedNova(0.1)], ids=str
)
def test_cuda_gives_the_numbers_of_the_cpu(algorithm: fl.Algorithm) -> None:
    fed = federation(IMAGES.double())
    arguments = {
        "rounds": 5,
        "clients_per_round": 2,
        "local_epochs": 2,
        "batch_size": 4,
        "lr": 0.1,
        "progress": False,
    }
    left, right = (
        fl.simulate(fed, fl.models.mlp(fed), algorithm, device=device, **arguments)
        for device in ("cpu", "cuda")
    )
    torch.testing.assert_close(right.params.cpu(), left.params, rtol=0, atol=1e-9)
