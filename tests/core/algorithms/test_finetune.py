"""Fine-tuning: what clients make of the global model before they use it, and that the run does not
notice.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import FineTune
from tests.support import quadratics, run, scalar_model

RAGGED = (3, 17, 8, 30, 2)
MINI_BATCH = {"rounds": 4, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5}


def tuned(sim: fl.Simulation) -> torch.Tensor:
    return sim.algorithm.client_params(sim._server, np.arange(sim.fed.num_clients))


@pytest.mark.parametrize(("epochs", "momentum"), [(1, 0.5), (4, 0.0)])
def test_the_models_in_closed_form(epochs: int, momentum: float) -> None:
    """Epochs of ⌈n_k/B⌉ steps each from the final w at the last rate, also where rounds count in
    steps.
    """
    a = np.array([1.0, 3.0, 0.5])
    b = np.array([0.0, 1.0, -2.0])
    sizes = np.array([1, 4, 5])
    rate = fl.InverseTime(0.1)
    work = {"rounds": 3, "local_steps": 2, "batch_size": 2, "lr": rate, "local_momentum": momentum}
    sim = run(quadratics(a, b, sizes), scalar_model(2.0), FineTune(epochs), **work)
    expected = []
    for a_k, b_k, n_k in zip(a, b, sizes, strict=True):
        v = float(sim.history.params[0])
        velocity = 0.0
        for _ in range(epochs * -(-n_k // 2)):
            velocity = momentum * velocity + a_k * (v - b_k)
            v -= rate(2) * velocity
        expected.append(v)
    assert tuned(sim)[:, 0].tolist() == pytest.approx(expected, abs=1e-12)


def test_tuning_that_diverges_ends_the_run_and_names_the_client() -> None:
    """Slow rounds of one step are fine; hundreds of epochs at ηa = 3 for client 1 alone are not."""
    x = torch.tensor([[1.0], [5.5]], dtype=torch.float64)
    fed = fl.FederatedDataset.from_clients(
        [(x[:1], torch.tensor([0])), (x[1:], torch.tensor([1]))], (x, torch.tensor([0, 1]))
    )
    model = torch.nn.Linear(1, 2).double()

    def loss(output, target):
        return (output[:, 0] - target).square().mean() / 2

    work = {
        "rounds": 1,
        "clients_per_round": 1.0,
        "local_steps": 1,
        "batch_size": None,
        "lr": 0.1,
        "progress": False,
    }
    with pytest.raises(
        fl.Diverged, match=r"FineTune\(epochs=2000\) diverged in round 1: the loss of client 1"
    ):
        fl.simulate(fed, model, FineTune(2000), **work, loss=loss)
