"""Chapter 10: FedDyn as its cells write it, its halves against closed forms, questions of state, and the exercises."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course import Explorer, goals
from fedlab_course.chapters.ch10_your_own_algorithm.variants import FedDynClients, FedDynInTurn, FedDynServer
from fedlab_course.check import exercises, registry
from tests.course.from_notebook import defined
from tests.support import blobs, limit, quadratics, run, scalar_model

A, B = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0])
OPTIMUM = (A * B).sum() / A.sum()
CELLS = ("imports", "feddyn-code", "quadratics", "two-questions", "third-question", "in-turn", "forgetful", "mine")


@pytest.fixture(scope="module")
def chapter():
    """The classes and questions of the chapter; what runs on images is left out."""
    return defined("10_your_own_algorithm.ipynb", *CELLS, names={"mu": 0.1})


def test_the_feddyn_of_the_chapter_is_the_librarys(chapter) -> None:
    fed = blobs((3, 17, 8, 30, 1, 12))
    model = fl.models.softmax_regression(fed, seed=2)
    work = {"clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "rounds": 5}
    pairs = ((chapter["FedDyn"], fl.algorithms.FedDyn), (chapter["InTurn"], FedDynInTurn))
    for runs in ([run(fed, model, rule(0.5), **work).history for rule in pair] for pair in pairs):
        torch.testing.assert_close(*(history.params for history in runs), rtol=0, atol=1e-12)
        assert runs[0].frame[["bytes_up", "bytes_down"]].equals(runs[1].frame[["bytes_up", "bytes_down"]])


class First(fl.Algorithm):
    """It depends on the order of clients."""

    def aggregate(self, server, updates):
        return updates.params[0]


@pytest.mark.parametrize("question", ["engines_agree", "order_is_free", "survives_a_checkpoint"])
def test_the_three_questions(chapter, question: str) -> None:
    assert chapter[question](lambda: chapter["FedDyn"](0.1))
    assert chapter[question](chapter["Shrinking"]) == (question != "survives_a_checkpoint")
    assert chapter[question](First) == (question != "order_is_free")


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


def test_another_right_answer_passes() -> None:
    assert exercises.judge(registry.get("10-momentum"), FedAvgM).hint == ""


def test_the_clients_half_rests_on_a_spring_to_the_start() -> None:
    """mean a_k (w − b_k) = −μ (w − w_0): w = (mean a_k b_k + μ w_0) / (mean a_k + μ)."""
    mu = 0.5
    found = limit(quadratics(A, B), FedDynClients(mu), rounds=150, start=4.0, lr=0.1)
    assert found == pytest.approx(((A * B).mean() + 4.0 * mu) / (A.mean() + mu), abs=1e-6)


def test_the_servers_half_rests_where_fedavg_rests_and_not_at_the_optimum() -> None:
    work = {"rounds": 150, "start": 4.0, "lr": 0.1, "local_steps": 7}
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


class InClassAttribute(FedAvgM):
    """A velocity that the class keeps, which the library does not look at."""

    def setup(self, server):
        type(self).velocity = torch.zeros_like(server.params)
        server.state["seen"] = torch.zeros(1)

    def aggregate(self, server, updates):
        type(self).velocity = self.beta * self.velocity + updates.weighted_mean() - server.params
        return server.params + self.velocity


def test_a_velocity_outside_of_the_state_is_found_when_a_run_is_resumed() -> None:
    assert "resumed by a new instance" in exercises.judge(registry.get("10-momentum"), InClassAttribute).hint


class Mine(FedDynServer):
    """What the chapter says reaches its goal."""


def test_the_goal_of_the_race_can_be_reached_and_is_not_met_as_shipped(chapter) -> None:
    goal = goals.beats("Mine", "FedAvg", x="bytes")
    for own, reached in ((chapter["Mine"], False), (Mine, True)):
        race = Explorer(own=own, algorithms=("fedavg",), split="labels_per_client", rounds=15, goal=goal)
        race.run()
        assert race.reached is reached
