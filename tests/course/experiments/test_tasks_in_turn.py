"""The experiments and the control behind chapter 5, in their smallest cases."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas import continual
from fedlab_course.chapters.ch05_fedmas.ablation import RotatedPairs
from fedlab_course.experiments.studies import c06_memory


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
    """η·2λ = 1: a step returns all the way to the end of the first task before it takes the gradient's."""
    [row] = c06_memory.two_tasks(0, tasks="labels", importance="uniform", strength=10.0)
    assert row["first"] == pytest.approx(row["before"], abs=0.02)
    assert row["second"] < 0.1
    assert row["stiffest"] == pytest.approx(1.0)
    assert row["both"] == pytest.approx((row["first"] + row["second"]) / 2)


def test_rotated_pairs_never_hold_one_label_and_every_label_comes_twice_a_round(digits: fl.data.Dataset) -> None:
    parts = fl.partition.labels_per_client(digits.train.y, num_clients=30, labels_per_client=1, seed=0)
    fed = fl.FederatedDataset(digits, parts)
    label = [int(fed.y[part[0]]) for part in parts]
    drawn: list[list[int]] = []

    class Noted(RotatedPairs):
        def after_aggregation(self, server, updates):  # type: ignore[no-untyped-def]
            drawn.append([label[k] for k in updates.clients.tolist()])

    settings = {"rounds": 2, "clients_per_round": 2, "local_steps": 1, "batch_size": 5, "lr": 0.01, "seed": 0}
    history = fl.simulate(fed, fl.models.mlp(fed, seed=0), Noted(), **settings, progress=False)
    assert len(drawn) == 20 == history.records[-1].server_updates
    assert all(len(set(pair)) == 2 for pair in drawn)
    for half in (drawn[:10], drawn[10:]):
        assert np.bincount(np.ravel(half)).tolist() == [2] * 10
