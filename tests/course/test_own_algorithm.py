"""Chapter 10: FedDyn as its cells write it against closed forms, and what is said of state, and the rubric."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course import Explorer, goals
from fedlab_course.chapters.ch10_your_own_algorithm.variants import FedDynClients, FedDynInTurn, FedDynServer
from fedlab_course.check import exercises
from tests.course.from_notebook import defined
from tests.support import blobs, limit, quadratics, run, scalar_model

A, B = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0])
OPTIMUM = (A * B).sum() / A.sum()
CELLS = ("imports", "feddyn-code", "quadratics", "two-questions", "third-question", "in-turn", "forgetful", "mine")


@pytest.fixture(scope="module")
def chapter():
    """The classes and questions of the chapter; what runs on images is left out."""
    return defined("10_your_own_algorithm.ipynb", *CELLS, names={"mu": 0.1})


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_feddyn_rests_at_the_optimum_and_its_vectors_at_the_gradients(chapter, mu: float) -> None:
    simulation = run(quadratics(A, B), scalar_model(), chapter["FedDyn"](mu), rounds=120, eval_every=120, lr=0.2)
    assert float(simulation.history.params[0]) == pytest.approx(OPTIMUM, abs=1e-8)
    state = simulation.state_dict()["algorithm"]
    assert state["h_clients"][:, 0].numpy() == pytest.approx(A * (OPTIMUM - B), abs=1e-6)
    assert float(state["h"]) == pytest.approx(0.0, abs=1e-6)


def test_feddyn_reaches_the_optimum_when_few_take_part(chapter) -> None:
    found = limit(quadratics(A, B), chapter["FedDyn"](1.0), rounds=250, clients_per_round=1, lr=0.2)
    assert found == pytest.approx(OPTIMUM, abs=1e-6)


def test_two_rounds_with_exact_minimisation_follow_the_formulas(chapter) -> None:
    """y_k = (a_k b_k + h_k + μ w) / (a_k + μ), then h_k = ∇f_k(y_k), h their mean and w = mean y_k − h/μ."""
    mu, w, h = 2.0, 4.0, np.zeros(3)
    for _ in range(2):
        y = (A * B + h + mu * w) / (A + mu)
        h = A * (y - B)
        w = y.mean() - h.mean() / mu
    simulation = run(quadratics(A, B), scalar_model(4.0), chapter["FedDyn"](mu), rounds=2, local_steps=300)
    assert float(simulation.history.params[0]) == pytest.approx(w, abs=1e-10)
    assert simulation.state_dict()["algorithm"]["h_clients"][:, 0].numpy() == pytest.approx(h, abs=1e-10)


def test_round_1_goes_further_than_fedavg_by_the_share_of_the_cohort(chapter) -> None:
    arguments = {"rounds": 1, "start": 4.0, "clients_per_round": 2}
    fedavg, feddyn = (
        limit(quadratics(A, B), algorithm, **arguments) for algorithm in (fl.FedAvg(), chapter["FedDyn"](1e-9))
    )
    assert feddyn - 4.0 == pytest.approx((1 + 2 / 3) * (fedavg - 4.0), rel=1e-6)


def test_h_is_the_mean_of_all_clients_and_bytes_are_those_of_fedavg(chapter) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "rounds": 5}
    simulation = run(fed, model, chapter["FedDyn"](0.5), **work)
    state = simulation.state_dict()["algorithm"]
    torch.testing.assert_close(state["h"], state["h_clients"].mean(0), rtol=0, atol=1e-13)
    assert state["h"].abs().max() > 1e-3
    columns = ["bytes_up", "bytes_down"]
    fedavg = run(fed, model, fl.FedAvg(), **work).history.frame
    assert simulation.history.frame[columns].equals(fedavg[columns])


@pytest.mark.parametrize("question", ["engines_agree", "order_is_free", "survives_a_checkpoint"])
def test_the_three_questions(chapter, question: str) -> None:
    assert chapter[question](lambda: chapter["FedDyn"](0.1))
    assert chapter[question](fl.Scaffold)
    assert chapter[question](chapter["Mine"])
    assert chapter[question](chapter["Shrinking"]) == (question != "survives_a_checkpoint")


def test_the_question_of_order_finds_an_algorithm_that_counts(chapter) -> None:
    class First(fl.Algorithm):
        def aggregate(self, server, updates):
            return updates.params[0]

    assert not chapter["order_is_free"](First)


def test_in_turn_asks_everybody_once_before_anybody_twice(chapter) -> None:
    class Asked(chapter["InTurn"]):
        def aggregate(self, server, updates):
            asked.append(updates.clients.tolist())
            return super().aggregate(server, updates)

    asked: list[list[int]] = []
    run(quadratics([1.0] * 5, range(5)), scalar_model(), Asked(1.0), rounds=5, clients_per_round=2)
    assert asked == [[0, 1], [2, 3], [4, 0], [1, 2], [3, 4]]


def test_mine_as_shipped_is_fedavg(chapter) -> None:
    fed = blobs((3, 17, 8, 30))
    model, work = fl.models.softmax_regression(fed, seed=2), {"rounds": 4, "clients_per_round": 2, "local_steps": 3}
    mine, fedavg = (run(fed, model, algorithm, **work).history for algorithm in (chapter["Mine"](), fl.FedAvg()))
    assert mine.params.equal(fedavg.params)
    assert mine.frame.drop(columns="seconds").equals(fedavg.frame.drop(columns="seconds"))


class FedAvgM(fl.Algorithm):
    """The same by the last two models: v = w − w_before."""

    def __init__(self, beta):
        self.beta = beta

    def setup(self, server):
        server.state["before"] = server.params

    def aggregate(self, server, updates):
        v = server.params - server.state["before"]
        server.state["before"] = server.params
        return updates.weighted_mean() + self.beta * v


def longest_waiting(last_asked, available, clients_per_round):
    return sorted(available.tolist(), key=lambda client: last_asked[client])[:clients_per_round]


@pytest.mark.parametrize(("name", "answer"), [("10-momentum", FedAvgM), ("10-waiting", longest_waiting)])
def test_another_right_answer_passes(name: str, answer) -> None:
    assert exercises.judge(exercises.get(name), answer).hint == ""


def test_asking_who_has_waited_longest_makes_laps_if_everybody_is_there() -> None:
    rule, last_asked, everybody = exercises.get("10-waiting").solution, np.zeros(6, dtype=int), np.arange(6)
    asked = []
    for t in range(1, 7):
        asked.append(rule(last_asked, everybody, 2))
        last_asked[asked[-1]] = t
    for lap in (asked[:3], asked[3:]):
        assert sorted(np.concatenate(lap)) == list(everybody)


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_the_clients_half_rests_on_a_spring_to_the_start(mu: float) -> None:
    """mean a_k (w − b_k) = −μ (w − w_0): w = (mean a_k b_k + μ w_0) / (mean a_k + μ)."""
    found = limit(quadratics(A, B), FedDynClients(mu), rounds=400, start=4.0, lr=0.05)
    assert found == pytest.approx(((A * B).mean() + 4.0 * mu) / (A.mean() + mu), abs=1e-6)


def test_the_servers_half_rests_where_fedavg_rests_and_not_at_the_optimum() -> None:
    work = {"rounds": 400, "start": 4.0, "lr": 0.05, "local_steps": 7}
    found, fedavg = (limit(quadratics(A, B), one, **work) for one in (FedDynServer(), fl.FedAvg()))
    assert found == pytest.approx(fedavg, abs=1e-8)
    assert abs(found - OPTIMUM) > 0.01


def test_both_halves_together_are_feddyn() -> None:
    """Without a pull and with h = 0 for ever, FedDyn's server is the server's half: μ cancels in its step."""
    fed = blobs((3, 17, 8, 30))
    model, work = fl.models.softmax_regression(fed, seed=2), {"rounds": 4, "clients_per_round": 2, "local_steps": 3}

    class OnlyTheServer(fl.algorithms.FedDyn):
        def correction(self, server, client):
            return fl.Correction()

    half, whole = (run(fed, model, one, **work).history.params for one in (FedDynServer(), OnlyTheServer(0.3)))
    torch.testing.assert_close(half, whole, rtol=0, atol=1e-12)


def test_feddyn_in_turn_is_the_chapters(chapter) -> None:
    fed = blobs((3, 17, 8, 30))
    model, work = fl.models.softmax_regression(fed, seed=2), {"rounds": 5, "clients_per_round": 3, "local_steps": 3}
    ends = [run(fed, model, one, **work).history.params for one in (FedDynInTurn(0.3), chapter["InTurn"](0.3))]
    torch.testing.assert_close(*ends, rtol=0, atol=1e-12)


class InClassAttribute(FedAvgM):
    """A velocity that the class keeps, which the library does not look at."""

    def setup(self, server):
        type(self).velocity = torch.zeros_like(server.params)
        server.state["seen"] = torch.zeros(1)

    def aggregate(self, server, updates):
        type(self).velocity = self.beta * self.velocity + updates.weighted_mean() - server.params
        return server.params + self.velocity


def test_a_velocity_outside_of_the_state_is_found_when_a_run_is_resumed() -> None:
    assert "resumed by a new instance" in exercises.judge(exercises.get("10-momentum"), InClassAttribute).hint


class Mine(FedDynServer):
    """What the chapter says reaches its goal."""


def test_the_goal_of_the_race_can_be_reached_and_is_not_met_as_shipped(chapter) -> None:
    goal = goals.beats("Mine", "FedAvg", x="bytes")
    for own, reached in ((chapter["Mine"], False), (Mine, True)):
        race = Explorer(own=own, algorithms=("fedavg",), split="labels_per_client", goal=goal, live=False)
        race.run()
        assert race.reached is reached
