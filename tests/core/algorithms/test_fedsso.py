"""FedSSO: the probe and w_1, who is drawn, with which weights, at which cost, and its bound."""

from collections import Counter

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.algorithms.probe import probe_clients
from fedlab_core.engines.work import Work
from fedlab_core.sampling import Systematic
from fedlab_core.server import Server
from tests.support import Trace, blobs, flat, quadratics, run, scalar_model, simulation

PROBE_LR = 0.01
# clusters of 6, 3 and 2 clients, and one client alone
GROUPS = [0, 0, 0, 0, 0, 0, 10, 10, 10, 20, 20, 55]


def watched(algorithm: fl.FedSSO) -> tuple[fl.FedSSO, list[np.ndarray]]:
    """The algorithm, and a list that its cohorts are appended to."""
    cohorts: list[np.ndarray] = []

    class Watched(fl.FedSSO):
        def cohorts(self, server):
            drawn = super().cohorts(server)
            cohorts.extend(drawn)
            return drawn

    return Watched(**vars(algorithm)), cohorts


def grouped(
    algorithm: fl.FedSSO, values=GROUPS, sizes=None, **arguments
) -> tuple[fl.Simulation, list[np.ndarray]]:
    """Clients with f_k = (x − e_k)²/2. A full-batch probe from 0 puts client k at 0.01·e_k, up to a
    tiny shift that makes distances within a cluster differ from zero.
    """
    e = np.array(values) + 1e-3 * np.arange(len(values))
    algorithm, cohorts = watched(algorithm)
    defaults = {"rounds": 1, "clients_per_round": 4, "local_steps": 3}
    return run(
        quadratics(np.ones(len(e)), e, sizes), scalar_model(), algorithm, **(defaults | arguments)
    ), cohorts


def clusters(sim: fl.Simulation) -> list[int]:
    """The clusters, numbered as they first appear; −1 stays."""
    found = sim.state_dict()["algorithm"]["clusters"].tolist()
    numbers = {-1: -1}
    return [numbers.setdefault(label, len(numbers) - 1) for label in found]


EXPECTED = [0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, -1]


# pairs 1 apart, 1.5 between them: reachabilities fall by a third
PAIRS = np.cumsum([0, 1, 1.5, 1, 1.5, 1, 1.5, 1])


@pytest.mark.parametrize(
    ("settings", "values", "expected"),
    [
        ({}, PAIRS, [0, 0, 1, 1, 2, 2, 3, 3]),
        ({"xi": 0.4}, PAIRS, [0] * 8),
        ({"eps": 0.05, "min_samples": 3}, GROUPS, [0] * 6 + [1] * 3 + [-1] * 3),
        ({"eps": 0.05, "min_samples": 4}, GROUPS, [0] * 6 + [-1] * 6),
    ],
    ids=["default", "xi 0.4", "min_samples 3", "min_samples 4"],
)
def test_what_a_cluster_is(settings, values, expected) -> None:
    """A dent of the reachability by a share of xi = 0.25 or more; with eps, min_samples clients
    within that radius.
    """
    sim, _ = grouped(fl.FedSSO(**settings), values=values)
    assert clusters(sim) == expected


@pytest.mark.parametrize(
    "algorithm", [fl.FedSSO(probe="full_batch"), fl.FedSSO(probe_batch=100)], ids=str
)
def test_after_the_same_w1_it_is_fedavg_with_the_same_draws(algorithm: fl.FedSSO) -> None:
    """w_1 is one step of gradient descent on the pooled data: w_0 − η Σ ρ_k ∇F_k(w_0) = w_0 − η
    ∇F(w_0).
    """
    fed = blobs((12, 12, 12, 12, 12, 12))
    arguments = {"rounds": 5, "local_epochs": 2, "batch_size": 5, "lr": 0.2}
    model = fl.models.softmax_regression(fed, seed=3)
    first = fl.models.softmax_regression(fed, seed=3)
    loss = functional.cross_entropy(first(fed.x), fed.y)
    gradients = torch.autograd.grad(loss, list(first.parameters()))
    with torch.no_grad():
        for parameter, gradient in zip(first.parameters(), gradients, strict=True):
            parameter -= PROBE_LR * gradient

    one_cluster = fl.FedSSO(**{**vars(algorithm), "eps": 1e3})

    class SameDraws(fl.FedAvg):
        def cohorts(self, server):
            yield Systematic(np.zeros(6, dtype=np.int64), 2).draw(server.stream("cohort"))

    for plain, size in ((fl.FedAvg(), 6), (SameDraws(), 2)):
        sso = run(fed, model, one_cluster, clients_per_round=size, **arguments)
        avg = run(fed, first, plain, clients_per_round=size, **arguments)
        assert clusters(sso) == [0] * 6
        torch.testing.assert_close(sso.history.params, avg.history.params, rtol=0, atol=1e-13)
    assert (flat(first) - flat(model)).abs().max() > 1e-4


