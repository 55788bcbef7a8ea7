"""FedDyn in chapter 8: where it and its halves stop, what its server adds up, and its bug."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch08_your_own_algorithm import figures
from fedlab_course.chapters.ch08_your_own_algorithm.variants import FedDynByCohort
from fedlab_course.check import on_quadratics, registry
from fedlab_course.methods.feddyn_halves import FedDynClients, FedDynServer
from tests.support import blobs, limit, quadratics, run

A = np.array([1.0, 3.0, 0.5])
B = np.array([0.0, 1.0, -2.0])
OPTIMUM = (A * B).sum() / A.sum()


class PlainMean(fl.Algorithm):
    """FedAvg with a plain mean."""

    def aggregate(self, server, updates):
        return updates.params.mean(0)


def test_the_readers_halves_are_those_of_the_stored_runs() -> None:
    exercise = registry.get("08-halves")
    kind = exercise.build(exercise.solution_source)
    fed = blobs((3, 17, 8, 30))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"rounds": 4, "clients_per_round": 2, "local_steps": 3}
    pairs = (
        (kind(0.3), fl.algorithms.FedDyn(0.3)),
        (kind(0.3, server=False), FedDynClients(0.3)),
        (kind(0.3, clients=False), FedDynServer()),
        (kind(0.3, clients=False, server=False), PlainMean()),
    )
    for mine, theirs in pairs:
        ours, stored = (run(fed, model, one, **work).history.params for one in (mine, theirs))
        torch.testing.assert_close(ours, stored, rtol=0, atol=1e-12)


def test_with_one_client_feddyn_can_run_away_though_its_steps_are_stable() -> None:
    """η (a + μ) = 1.91 < 2, five steps: the chapter's example."""
    work = {"rounds": 40, "local_steps": 5, "lr": 0.1}
    path = on_quadratics.path(fl.algorithms.FedDyn, [0.1], [19.0], [0.0], work)
    assert abs(path[-1]) > 1e6
    fedavg = on_quadratics.path(fl.FedAvg, [], [19.0], [0.0], work)
    assert abs(fedavg[-1]) < 1e-6


@pytest.mark.parametrize("cohort", [1, 2, 3])
def test_the_clients_half_rests_on_a_spring_to_the_start(cohort) -> None:
    """mean a_k (w − b_k) = −κ (w − w_0), κ = μ K/N: w = (mean a_k b_k + κ w_0) / (mean a_k + κ)."""
    kappa = 0.5 * cohort / 3
    work = {"rounds": 400, "start": 4.0, "lr": 0.1, "clients_per_round": cohort}
    found = limit(quadratics(A, B), FedDynClients(0.5), **work)
    assert found == pytest.approx(((A * B).mean() + 4.0 * kappa) / (A.mean() + kappa), abs=1e-6)


def test_the_servers_half_rests_where_fedavg_rests_and_not_at_the_optimum() -> None:
    work = {"rounds": 150, "start": 4.0, "lr": 0.1, "local_steps": 7}
    found, fedavg = (limit(quadratics(A, B), one, **work) for one in (FedDynServer(), fl.FedAvg()))
    assert found == pytest.approx(fedavg, abs=1e-8)
    assert abs(found - OPTIMUM) > 0.01


def test_both_halves_together_are_feddyn() -> None:
    """Without a pull and with h = 0 for ever, FedDyn's server is the server's half: μ cancels in
    its step.
    """
    fed = blobs((3, 17, 8, 30))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"rounds": 4, "clients_per_round": 2, "local_steps": 3}

    class OnlyTheServer(fl.algorithms.FedDyn):
        def correction(self, server, client):
            return fl.Correction()

    half, whole = (
        run(fed, model, one, **work).history.params for one in (FedDynServer(), OnlyTheServer(0.3))
    )
    torch.testing.assert_close(half, whole, rtol=0, atol=1e-12)


