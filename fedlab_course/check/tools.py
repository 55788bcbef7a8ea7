"""Helpers for writing checks. Each raises :class:`Hint`, never another error, for what a student
may return.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fedlab_course.check.base import Hint

TOLERANCE = 1e-9
TOLERANCE_FLOAT32 = 1e-5
NOTHING = "Your code returns nothing. Is a `return` missing?"


def require(holds: Any, hint: str) -> None:
    """Raise the ``hint`` unless the property ``holds``."""
    if not holds:
        raise Hint(hint)


def call(answer: Callable[..., Any], *arguments: Any) -> Any:
    """What ``answer`` returns for copies of the ``arguments``; a :class:`Hint` if it changes one of
    them in place.
    """
    given = copy.deepcopy(arguments)
    result = answer(*given)
    for name, before, after in zip(
        inspect.signature(answer).parameters, arguments, given, strict=False
    ):
        if hasattr(before, "shape") and not np.array_equal(before, after):
            raise Hint(
                f"Your code changes `{name}` in place. After `y = {name}` both names mean one "
                f"array, and `y -= …` changes it for both: write `y = {name}.copy()`."
            )
    return result


def run_with(answer: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(answer, *arguments)``, computed in the process that has the answer; only
    plain values return.

    ``function`` belongs to a module that a submission may read.
    """
    remote = getattr(answer, "run_with", None)
    return function(answer, *arguments) if remote is None else remote(function, *arguments)


def array(
    result: Any, shape: tuple[int, ...], name: str = "the result", finite: bool = True
) -> np.ndarray:
    """``result`` as numbers of this ``shape``, all ``finite``; a :class:`Hint` if it is anything
    else.

    They are float64, or float32 if the answer computes with float32.
    """
    require(result is not None, NOTHING)
    name = name[:1].upper() + name[1:]
    begins = f"{name} must be {_shape(shape)}, and yours is"
    try:
        plain = np.asarray(result.detach() if hasattr(result, "detach") else result)
        numbers = np.asarray(plain, dtype=float)
    except (TypeError, ValueError, RuntimeError):
        raise Hint(f"{begins} of type {type(result).__name__}.") from None
    require(numbers.shape == shape, f"{begins} {_shape(numbers.shape)}.")
    require(
        not finite or np.isfinite(numbers).all(),
        f"{name} holds a value that is not finite: {numbers}.",
    )
    require(
        plain.dtype.kind != "f" or plain.dtype.itemsize >= 4,
        f"{name} is a {type(result).__name__} of {plain.dtype}, too coarse to compare: the "
        "arguments are NumPy arrays and numbers of float64, so compute with these.",
    )
    return plain if plain.dtype == np.float32 else numbers


def close(result: Any, expected: Any) -> bool:
    """Whether numbers agree, up to a tolerance relative to 1 + their size: ``TOLERANCE``, or
    ``TOLERANCE_FLOAT32`` if some are float32.
    """
    coarse = any(getattr(numbers, "dtype", None) == np.float32 for numbers in (result, expected))
    tolerance = TOLERANCE_FLOAT32 if coarse else TOLERANCE
    return bool(np.allclose(result, expected, rtol=tolerance, atol=tolerance, equal_nan=True))


def shown(values: Any, digits: int = 4) -> str:
    """Numbers in a hint: short, and in brackets if there are several."""
    numbers = np.asarray(values, dtype=float) + 0.0  # no -0
    if numbers.ndim:
        return f"[{', '.join(shown(number, digits) for number in numbers)}]"
    return f"{numbers:.{digits}g}" if abs(numbers) < 1e4 else f"{numbers:,.0f}"


def _shape(shape: tuple[int, ...]) -> str:
    if not shape:
        return "one number"
    if len(shape) > 1:
        return f"an array of shape {shape}"
    return f"an array of {shape[0]} number{'' if shape[0] == 1 else 's'}"
