"""Runs over seeds: paired, and read at the rounds that were asked for."""

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_core.seeds import accuracy, runs, spread

SETTINGS = {"rounds": 3, "clients_per_round": 3, "local_epochs": 1, "batch_size": 8, "lr": 0.1, "progress": False}


class Stub:
    """A history that holds no more than its frame."""

    def __init__(self, rounds, values) -> None:
        self.frame = pd.DataFrame({"round": rounds, "test_accuracy": values})


@pytest.fixture(scope="module")
def digits():
    return fl.load_dataset("digits")


def dealt(digits, asked=None):
    def deal(seed):
        if asked is not None:
            asked.append(seed)
        return fl.FederatedDataset(digits, fl.partition.iid(digits.train.y, num_clients=10, seed=seed))

    return deal


def test_each_seed_gets_its_own_federation_model_and_run(digits) -> None:
    asked: list[int] = []
    first, second = runs(fl.FedAvg(), dealt(digits, asked), fl.models.softmax_regression, [3, 7], **SETTINGS)
    assert asked == [3, 7]
    assert [run.config["seed"] for run in (first, second)] == [3, 7]
    fed = dealt(digits)(7)
    alone = fl.simulate(fed, fl.models.softmax_regression(fed, seed=7), fl.FedAvg(), **SETTINGS, seed=7)
    assert torch.equal(second.params, alone.params)
    assert not torch.equal(first.params, second.params)


def test_an_algorithm_can_be_made_for_each_federation(digits) -> None:
    feds: list[fl.FederatedDataset] = []

    def deal(seed):
        feds.append(dealt(digits)(seed))
        return feds[-1]

    told: list[fl.FederatedDataset] = []

    def rule(fed):
        told.append(fed)
        return fl.FedProx(mu=0.1 * len(told))

    found = runs(rule, deal, fl.models.softmax_regression, [3, 7], **SETTINGS)
    assert len(told) == 2 and all(ours is theirs for ours, theirs in zip(told, feds, strict=True))
    assert [run.config["algorithm"]["mu"] for run in found] == pytest.approx([0.1, 0.2])


def test_accuracy_after_a_round_and_over_a_range() -> None:
    histories = [Stub([1, 2, 3], [0.1, 0.4, 0.6]), Stub([1, 2, 3], [0.2, 0.2, 0.8])]
    np.testing.assert_allclose(accuracy(histories, 2), [0.4, 0.2])
    np.testing.assert_allclose(accuracy(histories, range(2, 4)), [0.5, 0.5])
    np.testing.assert_allclose(accuracy([Stub([5, 10], [0.3, 0.9])], np.int64(10)), [0.9])


@pytest.mark.parametrize("rounds", [2.0, "2", [1, 2], True, None, np.arange(1, 3)])
def test_what_is_neither_an_integer_nor_a_range_is_refused(rounds) -> None:
    with pytest.raises(ValueError, match=r"rounds=.*must be a round, as in 30, or a range"):
        accuracy([Stub([1, 2, 3], [0.1, 0.4, 0.6])], rounds)


@pytest.mark.parametrize("rounds", [0, 4, range(3, 5), range(0)])
def test_a_round_that_was_not_evaluated_is_refused(rounds) -> None:
    with pytest.raises(ValueError, match=r"rounds=.*1 to 3"):
        accuracy([Stub([1, 2, 3, 4], [0.1, 0.4, 0.6, float("nan")])], rounds)


def test_spread_gives_mean_and_range_or_a_dash() -> None:
    values = np.array([0.25, -0.5, 1.0])
    assert spread(values) == "0.250 (-0.500 to 1.000)"
    assert spread(values, "+.1f") == "+0.2 (-0.5 to +1.0)"
    assert spread(np.array([0.25, np.nan])) == "–"