def test_w1_weighs_clients_by_samples() -> None:
    """One full-batch step from 0 takes client k to 0.01·e_k; all clients then train on from Σ ρ_k
    0.01·e_k.
    """
    e = np.array([1.0, 5.0, -2.0])
    sizes = [1, 2, 7]
    sim, _ = grouped(
        fl.FedSSO(noise="keep"), values=e, sizes=sizes, clients_per_round=3, local_steps=1, lr=0.1
    )
    e = e + 1e-3 * np.arange(3)
    rho = np.array(sizes) / 10
    w1 = PROBE_LR * (rho @ e)
    assert float(sim.history.params[0]) == pytest.approx(w1 + 0.1 * (rho @ e - w1), abs=1e-14)


def test_the_probe_of_a_single_sample_is_a_step_along_its_gradient() -> None:
    """Eq. (9) to the letter."""
    fed = blobs((3, 17, 8))
    model = fl.models.softmax_regression(fed, seed=3)
    sim = simulation(fed, model, fl.FedAvg(), rounds=1)
    points, _ = probe_clients(sim._server, lr=0.3, batch_size=1, steps=1)
    for k, point in enumerate(torch.from_numpy(points)):
        x, y = fed.client(k)
        error = torch.softmax(model(x), 1).detach() - functional.one_hot(y, 3)
        steps = -0.3 * torch.cat([(error[:, :, None] * x[:, None]).flatten(1), error], 1)
        assert ((steps - point).abs().max(1).values < 1e-14).sum() == 1


def test_chunks_and_projections_leave_w1_and_distances_as_they_are(monkeypatch) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12, 25))
    sim = simulation(fed, fl.models.mlp(fed, (60,), seed=0), fl.FedAvg(), rounds=1)
    work = {"lr": 0.1, "batch_size": 5, "epochs": 1}
    points, mean = probe_clients(sim._server, **work)
    whole = Server.probe

    def two_at_most(server, clients, **work):
        assert len(clients) <= 2
        return whole(server, clients, **work)

    monkeypatch.setattr(Server, "probe", two_at_most)
    monkeypatch.setattr("fedlab_core.algorithms.probe.CHUNK_VALUES", 2 * len(sim._server.params))
    for projection in (None, 4000):
        found, again = probe_clients(sim._server, projection=projection, **work)
        torch.testing.assert_close(again, mean, rtol=0, atol=1e-14)
        assert found.shape == (7, projection or len(mean))
        np.testing.assert_allclose(
            pdist(found), pdist(points), rtol=5 * np.sqrt(2 / 4000) / 2 if projection else 1e-12
        )


def test_the_probe_is_in_the_ledger() -> None:
    """N·P each way and one server update before the first round; then K·P each way."""
    fed = blobs((3, 17, 8, 30, 1, 12))
    sim = run(fed, fl.models.softmax_regression(fed), fl.FedSSO(), rounds=3, clients_per_round=2)
    expected = [(6 + 2 * t) * 15 * 8 for t in (1, 2, 3)]
    assert sim.history.frame.bytes_up.tolist() == sim.history.frame.bytes_down.tolist() == expected
    assert sim.history.frame.server_updates.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("noise", "label", "drawn"), [("keep", -1, True), ("drop", -1, False), ("nearest", 2, True)]
)
def test_noise_policies(noise: str, label: int, drawn: bool) -> None:
    sim, cohorts = grouped(fl.FedSSO(eps=0.05, noise=noise), rounds=20)
    assert clusters(sim) == [*EXPECTED[:-1], label]
    assert (11 in np.concatenate(cohorts)) == drawn
    assert set(range(11)) <= set(np.concatenate(cohorts).tolist())
    assert all(len(cohort) == 4 for cohort in cohorts)


def test_dropping_needs_a_cluster() -> None:
    with pytest.raises(ValueError, match="noise='drop': there is no cluster"):
        grouped(fl.FedSSO(eps=1e-9, noise="drop"))


@pytest.mark.parametrize("weights", ["normalised", "literal"])
def test_weights_of_one_round_in_closed_form(weights: str) -> None:
    """Five clients of different size, two drawn: ω ∝ ρ, summing to 1, or (N/K)·ρ."""
    sizes = np.array([1, 2, 3, 5, 9])
    e = np.array([1.0, 5.0, -2.0, 3.0, 8.0]) + 1e-3 * np.arange(5)
    for seed in range(4):
        values = [1.0, 5.0, -2.0, 3.0, 8.0]
        sim, (cohort,) = grouped(
            fl.FedSSO(weights=weights), values, sizes, clients_per_round=2, seed=seed
        )
        rho = sizes / sizes.sum()
        w1 = PROBE_LR * (rho @ e)
        ends = w1 + (1 - 0.9**3) * (e[cohort] - w1)
        omega = rho[cohort] * 5 / 2 if weights == "literal" else rho[cohort] / rho[cohort].sum()
        assert float(sim.history.params[0]) == pytest.approx(omega @ ends, abs=1e-13)


