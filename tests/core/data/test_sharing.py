"""Data that clients share: which samples, who gets them, what
they cost and that a run knows of it.
"""

import json

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.data.partition import shared
from fedlab_core.evaluation import hold_out
from tests.support import run

Y = np.tile(np.arange(4), 50)
PARTS = fl.partition.dirichlet(Y, num_clients=8, alpha=0.3, seed=1)
WORK = {
    "rounds": 2,
    "clients_per_round": 3,
    "local_steps": 2,
    "batch_size": 8,
    "lr": 0.05,
    "progress": False,
}


@pytest.fixture(scope="module")
def digits() -> fl.Dataset:
    return fl.load_dataset("digits")


@pytest.mark.parametrize("fraction", [0.001, 0.5])
def test_everybody_gets_the_whole_set_beside_the_own_samples(fraction: float) -> None:
    found = shared(PARTS, fraction, seed=3)
    size = max(1, round(fraction * 200))
    common = set.intersection(*map(set, found))
    assert len(common) == size  # no sample was everybody's before
    for before, after in zip(PARTS, found, strict=True):
        assert set(after) == set(before) | common
        assert (np.diff(after) > 0).all() and after.dtype == np.int64
    assert found.received == sum(map(len, found)) - 200


def test_draws_follow_the_seed_and_samples_of_nobody_stay_out() -> None:
    same, again, other = (shared(PARTS, 0.1, seed=seed) for seed in (3, 3, 4))
    assert [part.tolist() for part in same] == [part.tolist() for part in again]
    assert [part.tolist() for part in same] != [part.tolist() for part in other]
    few = fl.partition.by_user([np.arange(5), np.arange(5, 20), np.arange(20, 40)], min_samples=10)
    found = shared(few, 0.5)
    assert min(map(min, found)) == 5
    assert len(set.intersection(*map(set, found))) == round(0.5 * 35)


def test_what_is_sent_is_in_the_ledger_from_the_first_round_on_and_once(digits, tmp_path) -> None:
    parts = fl.partition.labels_per_client(
        digits.train.y, num_clients=10, labels_per_client=1, seed=0
    )
    given = shared(parts, 0.02, seed=1)
    frames = [
        run(fed, fl.models.softmax_regression(fed, seed=0), fl.FedAvg(), **WORK).history.frame
        for fed in (fl.FederatedDataset(digits, parts), fl.FederatedDataset(digits, given))
    ]
    sent = sum(len(set(after) - set(before)) for before, after in zip(parts, given, strict=True))
    assert sent > 200
    assert (frames[1].bytes_down - frames[0].bytes_down).tolist() == [sent * (64 * 4 + 8)] * 2
    assert frames[1].bytes_up.tolist() == frames[0].bytes_up.tolist()
    fed = fl.FederatedDataset(digits, given)
    checkpoint = tmp_path / "run.npz"
    model = fl.models.softmax_regression(fed, seed=0)
    for _ in fl.Simulation(fed, model, fl.FedAvg(), **WORK, checkpoint=checkpoint):
        break
    resumed = fl.simulate(fed, model, fl.FedAvg(), **WORK, checkpoint=checkpoint)
    assert resumed.frame.bytes_down.tolist() == frames[1].bytes_down.tolist()


def test_a_run_is_made_again_from_its_configuration(digits) -> None:
    shards = fl.partition.shards(digits.train.y, num_clients=10, shards_per_client=1)
    fed = fl.FederatedDataset(digits, shared(shared(shards, 0.01), 0.02, seed=1))
    history = fl.simulate(fed, fl.models.softmax_regression(fed), fl.FedAvg(), **WORK)
    again = fl.rerun(json.loads(json.dumps(history.config)), progress=False)
    assert torch.equal(again.params, history.params) and again.config == history.config
    assert again.frame.bytes_down.tolist() == history.frame.bytes_down.tolist()


def test_parts_that_somebody_gave_cannot_be_made_again(digits) -> None:
    fed = fl.FederatedDataset(digits, shared([np.arange(50), np.arange(50, 90)], 0.1))
    history = fl.simulate(
        fed, fl.models.softmax_regression(fed), fl.FedAvg(), **WORK | {"clients_per_round": 2}
    )
    with pytest.raises(
        ValueError, match="dealt by the law 'given' cannot be made again; pass fed="
    ):
        fl.rerun(history.config)
    assert torch.equal(fl.rerun(history.config, fed=fed, progress=False).params, history.params)


def test_what_several_clients_hold_is_not_held_out(digits) -> None:
    """It would be trained on by the others, and a client praised for what it was given the answers
    to.
    """
    parts = fl.partition.iid(digits.train.y, num_clients=10)
    kept, held = hold_out(fl.FederatedDataset(digits, shared(parts, 0.3)), 0.4, seed=0)
    trained = np.unique(kept.indices)
    assert len(np.intersect1d(trained, held.indices)) == 0
    assert len(np.unique(held.indices)) == len(held.indices)
    with pytest.raises(ValueError, match=r"held_out=0\.2: client 0 shares all its samples"):
        hold_out(fl.FederatedDataset(digits, shared(parts, 1.0)), 0.2, seed=0)
