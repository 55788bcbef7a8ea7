"""Checks of arguments, and values given as text."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.validation import Positive, parse_assignments, typed

GOOD = [[2, 0], (2, 0), np.array([2, 0], dtype=np.uint8), torch.tensor([2, 0], dtype=torch.int16)]


@pytest.mark.parametrize("values", GOOD, ids=lambda values: f"{type(values).__name__}")
def test_indices_of_any_integer_dtype_become_int64(values) -> None:
    found = validation.indices("cohort", values, 3)
    assert found.tolist() == [2, 0] and found.dtype == np.int64
    assert validation.indices("cohort", [], 3).dtype == np.int64


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.array([True, False, True]), r"^cohort: a mask of booleans.*np\.flatnonzero\(mask\)"),
        ([1.7], r"^cohort: must be integers of shape \[m\], got float64 of shape \[1\]"),
        (["1"], "^cohort: must be integers"),
        (np.array([[0, 1]]), r"of shape \[1, 2\]"),
        ([0, 3], "^cohort: indices must be in 0 … 2, got 0 … 3"),
        ([-1], "got -1 … -1"),
        (np.array([2**64 - 1], dtype=np.uint64), f"got {2**64 - 1} … "),
    ],
)
def test_what_is_no_index_is_refused_in_words(values, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        validation.indices("cohort", values, 3)


def test_which_ends_of_an_interval_are_allowed() -> None:
    assert [validation.real("x", end, minimum=1, maximum=2) for end in (1, 2)] == [1.0, 2.0]
    for end, bounds in ((1, {"minimum": 1, "exclusive": True}), (2, {"below": 2})):
        with pytest.raises(ValueError, match=f"^x={end}: must be a finite number"):
            validation.real("x", end, **bounds)


TEXTS = [
    ("false", bool, False),
    ("0", bool, False),
    ("true", bool, True),
    ("3", int, 3),
    ("-1e-3", float, -0.001),
    ("2", float, 2.0),
    ("a=b", str, "a=b"),
    ("[1, 2]", list[int], [1, 2]),
    ("[0.5, 1]", list[float], [0.5, 1]),
    ("none", int | None, None),
    ("7", int | None, 7),
    ("7", float | None, 7.0),
    ("7", str | None, "7"),
    ("none", str | None, None),
    ("all", Literal["all", "cohort"], "all"),
    ("2", Literal[1, 2], 2),
]
WRONG = [
    ("2", bool),
    ("1.5", int),
    ("abc", float),
    ("[1, 2.5]", list[int]),
    ("1, 2", list[int]),
    ("{}", list[int]),
    ("x", int | None),
    ("other", Literal["all", "cohort"]),
]


@pytest.mark.parametrize(("text", "kind", "value"), TEXTS)
def test_text_becomes_a_value_of_the_declared_type(text, kind, value) -> None:
    converted = typed("x", text, kind)
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(("text", "kind"), WRONG)
def test_wrong_text_is_refused_with_name_text_and_type(text: str, kind) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        typed("mu", text, kind)
    assert f"mu={text}" in str(caught.value)


@given(st.floats(allow_nan=False), st.integers(), st.lists(st.integers()))
def test_printed_values_come_back(number: float, integer: int, integers: list[int]) -> None:
    assert typed("x", repr(number), float) == number
    assert typed("x", str(integer), int) == integer
    assert typed("x", str(integers), list[int]) == integers


def test_assignments() -> None:
    assert parse_assignments(["mu=0.1", "name=a=b", "mu = 2"]) == {"mu": "2", "name": "a=b"}
    for bad in ("mu", "=1", "a b=1"):
        with pytest.raises(ValueError, match="NAME=VALUE"):
            parse_assignments([bad])


@dataclass(frozen=True)
class Textual(fl.Algorithm):
    """Its types are texts, as all are in a module with ``from __future__ import annotations``."""

    mu: "Positive | None"
    kind: "Literal['a', 'b']" = "a"


def test_types_that_are_texts_are_checked_too() -> None:
    assert Textual(None).mu is None
    with pytest.raises(ValueError, match="mu=-1: must be"):
        Textual(-1)
    with pytest.raises(ValueError, match="kind='c': must be one of"):
        Textual(1.0, "c")
