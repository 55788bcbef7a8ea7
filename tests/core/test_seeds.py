"""Runs over seeds: paired, and read at the rounds that were asked for."""

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_core.seeds import accuracy, runs

SETTINGS = {
    "rounds": 3,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 8,
    "lr": 0.1,
    "progress": False,
}


class Stub:
    """A history that holds no more than its frame."""

    def __init__(self, rounds, values) -> None:
        self.frame = pd.DataFrame({"round": rounds, "test_accuracy": values})


@pytest.fixture(scope="module")
def digits():
    return fl.load_dataset("digits")


def dealt(digits):
    def deal(seed):
        return fl.FederatedDataset(
            digits, fl.partition.iid(digits.train.y, num_clients=10, seed=seed)
        )

    return deal


def test_each_seed_gets_its_own_federation_model_and_run(digits) -> None:
    first, second = runs(
        fl.FedAvg(), dealt(digits), fl.models.softmax_regression, [3, 7], **SETTINGS
    )
    assert [run.config["seed"] for run in (first, second)] == [3, 7]
    fed = dealt(digits)(7)
    alone = fl.simulate(
        fed, fl.models.softmax_regression(fed, seed=7), fl.FedAvg(), **SETTINGS, seed=7
    )
    assert torch.equal(second.params, alone.params)
    assert not torch.equal(first.params, second.params)


def test_an_algorithm_can_be_made_for_each_federation(digits) -> None:
    def rule(fed):
        return fl.FedProx(mu=int(fed.fingerprint[:4], 16) / 2**16)

    found = runs(rule, dealt(digits), fl.models.softmax_regression, [3, 7], **SETTINGS)
    expected = [int(dealt(digits)(seed).fingerprint[:4], 16) / 2**16 for seed in (3, 7)]
    assert [run.config["algorithm"]["mu"] for run in found] == expected


def test_accuracy_after_a_round_and_over_a_range() -> None:
    histories = [Stub([1, 2, 3], [0.1, 0.4, 0.6]), Stub([1, 2, 3], [0.2, 0.2, 0.8])]
    np.testing.assert_allclose(accuracy(histories, 2), [0.4, 0.2])
    np.testing.assert_allclose(accuracy(histories, range(2, 4)), [0.5, 0.5])
    np.testing.assert_allclose(accuracy([Stub([5, 10], [0.3, 0.9])], np.int64(10)), [0.9])


@pytest.mark.parametrize("rounds", [2.0, [1, 2], True])
def test_what_is_neither_an_integer_nor_a_range_is_refused(rounds) -> None:
    with pytest.raises(ValueError, match=r"rounds=.*must be a round, as in 30, or a range"):
        accuracy([Stub([1, 2, 3], [0.1, 0.4, 0.6])], rounds)


@pytest.mark.parametrize("rounds", [0, 4, range(3, 5), range(0)])
def test_a_round_that_was_not_evaluated_is_refused(rounds) -> None:
    with pytest.raises(ValueError, match=r"rounds=.*1 to 3"):
        accuracy([Stub([1, 2, 3, 4], [0.1, 0.4, 0.6, float("nan")])], rounds)
