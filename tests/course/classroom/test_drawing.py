"""Drawings become images as the digits data set was made."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.classroom import virtual
from tests.course.classroom.hosting import Hosted
from tests.course.classroom.strokes import DIGITS

pytestmark = pytest.mark.needs_browser


@pytest.fixture(scope="module")
def page(chromium: Any) -> Iterator[Any]:
    """The student's page before it joins."""
    hosted = Hosted()
    opened = chromium.new_page(viewport={"width": 360, "height": 740})
    opened.goto(hosted.running.local)
    yield opened
    opened.close()
    hosted.stop()


def bitmap(page: Any, strokes: Any) -> np.ndarray:
    found = page.evaluate("(strokes) => Array.from(bitmapOf(strokes))", strokes)
    return np.array(found).reshape(32, 32)


def test_blocks_are_counts_of_black_pixels(page: Any) -> None:
    rng = np.random.default_rng(0)
    for share in (0.0, 0.3, 1.0):
        pixels = (rng.random((32, 32)) < share).astype(int)
        blocks = page.evaluate("(b) => Array.from(blocksOf(b))", pixels.ravel().tolist())
        counted = pixels.reshape(8, 4, 8, 4).sum(axis=(1, 3))
        assert blocks == counted.ravel().tolist()
        letters = page.evaluate("(b) => lettersOf(b)", blocks)
        assert [ord(letter) - 65 for letter in letters] == blocks
        assert page.evaluate("(text) => Array.from(blocksFrom(text))", letters) == blocks
        assert min(blocks) >= 0 and max(blocks) <= 16


@pytest.mark.parametrize("label", DIGITS)
def test_a_digit_fills_the_bitmap_as_those_of_the_data_set(page: Any, label: int) -> None:
    found = bitmap(page, DIGITS[label])
    rows = np.flatnonzero(found.any(axis=1))
    columns = np.flatnonzero(found.any(axis=0))
    assert rows[0] <= 1 and rows[-1] >= 30
    assert columns[0] >= 5 and columns[-1] <= 26
    ink = virtual.digits().train.x.mean()
    assert abs(found.mean() - float(ink)) < 0.03
    moved = [[(0.1 + 0.3 * x, 0.2 + 0.3 * y) for x, y in stroke] for stroke in DIGITS[label]]
    assert (bitmap(page, moved) != found).mean() < 0.01  # size and place do not matter


def test_a_dot_and_a_dash_are_no_error(page: Any) -> None:
    for strokes in ([[(0.5, 0.5)]], [[(0.2, 0.5), (0.8, 0.5)]], [[(0.5, 0.2), (0.5, 0.8)]]):
        found = bitmap(page, strokes)
        assert 0 < found.sum() < 32 * 32


def test_a_model_of_the_data_set_reads_drawn_digits(page: Any) -> None:
    data = virtual.digits()
    fed = fl.FederatedDataset(data, [np.arange(len(data.train))])
    settings = {"rounds": 40, "clients_per_round": 1, "local_epochs": 1, "batch_size": 10}
    model = virtual.model(0)
    history = fl.simulate(fed, model, fl.FedAvg(), lr=0.1, progress=False, **settings)
    rows = [
        page.evaluate("(s) => Array.from(blocksOf(bitmapOf(s)))", strokes)
        for strokes in DIGITS.values()
    ]
    with torch.no_grad():
        guesses = history.model(torch.tensor(rows, dtype=torch.float64).reshape(-1, 1, 8, 8) / 16)
    right = sum(a == b for a, b in zip(guesses.argmax(1).tolist(), DIGITS, strict=True))
    assert right >= 9, guesses.argmax(1)
