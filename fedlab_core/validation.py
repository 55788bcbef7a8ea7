"""Check arguments, and read them from text.

Errors are ``ValueError`` with name, value and what is allowed.
"""

import difflib
import json
import math
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral, Real
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import torch

from fedlab_core.aliases import Column, Given
from fedlab_core.randomness import MAX_SEED

T = TypeVar("T")
Declared: TypeAlias = Any  # a type as declared: int, float | None, list[str], Literal["a", "b"]
_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}
_LISTS = (list, tuple, Sequence)
_UNIONS = (Union, types.UnionType)


def integer(name: str, value: object, *, minimum: int = 0, maximum: int | None = None) -> int:
    """Check an integer in [minimum, maximum]."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if number >= minimum and (maximum is None or number <= maximum):
            return number
    allowed = f"≥ {minimum}" if maximum is None else f"from {minimum} to {maximum}"
    raise ValueError(f"{name}={value!r}: must be an integer {allowed}")


def real(
    name: str,
    value: object,
    *,
    minimum: float = 0.0,
    maximum: float = sys.float_info.max,
    below: float = math.inf,
    exclusive: bool = False,
) -> float:
    """Check a finite number in [minimum, maximum] and less than ``below``.

    With ``exclusive``, the minimum itself is not allowed.
    """
    number = math.nan
    if isinstance(value, Real) and not isinstance(value, bool):
        with suppress(OverflowError):  # an integer of more than 308 digits
            number = float(value)
    is_large_enough = number > minimum if exclusive else number >= minimum
    if is_large_enough and number <= maximum and number < below:
        return number
    allowed = f"{'>' if exclusive else '≥'} {minimum:g}"
    if maximum < sys.float_info.max:
        allowed += f" and ≤ {maximum:g}"
    elif below < math.inf:
        allowed += f" and < {below:g}"
    raise ValueError(f"{name}={value!r}: must be a finite number {allowed}")


def choice(name: str, value: T, allowed: Iterable[object]) -> T:
    """Check that ``value`` is one of ``allowed``; the error names the nearest one."""
    options = list(allowed)
    if any(value == option and type(value) is type(option) for option in options):
        return value
    listed = ", ".join(repr(option) for option in options)
    raise ValueError(f"{name}={value!r}: must be one of {listed}.{did_you_mean(value, options)}")


def did_you_mean(value: object, allowed: Iterable[object]) -> str:
    """A question with the nearest of ``allowed``; empty if none is near."""
    texts = {str(option): option for option in allowed}
    near = difflib.get_close_matches(str(value), texts, n=1, cutoff=0.5)
    return f" Did you mean {texts[near[0]]!r}?" if near else ""


def names(owner: str, given: Given, allowed: Iterable[str]) -> None:
    """Check that ``owner``, such as "algorithm fedprox", takes every parameter in ``given``."""
    allowed = list(allowed)
    for name in given.keys() - allowed:
        takes = ", ".join(allowed) or "no parameters"
        raise ValueError(
            f"{name}={given[name]}: {owner} has no {name}; it takes "
            f"{takes}.{did_you_mean(name, allowed)}"
        )


@dataclass(frozen=True)
class Check:
    """The check of a parameter in its declaration; a signature shows the ``words``."""

    words: str
    check: Callable[[str, object], object]

    def __repr__(self) -> str:
        return self.words


NotNegative = Annotated[float, Check("≥ 0", real)]
Positive = Annotated[float, Check("> 0", partial(real, exclusive=True))]
BelowOne = Annotated[float, Check("in [0, 1)", partial(real, below=1))]
Share = Annotated[float, Check("in (0, 1]", partial(real, maximum=1, exclusive=True))]
ProperShare = Annotated[float, Check("in (0, 1)", partial(real, below=1, exclusive=True))]
Count = Annotated[int, Check("≥ 1", partial(integer, minimum=1))]
Several = Annotated[int, Check("≥ 2", partial(integer, minimum=2))]


def check_fields(owner: Any) -> None:
    """Check every field of a dataclass instance whose declaration is a ``Literal`` or has a check,
    as ``Positive`` has.

    None is allowed where the declaration says so: ``Positive | None``.
    """
    # declarations may be texts, and are not in a field
    kinds = get_type_hints(type(owner), include_extras=True)
    for declared in fields(owner):
        kind = kinds[declared.name]
        value = getattr(owner, declared.name)
        options = get_args(kind) if get_origin(kind) in _UNIONS else (kind,)
        if value is None and type(None) in options:
            continue
        for option in options:
            if get_origin(option) is Literal:
                choice(declared.name, value, get_args(option))
            elif get_origin(option) is Annotated:
                option.__metadata__[0].check(declared.name, value)


def seed(value: object) -> int:
    """Check a random seed."""
    return integer("seed", value, minimum=0, maximum=MAX_SEED)


def indices(name: str, values: Column, size: int | None = None) -> np.ndarray:
    """Check an array, tensor or list of integers, and return it as int64 [m].

    With ``size``, the integers must be in 0 … size − 1.
    """
    if isinstance(values, torch.Tensor):
        array = values.detach().cpu().numpy()
    else:
        array = np.asarray(values)
    if array.dtype == bool:
        raise ValueError(f"{name}: a mask of booleans, not indices; write np.flatnonzero(mask)")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and len(array)):
        raise ValueError(
            f"{name}: must be integers of shape [m], got {array.dtype} of shape {list(array.shape)}"
        )
    if size is not None and len(array) and (array.min() < 0 or array.max() >= size):
        raise ValueError(
            f"{name}: indices must be in 0 … {size - 1}, got {array.min()} … {array.max()}"
        )
    return array.astype(np.int64, copy=False)


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """Split ``["mu=0.1", "seeds=[0, 1]"]`` into a dictionary of texts.

    The last of two equal names counts.
    """
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ValueError(f"--set {text}: must be NAME=VALUE, such as mu=0.1")
        settings[name.strip()] = value.strip()
    return settings


def typed(name: str, value: object, kind: Declared) -> Any:
    """Check ``value``, or read it from text, as ``kind``: bool, int, float, str, list[…], a union
    or a Literal.

    In text, a bool is true/false, yes/no or 1/0; a list or tuple is JSON.
    """
    members = get_args(kind) or (kind,)
    is_integer_a_float = float in members and int not in members
    for reading in _readings(value) if isinstance(value, str) else [value]:
        if matches(reading, kind):
            if isinstance(reading, int) and not isinstance(reading, bool) and is_integer_a_float:
                return float(reading)
            return reading
    raise ValueError(f"{name}={value}: must be {describe(kind)}")


def describe(kind: Declared) -> str:
    """A type in words, such as "an integer" or "a JSON list, each entry a number"."""
    words = {
        bool: "true or false",
        int: "an integer",
        float: "a number",
        str: "a text",
        type(None): "none",
    }
    if kind in words:
        return words[kind]
    if get_origin(kind) in _LISTS:
        return f"a JSON list, each entry {describe(get_args(kind)[0])}"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(option) for option in get_args(kind))
    return " or ".join(describe(option) for option in get_args(kind))


def _readings(text: str) -> Iterator[object]:
    """The meanings of a text, from the most special to the text itself."""
    if text.lower() in _WORDS:
        yield _WORDS[text.lower()]
    with suppress(ValueError, RecursionError):
        parsed = json.loads(text)
        if not isinstance(parsed, str):
            yield parsed
    with suppress(ValueError):
        yield float(text)
    if text in ("0", "1"):
        yield text == "1"
    yield text


def matches(value: object, kind: Declared) -> bool:
    """True if ``value`` is of type ``kind``.

    An integer counts as a float; a bool does not count as an integer.
    """
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(kind) in _LISTS:
        return isinstance(value, list) and all(matches(entry, get_args(kind)[0]) for entry in value)
    if get_origin(kind) in _UNIONS:
        return any(matches(value, option) for option in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return isinstance(value, kind)
