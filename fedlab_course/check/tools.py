"""Helpers for writing checks. Each raises :class:`Hint`, never another error, for what a student may return."""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fedlab_course.check.base import Hint

TOLERANCE = 1e-9


def require(holds: Any, hint: str) -> None:
    """Raise the ``hint`` unless the property ``holds``."""
    if not holds:
        raise Hint(hint)


def call(answer: Callable[..., Any], *arguments: Any) -> Any:
    """What ``answer`` returns for copies of the ``arguments``; a :class:`Hint` if it changes one of them in place."""
    given = copy.deepcopy(arguments)
    result = answer(*given)
    for name, before, after in zip(inspect.signature(answer).parameters, arguments, given, strict=False):
        if hasattr(before, "shape") and not np.array_equal(before, after):
            raise Hint(
                f"Your code changes `{name}` in place. After `y = {name}` both names mean one array, and `y -= …` "
                f"changes it for both: write `y = {name}.copy()`."
            )
    return result


def beside(answer: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(answer, *arguments)``, computed in the process that has the answer; only plain values return.

    ``function`` belongs to a module that a submission may read.
    """
    remote = getattr(answer, "beside", None)
    return function(answer, *arguments) if remote is None else remote(function, *arguments)


def array(result: Any, shape: tuple[int, ...], what: str = "the result") -> np.ndarray:
    """``result`` as float64 numbers of this ``shape``; a :class:`Hint` if it is anything else."""
    if result is None:
        raise Hint("Your code returns nothing. Is a `return` missing?")
    try:
        plain = np.asarray(result.detach() if hasattr(result, "detach") else result)
        numbers = np.asarray(plain, dtype=float)
    except (TypeError, ValueError, RuntimeError):
        raise Hint(f"{_upper(what)} must be {_shape(shape)}, and yours is of type {type(result).__name__}.") from None
    require(numbers.shape == shape, f"{_upper(what)} must be {_shape(shape)}, and yours is {_shape(numbers.shape)}.")
    require(np.isfinite(numbers).all(), f"{_upper(what)} holds a value that is not finite: {numbers}.")
    require(
        plain.dtype.kind != "f" or plain.dtype.itemsize >= 8,
        f"{_upper(what)} is a {type(result).__name__} of {plain.dtype}, too coarse to compare: the arguments are NumPy "
        "arrays and numbers of float64, so compute with these.",
    )
    return numbers


def pair(result: Any, words: str) -> tuple[Any, Any]:
    """The two things in a tuple or list; a :class:`Hint` with ``words``, and with what ``result`` is, for another."""
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        many = f" of {len(result)}" if isinstance(result, (tuple, list)) else ""
        raise Hint(f"{words} Yours is of type {type(result).__name__}{many}.")
    return result[0], result[1]


def number(result: Any, what: str = "the result") -> float:
    """``result`` as a float; a :class:`Hint` if it is not one number."""
    return float(array(result, (), what))


def close(found: Any, expected: Any, tolerance: float = TOLERANCE) -> bool:
    """Whether numbers agree, up to ``tolerance`` relative to 1 + their size."""
    return bool(np.allclose(found, expected, rtol=tolerance, atol=tolerance))


def shown(values: Any) -> str:
    """Numbers in a hint: short, and in brackets if there are several."""
    numbers = np.asarray(values, dtype=float)
    return f"{numbers:.4g}" if numbers.ndim == 0 else "[" + ", ".join(f"{value:.4g}" for value in numbers.flat) + "]"


def _shape(shape: tuple[int, ...]) -> str:
    if not shape:
        return "one number"
    return f"an array of {shape[0]} numbers" if len(shape) == 1 else f"an array of shape {shape}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
