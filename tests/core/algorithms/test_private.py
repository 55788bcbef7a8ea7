"""Client-level privacy: what is clipped, the noise, what the inner server still sees, and ε between
known bounds.
"""

import math

import numpy as np
import pytest
import torch
from scipy import integrate, optimize, stats

import fedlab_core as fl
from fedlab_core.algorithms import Compressed, FedDyn, MimeLite, PowerOfChoice, Private, epsilon
from tests.support import Trace, blobs, flat, path, quadratics, run, scalar_model

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -20.0])
SIZES = np.array([5, 1, 2])
WORK = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "clients_per_round": 3}


def history(algorithm: fl.Algorithm, sizes=(3, 17, 8, 30, 12), **changes) -> fl.History:
    fed = blobs(sizes)
    return run(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, **(WORK | changes)).history


@pytest.mark.parametrize("clip", [0.5, 100.0])
def test_path_of_clipped_changes_with_equal_weights(clip: float) -> None:
    w = 2.0
    expected = []
    for _ in range(10):
        changes = (B - w) * (1 - (1 - 0.1 * A) ** 10)
        w += np.clip(changes, -clip, clip).mean()
        expected.append(w)
    found = path(quadratics(A, B, SIZES), Private(fl.FedAvg(), clip, 0.0), rounds=10, start=2.0)
    assert found == pytest.approx(expected, abs=1e-12)


def noises(noise: float, clip: float, clients: int, rounds: int) -> np.ndarray:
    """What the noise adds to w in each round, [rounds, P], where no client moves."""
    x = torch.zeros(1, 5000, dtype=torch.float64)
    fed = fl.FederatedDataset.from_clients([(x, x[:, 0])] * clients, test=(x, x[:, 0]))
    model = torch.nn.Linear(5000, 1, bias=False).double()
    settings = {
        "clients_per_round": 1.0,
        "local_steps": 1,
        "batch_size": None,
        "lr": 0.1,
        "loss": "squared_error",
    }
    algorithm = Private(fl.FedAvg(), clip, noise)
    simulation = fl.Simulation(fed, model, algorithm, rounds=rounds, progress=False, **settings)
    points = [flat(model), *(simulation.history.params.clone() for _ in simulation)]
    return torch.stack(points).diff(dim=0).numpy()


