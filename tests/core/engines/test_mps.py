"""Apple's MPS: where PyTorch offers it, a run there makes no number wider than it has."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import fedlab_core as fl
from fedlab_core.clients import updates
from fedlab_core.settings import Settings
from tests.core.engines.test_equality import ALGORITHMS, VARIANTS, Local, Mixed, PerParameter

WORK = {
    "rounds": 2,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 4,
    "lr": 0.1,
    "progress": False,
}
RUNS = [
    algorithm
    for algorithm in ALGORITHMS + VARIANTS
    if not isinstance(algorithm, Local | Mixed | PerParameter)
]


class NoFloat64(TorchDispatchMode):
    """Refuses to compute anything in float64, as MPS does; a NumPy array that was never a tensor is
    none of its.
    """

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        on_host = func is torch.ops.aten.lift_fresh.default  # torch.from_numpy
        if isinstance(result, torch.Tensor) and result.dtype == torch.float64 and not on_host:
            raise TypeError(f"{func}: Cannot convert a MPS Tensor to float64 dtype")
        return result


@pytest.fixture(scope="module")
def fed() -> fl.FederatedDataset:
    digits = fl.load_dataset("digits")
    parts = [np.arange(20 * k, 20 * k + 8 + k) for k in range(7)]
    return fl.FederatedDataset(digits, parts)


@pytest.mark.parametrize(("number", "algorithm"), list(enumerate(RUNS)), ids=str)
def test_a_run_needs_no_float64(
    fed: fl.FederatedDataset, number: int, algorithm: fl.Algorithm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the CPU in the place of a device without it."""
    model = fl.models.mlp(fed, hidden=(6,), seed=0)
    engine = ("reference", "stacked")[number % 2]
    usual = fl.simulate(fed, model, algorithm, engine=engine, client_accuracy=True, **WORK)
    monkeypatch.setattr(updates, "WITHOUT_FLOAT64", ("cpu",))
    with NoFloat64():
        narrow = fl.simulate(fed, model, algorithm, engine=engine, client_accuracy=True, **WORK)
    torch.testing.assert_close(narrow.params, usual.params, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(narrow.frame["test_loss"], usual.frame["test_loss"], rtol=1e-5)
    np.testing.assert_allclose(
        narrow.frame["test_accuracy"], usual.frame["test_accuracy"], atol=1e-6
    )


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="needs a machine without MPS")
def test_mps_is_refused_where_there_is_none() -> None:
    with pytest.raises(
        ValueError, match=r"device='mps': PyTorch finds no MPS device here; use device='cpu'"
    ):
        Settings(rounds=1, clients_per_round=1, local_epochs=1, batch_size=1, lr=0.1, device="mps")


def test_mps_is_taken_where_pytorch_offers_it(
    fed: fl.FederatedDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What needs float64 is refused before anything is sent there."""
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    taken = Settings(
        rounds=1, clients_per_round=1, local_epochs=1, batch_size=1, lr=0.1, device="mps"
    )
    assert taken.device == "mps"
    with pytest.raises(
        ValueError,
        match=r"parameter '.*': float64, which device='mps' does not have; use .float\(\)",
    ):
        fl.simulate(fed, fl.models.mlp(fed, seed=0).double(), fl.FedAvg(), device="mps", **WORK)


@pytest.mark.skipif(not torch.backends.mps.is_available(), reason="needs a machine with MPS")
@pytest.mark.parametrize("algorithm", RUNS, ids=str)
def test_mps_gives_nearly_the_numbers_of_the_cpu(
    fed: fl.FederatedDataset, algorithm: fl.Algorithm
) -> None:
    model = fl.models.mlp(fed, hidden=(6,), seed=0)
    left, right = (
        fl.simulate(fed, model, algorithm, device=device, **WORK) for device in ("cpu", "mps")
    )
    torch.testing.assert_close(right.params.cpu(), left.params, rtol=1e-3, atol=1e-4)
