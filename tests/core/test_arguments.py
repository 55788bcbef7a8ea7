"""Values given as text."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedlab_core.validation import matches, parse_assignments, typed

GOOD = [
    ("false", bool, False),
    ("No", bool, False),
    ("0", bool, False),
    ("true", bool, True),
    ("3", int, 3),
    ("-1e-3", float, -0.001),
    ("2", float, 2.0),
    ("a=b", str, "a=b"),
    ("[1, 2]", list[int], [1, 2]),
    ("[0.5, 1]", list[float], [0.5, 1]),
    ("[]", list[str], []),
    ("none", int | None, None),
    ("7", int | None, 7),
    ("7", float | None, 7.0),
    ("7", int | float, 7),
    ("7", str | None, "7"),
    ('"a"', str, '"a"'),
    ("none", str | None, None),
    ("all", Literal["all", "cohort"], "all"),
    ("2", Literal[1, 2], 2),
]
BAD = [
    ("maybe", bool),
    ("2", bool),
    ("1.5", int),
    ("abc", float),
    ("[1, 2.5]", list[int]),
    ("[true]", list[int]),
    ("1, 2", list[int]),
    ("{}", list[int]),
    ("x", int | None),
    ("other", Literal["all", "cohort"]),
]


@pytest.mark.parametrize(("text", "kind", "value"), GOOD)
def test_text_becomes_a_value_of_the_declared_type(text, kind, value) -> None:
    converted = typed("x", text, kind)
    assert converted == value
    assert type(converted) is type(value)


@pytest.mark.parametrize(("text", "kind"), BAD)
def test_wrong_text_is_refused_with_name_text_and_type(text: str, kind) -> None:
    with pytest.raises(ValueError, match="must be") as caught:
        typed("mu", text, kind)
    assert f"mu={text}" in str(caught.value)


@given(st.floats(allow_nan=False), st.integers(), st.lists(st.integers()))
def test_printed_values_come_back(number: float, integer: int, integers: list[int]) -> None:
    assert typed("x", repr(number), float) == number
    assert typed("x", str(integer), int) == integer
    assert typed("x", str(integers), list[int]) == integers


def test_a_bool_is_no_number_and_an_integer_is_a_float() -> None:
    assert not matches(True, int)
    assert not matches(True, float)
    assert matches(1, float)
    assert not matches(1.0, int)
    assert matches(None, float | None)
    assert not matches("1", float | None)
    assert matches(["a"], list[str])
    assert not matches(("a",), list[str])


def test_assignments() -> None:
    assert parse_assignments(["mu=0.1", "name=a=b", "mu = 2"]) == {"mu": "2", "name": "a=b"}
    for bad in ("mu", "=1", "a b=1"):
        with pytest.raises(ValueError, match="NAME=VALUE"):
            parse_assignments([bad])