@pytest.mark.parametrize(("noise", "clip", "clients"), [(0.7, 3.0, 4)])
def test_noise_is_gaussian_with_the_stated_deviation_and_new_in_each_round(
    noise, clip, clients
) -> None:
    found = noises(noise, clip, clients, 3) / (noise * clip / clients)
    for row in found:
        assert stats.kstest(row, "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(found) - np.eye(3)).max() < 5 / 5000**0.5


class Curious(fl.FedAvg):
    """Remembers what it was given."""

    def aggregate(self, server, updates):
        server.state["seen"] = updates.params
        server.state["weights"] = updates.num_samples
        return updates.weighted_mean()


def test_the_inner_server_sees_one_noisy_mean_and_nothing_else() -> None:
    fed = blobs((3, 17, 8))
    simulation = run(fed, fl.models.softmax_regression(fed), Private(Curious(), 1.0, 0.5), rounds=1)
    state = simulation.state_dict()["algorithm"]
    assert state["seen"].shape == (1, 15) and state["weights"].tolist() == [1.0]
    torch.testing.assert_close(state["seen"][0], simulation.history.params, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "inner",
    [fl.Scaffold(), fl.FedNova(), fl.FedSSO(), FedDyn(1.0), MimeLite(0.9), PowerOfChoice(4)],
    ids=str,
)
def test_servers_that_learn_more_than_a_mean_are_refused(inner: fl.Algorithm) -> None:
    with pytest.raises(ValueError, match=r"inner=.*must have 'mean'. Its server needs more"):
        Private(inner, clip=1.0, noise=1.0)
    with pytest.raises(ValueError, match=r"inner=.*must have 'mean'"):
        Private(Private(fl.FedAvg(), clip=1.0, noise=1.0), clip=1.0, noise=1.0)
    with pytest.raises(ValueError, match=r"inner=Compressed\(inner=FedNova.*has needs='each'"):
        Private(Compressed(fl.FedNova(), keep=0.5), clip=1.0, noise=1.0)


def private_run(noise: float, rounds: int, clients: int, cohort: int, **changes) -> fl.Simulation:
    fed = quadratics([1.0] * clients, [0.0] * clients)
    settings = {
        "rounds": rounds,
        "clients_per_round": cohort,
        "local_steps": 1,
        "batch_size": None,
        "lr": 0.1,
        "loss": "squared_error",
        "progress": False,
    }
    return fl.Simulation(
        fed, scalar_model(), Private(fl.FedAvg(), 1.0, noise), **(settings | changes)
    )


def delta_of(eps: float, rate: float, noise: float) -> float:
    """The least δ for which one Poisson-sampled Gaussian release is (ε, δ) private, by integration
    of its definition: the larger of ∫ max(0, p − e^ε r) and ∫ max(0, r − e^ε p), r = N(0, σ²) and p
    = (1 − q) r + q N(1, σ²).
    """
    z = np.linspace(-12 * noise, 1 + 12 * noise, 400_001)
    r = stats.norm(0, noise).pdf(z)
    p = (1 - rate) * r + rate * stats.norm(1, noise).pdf(z)
    gains = [np.maximum(0, one - math.exp(eps) * other) for one, other in ((p, r), (r, p))]
    return max(integrate.trapezoid(gain, z) for gain in gains)


@pytest.mark.parametrize(
    ("rate", "noise", "rounds"),
    [((4, 4), 3.0, 20), ((1, 4), 1.0, 1)],
)
def test_epsilon_lies_between_the_exact_value_and_a_classical_bound(rate, noise, rounds) -> None:
    """T full Gaussian releases are one with σ/√T. Rényi divergences give too much, but no more than
    the classical T/2σ² + √(2T log(1/δ))/σ, which holds without sampling and hence with it.
    """
    pytest.importorskip("opacus", reason="the extra privacy is not installed")
    cohort, clients = rate
    simulation = private_run(noise, rounds, clients, cohort)
    found = epsilon(simulation.run(), delta=1e-5)
    single = noise / rounds**0.5
    exact = optimize.brentq(
        lambda eps: delta_of(eps, cohort / clients, single) - 1e-5, 0, 60, xtol=1e-4
    )
    classical = rounds / (2 * noise**2) + (2 * rounds * math.log(1e5)) ** 0.5 / noise
    assert exact - 1e-3 <= found <= classical
    assert found <= 1.35 * exact


def test_histories_that_have_no_epsilon() -> None:
    with pytest.raises(ValueError, match=r"is of FedAvg, but must be of Private"):
        epsilon(history(fl.FedAvg(), rounds=1), 1e-5)
    there = Trace(np.ones((1, 4), dtype=bool))
    with pytest.raises(ValueError, match="availability"):
        epsilon(private_run(1.0, 2, 4, 2, availability=there).run(), 1e-5)
    with pytest.raises(ValueError, match="delta="):
        epsilon(private_run(1.0, 2, 4, 2).run(), 1.0)
    assert epsilon(private_run(0.0, 2, 4, 2).run(), 1e-5) == math.inf


def test_a_run_that_was_left_counts_the_rounds_it_may_have_had() -> None:
    pytest.importorskip("opacus", reason="the extra privacy is not installed")
    left = private_run(1.0, 6, 4, 4, eval_every=4)
    assert epsilon(left.history, 1e-5) == epsilon(private_run(1.0, 3, 4, 4).run(), 1e-5)


def test_clipping_keeps_the_direction() -> None:
    """By the norm of the whole change, not entry by entry: a single client's step is shortened,
    nothing else.
    """
    fed = blobs((12,))
    model = fl.models.mlp(fed, (6,), seed=1)
    free = run(fed, model, fl.FedAvg(), rounds=1).history.params - flat(model)
    short = run(fed, model, Private(fl.FedAvg(), 0.01, 0.0), rounds=1).history.params - flat(model)
    torch.testing.assert_close(short, free * (0.01 / free.norm()), rtol=0, atol=1e-14)
