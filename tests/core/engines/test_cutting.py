"""Work is cut by counted products: clients into chunks of equally many steps, samples into equal
pieces.
"""

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.engines import cutting
from tests.core.engines.test_equality import images, texts


def test_a_layer_multiplies_each_weight_once_for_each_place_of_its_output() -> None:
    layers = nn.Sequential(nn.Linear(50, 8), nn.ReLU(), nn.Linear(8, 3, bias=False))
    assert cutting.size_of(layers, torch.zeros(1, 50)) == (50 * 8 + 8 * 3, 2)


def test_a_convolution_has_a_place_for_each_pixel() -> None:
    fed = images(10)
    convolution = nn.Conv2d(1, 4, 3)
    assert cutting.size_of(nn.Sequential(convolution).double(), fed.x[:1]) == (8 * 8 * 4 * 9, 1)


def test_a_recurrent_layer_has_a_place_and_a_call_for_each_token() -> None:
    """Seven tokens: W_ih [24, 4] and W_hh [24, 6] for each, and the output layer [2, 6] once; the
    embedding is free.
    """
    fed = texts()
    assert cutting.size_of(fl.models.lstm(fed, embedding=4, hidden=6, seed=0), fed.x[:1]) == (
        7 * 24 * 10 + 12,
        8,
    )


def test_pieces_are_a_power_of_two_and_no_larger_than_asked() -> None:
    assert [cutting.pieces(amount, 2000) for amount in (0, 1, 2000, 2001, 4001, 10_000)] == [
        1,
        1,
        1,
        2,
        4,
        8,
    ]


@pytest.mark.parametrize(
    ("clients", "products", "calls", "expected"),
    [
        (20, 474_000, 2, 1),  # the digits MLP
        (10, 15_880_000, 2, 2),  # the MNIST MLP
        (20, 107_000_000, 4, 4),  # the MNIST CNN
        (64, 10**10, 4, 16),
        (3, 10**10, 4, 2),
        (1, 10**10, 1, 1),
    ],
)
def test_chunks_are_few_enough_to_be_worth_their_calls(clients, products, calls, expected) -> None:
    assert cutting.useful_chunks(clients, products, calls) == expected


@pytest.mark.parametrize("number", [1, 2, 7])
@pytest.mark.parametrize(
    "steps", [[5] * 12, [100, 1, 1, 1], [3, 17, 8, 30, 1, 12, 25], [4]], ids=str
)
def test_chunks_hold_every_client_once_and_the_longest_first(steps: list[int], number: int) -> None:
    found = cutting.chunks(np.array(steps), number)
    assert sorted(np.concatenate(found)) == list(range(len(steps)))
    assert 1 <= len(found) <= number and all(len(chunk) for chunk in found)
    taken = [steps[k] for chunk in found for k in chunk]
    assert taken == sorted(steps, reverse=True)


def test_chunks_have_about_equally_many_steps() -> None:
    """No chunk is off its share by more than the steps of one client."""
    steps = np.random.default_rng(0).integers(1, 50, size=100)
    for number in (2, 4, 8):
        totals = np.array([steps[chunk].sum() for chunk in cutting.chunks(steps, number)])
        assert len(totals) == number and (abs(totals - steps.sum() / number) <= steps.max()).all()
