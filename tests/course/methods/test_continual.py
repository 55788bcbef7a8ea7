"""Tasks one after another: penalties against closed forms, and what is noted on the way."""

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_course.methods import continual

ONE_STEP = {
    "clients_per_round": 2,
    "batch_size": None,
    "local_steps": 1,
    "lr": 0.1,
    "progress": False,
    "seed": 0,
}


def line(start: float = 0.0) -> nn.Module:
    """f(x) = w x, one parameter."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, start)
    return model


def two_targets() -> fl.FederatedDataset:
    """Client 0 wants w = 1 and client 1 wants w = -1, both with half the squared error at x = 1:
    curvature 1.
    """
    clients = [
        (torch.ones(1, 1), torch.tensor([[1.0]])),
        (torch.ones(1, 1), torch.tensor([[-1.0]])),
    ]
    return fl.FederatedDataset.from_clients(clients, test=clients[0])


def test_a_uniform_penalty_pulls_each_task_to_where_the_last_one_ended() -> None:
    settings = ONE_STEP | {"rounds": 1, "local_steps": 2, "loss": "squared_error"}
    ran = continual.watch(two_targets(), line(), continual.Continual(3.0, "uniform"), **settings)
    y = 0.0
    for _ in range(2):
        y -= 0.1 * (y - 1.0)
    first = y
    expected = [y]
    for _ in range(2):
        y -= 0.1 * ((y + 1.0) + 2 * 3.0 * (y - first))
    assert ran.way.flatten().tolist() == pytest.approx([*expected, y])
    assert ran.stiffest == pytest.approx(0.1 * 2 * 3.0)


def test_a_task_that_has_several_rounds_is_pulled_to_the_end_of_the_last_one_alone() -> None:
    settings = ONE_STEP | {"rounds": 4, "loss": "squared_error"}
    rule = continual.Continual(3.0, "uniform", rounds_each=2)
    way = continual.watch(two_targets(), line(), rule, **settings).way.flatten().tolist()
    y = 0.0
    for round_ in range(4):
        target, anchor = (1.0, None) if round_ < 2 else (-1.0, way[1])
        y -= 0.1 * ((y - target) + (0.0 if anchor is None else 6.0 * (y - anchor)))
        assert way[round_] == pytest.approx(y)


def test_ewc_weighs_by_the_squared_gradient_of_the_log_likelihood() -> None:
    """Of a unit normal around w x: (w - 1)² at the end of the first task."""
    settings = ONE_STEP | {"rounds": 1, "loss": "squared_error"}
    ran = continual.watch(two_targets(), line(), continual.Continual(1.0, "fisher"), **settings)
    first = 0.1
    fisher = (first - 1.0) ** 2
    assert ran.way[0].item() == pytest.approx(first)
    assert ran.stiffest == pytest.approx(0.1 * 2 * fisher)


def test_without_strength_it_is_plain_training() -> None:
    settings = ONE_STEP | {"rounds": 1, "loss": "squared_error"}
    kinds = ("fisher", "mas", "uniform")
    ways = [
        continual.watch(two_targets(), line(), continual.Continual(0.0, kind), **settings).way
        for kind in kinds
    ]
    assert torch.equal(ways[0], ways[1]) and torch.equal(ways[0], ways[2])
    assert ways[0].flatten().tolist() == pytest.approx([0.1, 0.1 - 0.1 * 1.1])


def test_watching_changes_nothing_and_notes_every_server_update() -> None:
    data = fl.load_dataset("digits")
    parts = fl.partition.labels_per_client(
        data.train.y, num_clients=20, labels_per_client=1, seed=0
    )
    fed = fl.FederatedDataset(data, parts)
    tiers = [int(data.train.y[part[0]]) for part in parts]
    settings = {
        "rounds": 2,
        "clients_per_round": 10,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.05,
        "seed": 0,
    }
    rule = fl.FedMas(0.5, tiers=tiers)
    settings["progress"] = False
    ran = continual.watch(fed, fl.models.mlp(fed, seed=0), rule, **settings)
    alone = fl.simulate(fed, fl.models.mlp(fed, seed=0), rule, **settings)
    assert ran.way.shape == (20, len(alone.params))
    assert torch.equal(ran.way[-1], alone.params)
    assert not ran.trouble and not ran.diverged


def test_a_run_that_diverges_is_told_and_not_raised() -> None:
    settings = ONE_STEP | {"rounds": 50, "loss": "squared_error", "lr": 1e5}
    ran = continual.watch(two_targets(), line(), continual.Continual(0.0), **settings)
    assert ran.diverged and ran.trouble.startswith("diverged in round")


def test_knowledge_counts_by_task() -> None:
    """A model that says class 1 where w x > 0: three of four right on the first task, none on the
    second.
    """
    model = nn.Linear(1, 2, bias=False)
    way = torch.tensor([[0.0, 1.0]])  # logits 0 and x
    first = (torch.tensor([[1.0], [2.0], [-1.0], [3.0]]), torch.tensor([1, 1, 0, 0]))
    second = (torch.tensor([[1.0]]), torch.tensor([0]))
    assert continual.knowledge(way, model, [first, second]).tolist() == [[0.75, 0.0]]


def test_tests_of_divides_the_test_images_by_label() -> None:
    data = fl.load_dataset("digits")
    halves = continual.tests_of(data, [range(5), range(5, 10)])
    assert sum(len(y) for _, y in halves) == len(data.test)
    assert set(halves[0][1].tolist()) == set(range(5)) and set(halves[1][1].tolist()) == set(
        range(5, 10)
    )


def test_recall_follows_each_task_until_its_next_turn() -> None:
    knows = np.array([[1.0, 0.0], [0.4, 0.8], [0.6, 0.2], [0.1, 0.5]])  # turns 0, 1, 0, 1
    np.testing.assert_allclose(
        continual.recall(knows, range(2)), [(1.0 + 0.8 + 0.6) / 3, (0.4 + 0.2 + 0.1) / 3]
    )
    np.testing.assert_allclose(continual.recall(knows, range(1)), [0.9, 0.3])
    assert np.isnan(continual.recall(knows[:1], range(1))).all()
