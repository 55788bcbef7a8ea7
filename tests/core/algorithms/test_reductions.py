"""What must equal what: special cases, gradient descent on pooled data, renumbered clients. Ragged clients and
mini-batches where the identity allows it."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import (
    Compressed,
    FedAdam,
    FedAvgM,
    FedAvgMas,
    FedDyn,
    FedMas,
    FedYogi,
    MimeLite,
    PowerOfChoice,
    Private,
    QFedAvg,
)
from tests.support import blobs, flat, quadratics, run, scalar_model

RAGGED, EQUAL = (3, 17, 8, 30, 1), (12, 12, 12, 12)
MINI_BATCH = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "lr": 0.2}


def final(fed: fl.FederatedDataset, algorithm: fl.Algorithm, **arguments) -> torch.Tensor:
    return run(fed, fl.models.mlp(fed, hidden=(6,), seed=1), algorithm, **arguments).history.params


def test_fedprox_without_pull_is_fedavg_exactly() -> None:
    fed = blobs(RAGGED)
    assert torch.equal(final(fed, fl.FedProx(0.0), **MINI_BATCH), final(fed, fl.FedAvg(), **MINI_BATCH))


@pytest.mark.parametrize("algorithm", [fl.FedProx(3.0), FedAvgMas(0.3)], ids=str)
def test_a_penalty_anchored_at_the_start_does_nothing_in_a_single_step(algorithm: fl.Algorithm) -> None:
    fed = blobs(RAGGED)
    for steps, same in ((1, True), (2, False)):
        arguments = {"local_steps": steps, "batch_size": 5, "rounds": 4, "clients_per_round": 3}
        difference = final(fed, algorithm, **arguments) - final(fed, fl.FedAvg(), **arguments)
        assert (difference.abs().max() < 1e-14) == same


def test_fedprox_with_pull_is_not_fedavg() -> None:
    fed = blobs(RAGGED)
    assert (final(fed, fl.FedProx(0.5), **MINI_BATCH) - final(fed, fl.FedAvg(), **MINI_BATCH)).abs().max() > 1e-4


@pytest.mark.parametrize("option", [1, 2])
def test_scaffold_round_one_is_fedavg_and_round_two_is_not(option: int) -> None:
    fed = blobs(EQUAL)
    for rounds, same in ((1, True), (2, False)):
        arguments = MINI_BATCH | {"rounds": rounds}
        difference = (
            (final(fed, fl.Scaffold(option=option), **arguments) - final(fed, fl.FedAvg(), **arguments)).abs().max()
        )
        assert (difference < 1e-14) == same


def test_scaffold_with_identical_clients_is_fedavg() -> None:
    x, y = blobs((20,)).client(0)
    fed = fl.FederatedDataset.from_clients([(x, y)] * 4, test=(x, y))
    arguments = {"local_steps": 6, "rounds": 5}
    torch.testing.assert_close(
        final(fed, fl.Scaffold(), **arguments), final(fed, fl.FedAvg(), **arguments), rtol=0, atol=1e-12
    )


def test_fednova_with_equal_steps_is_fedavg_with_sample_weights() -> None:
    fed = blobs(RAGGED)
    arguments = {"local_steps": 6, "batch_size": 4, "rounds": 4}
    torch.testing.assert_close(
        final(fed, fl.FedNova(), **arguments), final(fed, fl.FedAvg(), **arguments), rtol=0, atol=1e-12
    )
    torch.testing.assert_close(
        final(fed, fl.FedNova(0.3), **arguments), _fedprox_scaled(fed, 0.3, arguments), rtol=0, atol=1e-10
    )


def _fedprox_scaled(fed: fl.FederatedDataset, mu: float, arguments: dict) -> torch.Tensor:
    """FedNova(μ) with equal τ is FedProx with a server step of τ/‖a‖₁."""
    tau, shrink = arguments["local_steps"], 0.1 * mu
    step = tau / ((1 - (1 - shrink) ** tau) / shrink)

    class Scaled(fl.FedProx):
        def aggregate(self, server, updates):
            return server.params + step * (updates.weighted_mean() - server.params)

    return final(fed, Scaled(mu), **arguments)


@pytest.mark.parametrize(
    ("algorithm", "sizes"),
    [
        (fl.FedAvg(), RAGGED),
        (fl.FedProx(0.4), RAGGED),
        (fl.FedNova(), RAGGED),
        (fl.FedCurv(0.0), RAGGED),
        (FedMas(0.0, tiers="one"), RAGGED),
        (fl.Scaffold(), EQUAL),
        (FedAvgM(beta=0.0), RAGGED),
        (MimeLite(0.0), EQUAL),
        (QFedAvg(0.0), EQUAL),
        (PowerOfChoice(4), EQUAL),
    ],
    ids=str,
)
def test_one_full_batch_step_of_everybody_is_gradient_descent_on_the_pooled_data(algorithm, sizes) -> None:
    """SCAFFOLD weighs all clients alike, so they have to be of one size."""
    fed = blobs(sizes)
    model = fl.models.softmax_regression(fed, seed=3)
    federated = run(fed, model, algorithm, local_steps=1, rounds=6).history.params
    for _ in range(6):
        loss = torch.nn.functional.cross_entropy(model(fed.x), fed.y)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for parameter, gradient in zip(model.parameters(), gradients, strict=True):
                parameter -= 0.1 * gradient
    torch.testing.assert_close(federated, flat(model), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    "algorithm",
    [
        fl.FedAvg(),
        fl.FedProx(0.4),
        fl.Scaffold(),
        fl.Scaffold(option=1),
        fl.FedNova(),
        FedAvgM(),
        FedAdam(0.05),
        FedYogi(0.05),
        FedDyn(0.5),
        MimeLite(0.7),
        QFedAvg(1.5),
        PowerOfChoice(5),
        Compressed(fl.FedAvg(), keep=0.3),
        Private(fl.FedAvg(), clip=0.05, noise=0.1),
    ],
    ids=str,
)
def test_renumbering_the_clients_changes_nothing(algorithm: fl.Algorithm) -> None:
    """A server that lets the last client overwrite the sum would fail here."""
    fed = blobs(RAGGED)
    order = np.array([3, 0, 4, 2, 1])
    renumbered = fl.FederatedDataset.from_clients([fed.client(k) for k in order], test=(fed.test.x, fed.test.y))
    arguments = {"local_steps": 5, "rounds": 6}
    torch.testing.assert_close(
        final(renumbered, algorithm, **arguments), final(fed, algorithm, **arguments), rtol=0, atol=1e-12
    )


def test_every_client_trains_even_with_fewer_samples_than_a_batch() -> None:
    """A loader that drops the last short batch would leave this client, and the model, where they were."""
    simulation = run(
        quadratics([1.0], [1.0], sizes=[3]), scalar_model(), fl.FedAvg(), rounds=1, local_epochs=1, batch_size=10
    )
    assert float(simulation.history.params[0]) == pytest.approx(0.1, abs=1e-12)
