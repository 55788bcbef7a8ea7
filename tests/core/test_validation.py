"""Checks of arguments that several packages share."""

import numpy as np
import pytest
import torch

from fedlab_core import validation

GOOD = [
    [2, 0],
    (2, 0),
    np.array([2, 0], dtype=np.int32),
    np.array([2, 0], dtype=np.uint8),
    np.array([2, 9, 0])[::2],
    torch.tensor([2, 0]),
    torch.tensor([2, 0], dtype=torch.int16),
]


@pytest.mark.parametrize("values", GOOD, ids=lambda values: f"{type(values).__name__}")
def test_indices_of_any_integer_dtype_become_int64(values) -> None:
    found = validation.indices("cohort", values, 3)
    assert found.tolist() == [2, 0] and found.dtype == np.int64


def test_no_indices_at_all_are_indices() -> None:
    assert validation.indices("cohort", [], 3).dtype == np.int64


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([True, False, True]), r"^cohort: a mask of booleans.*np\.flatnonzero\(mask\)"),
        (torch.tensor([True, False, True]), "^cohort: a mask of booleans"),
        ([True, False, True], "^cohort: a mask of booleans"),
        ([1.7], r"^cohort: must be integers of shape \[m\], got float64 of shape \[1\]"),
        (["1"], "^cohort: must be integers"),
        (np.array([[0, 1]]), r"of shape \[1, 2\]"),
        (1, r"of shape \[\]"),
        ([0, 3], "^cohort: indices must be in 0 … 2, got 0 … 3"),
        ([-1], "got -1 … -1"),
        (np.array([2**64 - 1], dtype=np.uint64), f"got {2**64 - 1} … "),
    ],
)
def test_what_is_no_index_is_refused_in_words(values, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        validation.indices("cohort", values, 3)
