"""Clients of two speeds: who holds what, who does how much, and accuracy by speed."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.methods import two_speeds

DATA = fl.load_dataset("digits")
WORK = {
    "rounds": 2,
    "clients_per_round": 12,
    "local_epochs": 4,
    "batch_size": 10,
    "lr": 0.05,
    "progress": False,
}


class Steps(fl.FedAvg):
    """FedAvg that keeps who made how many steps."""

    seen: dict[int, int]

    def aggregate(self, server, updates):
        type(self).seen |= dict(
            zip(updates.clients.tolist(), updates.num_steps.int().tolist(), strict=True)
        )
        return super().aggregate(server, updates)


def test_the_first_half_alone_holds_the_slow_labels_and_all_data_are_dealt() -> None:
    fed, slow = two_speeds.deal(DATA, 3, num_clients=40)
    held = [set(fed.y[part].tolist()) for part in fed.parts]
    assert len(slow) == 5 and all(len(labels) == 2 for labels in held)
    assert set.union(*held[:20]) == set(slow.tolist())
    assert set.union(*held[20:]) == set(range(10)) - set(slow.tolist())
    assert sorted(np.concatenate(fed.parts).tolist()) == list(range(len(DATA.train)))
    assert not np.array_equal(two_speeds.deal(DATA, 4)[1], slow), "drawn with the seed"


def test_slow_clients_make_that_many_epochs_and_the_others_all() -> None:
    fed, _ = two_speeds.deal(DATA, 0, num_clients=40)
    Steps.seen = {}
    fl.simulate(fed, fl.models.mlp(fed, seed=0), two_speeds.Slowed(Steps(), 20, 3), **WORK)
    for client, steps in Steps.seen.items():
        epochs = 3 if client < 20 else 4
        assert steps == epochs * -(-int(fed.sizes[client]) // 10)
    assert {client < 20 for client in Steps.seen} == {True, False}


@pytest.mark.parametrize("rule", [fl.FedProx(0.1), fl.FedNova()])
def test_nobody_slow_leaves_the_rule_as_it_is(rule: fl.Algorithm) -> None:
    fed, _ = two_speeds.deal(DATA, 0, num_clients=40)
    runs = [
        fl.simulate(fed, fl.models.mlp(fed, seed=0), one, **WORK)
        for one in (rule, two_speeds.Slowed(rule, 0))
    ]
    assert torch.equal(runs[0].params, runs[1].params)


def test_what_a_rule_refuses_is_refused() -> None:
    fed, _ = two_speeds.deal(DATA, 0, num_clients=40)
    with pytest.raises(ValueError, match="mu=50"):
        fl.simulate(
            fed, fl.models.mlp(fed, seed=0), two_speeds.Slowed(fl.FedNova(mu=50.0), 20), **WORK
        )


def test_accuracy_by_speed_adds_up_to_the_accuracy() -> None:
    fed, slow = two_speeds.deal(DATA, 0, num_clients=40)
    model = fl.models.mlp(fed, seed=0)
    watch = two_speeds.AccuracyBySpeed(model, slow)
    history = fl.simulate(fed, model, fl.FedAvg(), **WORK, on_round=watch)
    share = np.isin(fed.test.y.numpy(), slow).mean()
    whole = share * watch.table["slow"] + (1 - share) * watch.table["fast"]
    assert watch.table.index.tolist() == [1, 2]
    assert whole.to_numpy() == pytest.approx(history.frame.test_accuracy.to_numpy())