def test_the_halves_stop_where_the_text_says() -> None:
    """FedAvg and the server's half at 0.667, FedDyn at 0.75, the clients' half at 3.5 / 3."""
    exercise = registry.get("08-halves")
    rules = figures.parts(exercise.build(exercise.solution_source), 1.0)
    figure = figures.paths(rules, title="Halves")
    ends = {trace.name: trace.y[-1] for trace in figure.data if trace.name in rules}
    assert ends[figures.SERVERS_HALF] == pytest.approx(ends["FedAvg"], abs=1e-6)
    assert ends["FedAvg"] == pytest.approx(0.667, abs=5e-4)
    assert ends["FedDyn"] == pytest.approx(0.75, abs=1e-6)
    assert ends[figures.CLIENTS_HALF] == pytest.approx(3.5 / 3, abs=1e-6)


@pytest.mark.parametrize("cohort", [1, 2, 3])
def test_feddyns_server_is_a_momentum_that_never_forgets(cohort) -> None:
    """The step is m + K/N Σ m, with the mean moves m of the rounds up to this one."""
    steps = []
    moves = []

    class Watched(fl.algorithms.FedDyn):
        def aggregate(self, server, updates):
            moves.append(float(updates.params.mean() - server.params))
            w = super().aggregate(server, updates)
            steps.append(float(w - server.params))
            return w

    work = {"rounds": 8, "clients_per_round": cohort}
    on_quadratics.path(Watched, [0.7], A, B, work)
    expected = np.array(moves) + cohort / 3 * np.cumsum(moves)
    assert steps == pytest.approx(expected.tolist(), abs=1e-12)


def test_after_few_steps_with_a_small_strength_h_k_is_much_smaller_than_the_gradient() -> None:
    """Ten steps of η = 0.05 with μ = 0.1: about η μ · 10 = 1/20 of the gradients on the way."""
    tables = []

    class Watched(fl.algorithms.FedDyn):
        def aggregate(self, server, updates):
            w = super().aggregate(server, updates)
            gradient = figures.A * (updates.params[:, 0].numpy() - figures.B)
            tables.append(
                (server.state["h_clients"][updates.clients][:, 0].numpy() / gradient).tolist()
            )
            return w

    on_quadratics.path(Watched, [0.1], figures.A, figures.B, figures._WORK)
    assert max(tables[0]) < 1 / 8
    assert tables[-1] == pytest.approx([1.0, 1.0], abs=0.1)


def test_dividing_by_the_cohort_shows_in_the_path_and_not_at_the_end() -> None:
    rules = {"right": fl.algorithms.FedDyn(3.0), "wrong": FedDynByCohort(3.0)}
    figure = figures.paths_with_absence(rules, title="Absent")
    right, wrong = (np.array(trace.y) for trace in figure.data[:2])
    assert [right[-1], wrong[-1]] == pytest.approx([0.75, 0.75], abs=0.004)
    assert right.min() > 0.5 > 0.1 > wrong.min()
    everybody = {"rounds": 10}
    paths = [on_quadratics.path(lambda one=one: one, [], A, B, everybody) for one in rules.values()]
    assert paths[0] == pytest.approx(paths[1], abs=1e-12)


def test_with_equal_clients_or_one_step_the_servers_half_stops_elsewhere() -> None:
    """So the chapter says "on our two clients". Equal curvatures: the optimum is 0.5. One step a
    round: FedAvg descends on the mean loss, whose optimum is 0.75.
    """
    work = {**figures._WORK, "rounds": 200}
    equal = on_quadratics.path(FedDynServer, [], [2.0, 2.0], figures.B, work)
    assert equal[-1] == pytest.approx(0.5, abs=1e-8)
    one_step = {**work, "local_steps": 1}
    single = on_quadratics.path(FedDynServer, [], figures.A, figures.B, one_step)
    assert single[-1] == pytest.approx(0.75, abs=1e-4)


def test_with_a_very_large_strength_feddyn_runs_away() -> None:
    """η (a + μ) = 0.05 · (3 + 38) > 2: the local steps of the second client are unstable."""
    path = on_quadratics.path(
        fl.algorithms.FedDyn, [38.0], figures.A, figures.B, {**figures._WORK, "rounds": 60}
    )
    assert not abs(path[-1]) < 1e3
