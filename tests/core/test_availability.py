"""Runs in which not every client is there in every round."""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.sampling import Bernoulli
from tests.support import Trace, blobs, quadratics, run, scalar_model


class Recording(fl.FedAvg):
    """FedAvg that remembers who trained; for these tests only."""

    def __init__(self) -> None:
        self.seen = []

    def describe(self):
        return {"name": "Recording"}

    def aggregate(self, server, updates):
        self.seen.append(updates.clients)
        return super().aggregate(server, updates)


def recorded(table: np.ndarray, rounds: int, clients_per_round: int) -> tuple[list[np.ndarray], fl.History]:
    algorithm = Recording()
    fed = quadratics([1.0] * table.shape[1], range(table.shape[1]))
    history = run(
        fed, scalar_model(), algorithm, rounds=rounds, clients_per_round=clients_per_round, availability=Trace(table)
    ).history
    return algorithm.seen, history


def test_only_those_who_are_there_are_drawn() -> None:
    table = np.array([[True, False, True, True, False], [False, True, False, False, False]])
    seen, _ = recorded(table, rounds=4, clients_per_round=2)
    assert [len(cohort) for cohort in seen] == [2, 1, 2, 1]
    for round, cohort in enumerate(seen):
        assert table[round % 2][cohort].all()


def test_a_trace_can_be_nested_lists() -> None:
    table = [[True, False, True], [False, True, False]]
    fed = quadratics([1.0] * 3, range(3))
    runs = [
        run(fed, scalar_model(), fl.FedAvg(), rounds=3, availability=Trace(given)).history
        for given in (table, np.array(table))
    ]
    assert torch.equal(runs[0].params, runs[1].params) and runs[0].config == runs[1].config


def test_a_round_without_anybody_changes_nothing_and_costs_nothing() -> None:
    table = np.array([[True, True], [False, False]])
    seen, history = recorded(table, rounds=2, clients_per_round=2)
    first, second = (history.frame.iloc[i] for i in range(2))
    assert len(seen) == 1
    assert second.train_loss == first.train_loss and second.bytes_up == first.bytes_up
    assert second.server_updates == first.server_updates == 1 and math.isnan(second.drift)


def test_everybody_there_is_the_same_run_as_no_availability() -> None:
    fed = blobs([5] * 6)
    model = fl.models.softmax_regression(fed)
    always = Bernoulli(np.ones(6))
    runs = [
        run(fed, model, fl.FedAvg(), rounds=3, clients_per_round=3, availability=availability).history.params
        for availability in (None, always)
    ]
    assert torch.equal(*runs)


def test_availability_is_part_of_the_configuration() -> None:
    fed, model = quadratics([1.0, 1.0], [0.0, 1.0]), scalar_model()
    configs = [
        run(fed, model, fl.FedAvg(), rounds=1, availability=availability).history.config["availability"]
        for availability in (None, Bernoulli(np.ones(2)), Bernoulli(np.array([1.0, 0.5])))
    ]
    assert configs[0] is None and configs[1]["name"] == "Bernoulli" and configs[1] != configs[2]


@pytest.mark.parametrize("availability", [np.ones(2), 0.5, Bernoulli(np.ones(3))])
def test_wrong_availability_is_refused(availability) -> None:
    with pytest.raises(ValueError, match="availability"):
        run(quadratics([1.0, 1.0], [0.0, 1.0]), scalar_model(), fl.FedAvg(), rounds=1, availability=availability)


def test_an_availability_that_gives_numbers_of_clients_is_refused() -> None:
    """Four integers for four clients: taken for indices they would say something else."""

    class Numbers(fl.sampling.Availability):
        def available(self, round, rng):
            return np.array([1, 0, 1, 1])

    fed = quadratics([1.0] * 4, range(4))
    with pytest.raises(ValueError, match=r"availability: must give a bool array \[4\], got array"):
        run(fed, scalar_model(), fl.FedAvg(), rounds=1, clients_per_round=2, availability=Numbers())
