"""What a configuration says: equal descriptions for equal things only, and words for what cannot be
described.
"""

import json

import numpy as np
import pytest
import torch

from fedlab_core.description import described


def test_two_long_arrays_that_differ_in_one_place_are_told_apart() -> None:
    """As text, arrays beyond a thousand entries are elided in the middle."""
    first = np.arange(5000.0)
    second = np.arange(5000.0)
    second[2500] += 1
    assert described("a", first) != described("a", second)
    assert described("a", torch.from_numpy(first)) == described("a", first)
    assert described("a", first.astype(np.float32)) != described("a", first)
    assert described("a", first.reshape(50, 100)) != described("a", first)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.25,
        "text",
        [1, [2.0, None]],
        {"a": 1},
        np.float32(0.5),
        np.bool_(True),
        range(3),
    ],
    ids=str,
)
def test_plain_values_stay_what_they_are(value) -> None:
    found = described("x", value)
    assert json.loads(json.dumps(found)) == found
    assert found == (list(value) if isinstance(value, range) else value)


def test_functions_are_told_apart_by_what_they_do() -> None:
    def scaled(factor):
        return lambda t: factor * t

    assert described("f", scaled(1)) == described("f", scaled(1))
    assert described("f", scaled(1)) != described("f", scaled(2))
    assert described("f", lambda t: t + 1) != described("f", lambda t: t + 2)


class Opaque:
    """Something with an address only."""


@pytest.mark.parametrize(
    "value",
    [Opaque(), {1, 2}, {3: 4}, float("nan"), np.array([Opaque()]), [Opaque()]],
    ids=range(6),
)
def test_what_cannot_be_described_is_refused_in_words(value) -> None:
    with pytest.raises(
        ValueError, match=r"(?s)^algorithm.*cannot be described in the configuration"
    ):
        described("algorithm", value)