@pytest.mark.parametrize("weights", ["normalised", "literal"])
def test_at_least_one_of_every_cluster_weighted_by_its_size(weights: str) -> None:
    """β = 4/12: two of six, one of three, one of two, and the client alone, with weights n_c/(N
    s_c), or ρ_k·N/|S|.
    """
    for seed in range(4):
        sim, (cohort,) = grouped(
            fl.FedSSO(eps=0.05, sampling="at_least_one", weights=weights), seed=seed
        )
        labels = np.array(EXPECTED)
        assert Counter(labels[cohort].tolist()) == {0: 2, 1: 1, 2: 1, -1: 1}
        e = np.array(GROUPS) + 1e-3 * np.arange(12)
        omega = np.array([{0: 6 / 2, 1: 3, 2: 2, -1: 1}[label] / 12 for label in labels[cohort]])
        omega = omega if weights == "normalised" else np.full(5, 1 / 5)
        w1 = PROBE_LR * e.mean()
        assert omega.sum() == pytest.approx(1)
        assert float(sim.history.params[0]) == pytest.approx(
            omega @ (w1 + (1 - 0.9**3) * (e[cohort] - w1)), abs=1e-13
        )


def half_absent() -> Trace:
    """Eight clients: the first four are always there, of the last four one at a time."""
    return Trace(np.hstack([np.ones((4, 4), dtype=bool), np.eye(4, dtype=bool)]))


@pytest.mark.parametrize("sampling", ["systematic", "at_least_one"])
def test_example_1_absent_clients_bias_fedavg_but_not_fedsso(sampling: str) -> None:
    """f_k = (x − e_k)²/2, e = 0 four times and 7 four times; of the second four one is there at a
    time. FedAvg tends to the mean of who is there, 7/5; FedSSO, where that one represents its
    cluster, to 3.5.
    """
    sizes = {"systematic": 5, "at_least_one": 2}
    e = np.array([0.0] * 4 + [7.0] * 4)
    arguments = {
        "availability": half_absent(),
        "rounds": 60,
        "clients_per_round": sizes[sampling],
        "local_steps": 5,
    }
    fed = quadratics(np.ones(8), e)
    algorithm = fl.FedSSO(eps=0.01, sampling=sampling)
    sso = run(fed, scalar_model(), algorithm, **arguments)
    assert clusters(sso) == [0] * 4 + [1] * 4
    assert float(sso.history.params[0]) == pytest.approx(3.5, abs=1e-9)
    avg = run(fed, scalar_model(), fl.FedAvg(), **(arguments | {"clients_per_round": 5}))
    assert float(avg.history.params[0]) == pytest.approx(7 / 5, abs=1e-9)


def test_cluster_weights_follow_samples_when_some_are_absent() -> None:
    """Client 1 stands in for client 0 as well: its cluster has
    8 of 10 samples, whoever is there.
    """
    table = np.array([[False, True, True]])
    there = {"availability": Trace(table), "clients_per_round": 3}
    sim, _ = grouped(fl.FedSSO(eps=0.05), [0.0, 0.0, 9.0], [5, 3, 2], **there)
    assert clusters(sim) == [0, 0, -1]
    e = np.array([0.0, 0.001, 9.002])
    rho = np.array([0.5, 0.3, 0.2])
    w1 = PROBE_LR * (rho @ e)
    ends = w1 + (1 - 0.9**3) * (e - w1)
    assert float(sim.history.params[0]) == pytest.approx(0.8 * ends[1] + 0.2 * ends[2], abs=1e-13)


def test_a_probe_that_explodes_is_divergence_and_names_its_rate() -> None:
    with pytest.raises(
        fl.Diverged, match=r"probe: .* client \d is not finite at lr=1e\+200\. .* probe_lr"
    ) as caught:
        run(
            quadratics([1.0, 2.0], [1e200, 1.0]),
            scalar_model(),
            fl.FedSSO(probe_lr=1e200),
            rounds=1,
        )
    assert (caught.value.round, caught.value.lr, len(caught.value.history.records)) == (0, 1e200, 0)


def test_a_federation_smaller_than_a_cluster_is_refused() -> None:
    with pytest.raises(ValueError, match="min_samples=5: the federation has only 2"):
        run(quadratics([1.0, 1.0], [0.0, 1.0]), scalar_model(), fl.FedSSO(min_samples=5), rounds=1)


def test_the_probe_has_a_random_stream_of_its_own() -> None:
    fed = blobs((13, 17, 8))
    sim = simulation(fed, fl.models.softmax_regression(fed, seed=3), fl.FedAvg(), rounds=1)
    points, _ = probe_clients(sim._server, lr=0.3, batch_size=5, epochs=1)
    for stream, is_same in (("probe", True), ("batches", False)):
        work = Work(
            np.arange(3),
            np.ones(3, dtype=np.int64),
            "epochs",
            5,
            0.3,
            round=0,
            seed=0,
            stream=stream,
        )
        moved = (
            sim._engine.train(sim._server.params, work, [fl.Correction()] * 3).params
            - sim._server.params
        )
        assert (np.abs(points - moved.numpy()).max() < 1e-14) == is_same
