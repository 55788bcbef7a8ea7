"""The experiments and the control behind chapter 5, in their smallest cases."""

from typing import Literal

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas.ablation import RotatedPairs
from fedlab_course.experiments.studies import tasks_in_turn
from fedlab_course.methods import continual


@pytest.fixture(scope="module")
def digits() -> fl.data.Dataset:
    return fl.load_dataset("digits")


def test_tasks_of_pixels_hold_the_same_images_in_another_order(digits: fl.data.Dataset) -> None:
    fed, tests = continual.by_pixels(digits, seed=3)
    plain, other = (fed.x[part].flatten(1) for part in fed.parts)
    assert not torch.equal(plain, other)
    assert torch.equal(plain.sort(1).values, other.sort(1).values)
    columns = [sorted(map(tuple, images.T.tolist())) for images in (plain, other)]
    assert columns[0] == columns[1]  # one order for all images
    assert torch.equal(tests[0][1], tests[1][1])
    assert not torch.equal(other, continual.by_pixels(digits, seed=4)[0].x[fed.parts[1]].flatten(1))


def test_a_strong_spring_keeps_the_first_task_and_learns_nothing_new() -> None:
    """η·2λ = 1: a step returns all the way to the end of the first task before it takes the
    gradient's.
    """
    [row] = tasks_in_turn.two_tasks(0, tasks="labels", importance="uniform", strength=10.0)
    assert row["first"] == pytest.approx(row["before"], abs=0.02)
    assert row["second"] < 0.1
    assert row["stiffest"] == pytest.approx(1.0)
    assert row["both"] == pytest.approx((row["first"] + row["second"]) / 2)


@pytest.mark.parametrize(("order", "gaps"), [("ring", {5}), ("together", {1}), ("shuffled", None)])
def test_pairs_never_hold_one_label_and_every_label_has_two_turns_a_round(
    digits: fl.data.Dataset, order: Literal["ring", "together", "shuffled"], gaps: set[int] | None
) -> None:
    """Half a round lies between the two turns of a label in the ring, and nothing if the two follow
    one another; a new order has no one gap.
    """
    parts = fl.partition.labels_per_client(
        digits.train.y, num_clients=30, labels_per_client=1, seed=0
    )
    fed = fl.FederatedDataset(digits, parts)
    label = [int(fed.y[part[0]]) for part in parts]
    drawn: list[list[int]] = []

    class Noted(RotatedPairs):
        def after_aggregation(self, server, updates):  # type: ignore[no-untyped-def]
            drawn.append([label[k] for k in updates.clients.tolist()])

    settings = {
        "rounds": 2,
        "clients_per_round": 2,
        "local_steps": 1,
        "batch_size": 5,
        "lr": 0.01,
        "seed": 0,
    }
    history = fl.simulate(fed, fl.models.mlp(fed, seed=0), Noted(order), **settings, progress=False)
    assert len(drawn) == 20 == history.records[-1].server_updates
    assert all(len(set(pair)) == 2 for pair in drawn)
    first, second = drawn[:10], drawn[10:]
    for half in (first, second):
        assert np.bincount(np.ravel(half)).tolist() == [2] * 10
    turns = [[turn for turn, pair in enumerate(first) if own in pair] for own in range(10)]
    found = {late - early for early, late in turns}
    pairs = [[set(pair) for pair in half] for half in (first, second)]
    if gaps is None:
        assert len(found) > 2
        assert pairs[0] != pairs[1]
    else:
        assert found == gaps
        assert pairs[0] == pairs[1]
