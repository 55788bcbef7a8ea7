"""Runs in which not every client is there in every round."""

import math
from typing import ClassVar

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms.base import LocalUpdates, Server
from fedlab_core.sampling import Availability, Bernoulli
from tests.support import Trace, blobs, quadratics, run, scalar_model, simulation


def test_only_those_who_are_there_are_drawn_and_a_round_without_anybody_changes_nothing() -> None:
    table = np.array(
        [[True, False, True, True, False], [False, True, False, False, False], [False] * 5]
    )
    work = {"rounds": 4, "clients_per_round": 2, "availability": Trace(table)}
    sim = simulation(quadratics([1.0] * 5, range(5)), scalar_model(), fl.FedAvg(), **work)
    seen = [[cohort.tolist() for cohort in sim.cohorts] for _ in sim]
    assert [len(cohort) for cohorts in seen for cohort in cohorts] == [2, 1, 2] and seen[2] == []
    assert all(table[t % 3][cohort].all() for t, cohorts in enumerate(seen) for cohort in cohorts)
    before, after = (sim.history.frame.iloc[t] for t in (1, 2))
    assert after.train_loss == before.train_loss and after.bytes_up == before.bytes_up
    assert after.server_updates == before.server_updates == 2 and math.isnan(after.drift)


def test_everybody_there_is_the_same_run_as_no_availability() -> None:
    fed = blobs([5] * 6)
    model = fl.models.softmax_regression(fed)
    always = Bernoulli(np.ones(6))
    runs = [
        run(
            fed, model, fl.FedAvg(), rounds=3, clients_per_round=3, availability=availability
        ).history.params
        for availability in (None, always)
    ]
    assert torch.equal(*runs)


@pytest.mark.parametrize("availability", [np.ones(2), 0.5, Bernoulli(np.ones(3))])
def test_wrong_availability_is_refused(availability) -> None:
    with pytest.raises(ValueError, match="availability"):
        run(
            quadratics([1.0, 1.0], [0.0, 1.0]),
            scalar_model(),
            fl.FedAvg(),
            rounds=1,
            availability=availability,
        )


def test_an_availability_that_gives_numbers_of_clients_is_refused() -> None:
    """Four integers for four clients: taken for indices they would say something else."""

    class Numbers(fl.sampling.Availability):
        def available(self, round, rng):
            return np.array([1, 0, 1, 1])

    fed = quadratics([1.0] * 4, range(4))
    with pytest.raises(ValueError, match=r"availability: must give a bool array \[4\], got array"):
        run(fed, scalar_model(), fl.FedAvg(), rounds=1, clients_per_round=2, availability=Numbers())


def test_a_round_that_is_tried_again_asks_again_who_is_there() -> None:
    class Leaving(Availability):
        """Client 2 leaves between the two tries of round 1."""

        def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
            return np.array([True, True, FailingOnce.cohorts_seen == []])

        def describe(self) -> dict[str, str]:
            return {"name": "Leaving"}

    class FailingOnce(fl.FedAvg):
        cohorts_seen: ClassVar[list[list[int]]] = []

        def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
            self.cohorts_seen.append(updates.clients.tolist())
            if len(self.cohorts_seen) == 1:
                raise OSError
            return super().aggregate(server, updates)

    sim = simulation(
        quadratics([1.0] * 3, range(3)),
        scalar_model(),
        FailingOnce(),
        rounds=1,
        clients_per_round=3,
        availability=Leaving(),
    )
    with pytest.raises(OSError):
        next(sim)
    next(sim)
    assert FailingOnce.cohorts_seen == [[0, 1, 2], [0, 1]]
