"""Helpers for writing checks. Each raises :class:`Hint`, never another error, for what a student
may return.
"""

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from fedlab_core import language
from fedlab_core.language import translator
from fedlab_course.check.base import Hint

_ = translator(__name__)

TOLERANCE = 1e-9
TOLERANCE_FLOAT32 = 1e-5
NOTHING = _("Your code returns nothing. Is a `return` missing?")


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
            said = _(
                "Your code changes `{name}` in place. After `y = {name}` both names mean one "
                "array, and `y -= …` changes it for both: write `y = {name}.copy()`."
            )
            raise Hint(said.format(name=name))
    return result


def run_with(answer: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(answer, *arguments)``, computed in the process that has the answer; only
    plain values return.

    ``function`` belongs to a module that a submission may read.
    """
    remote = getattr(answer, "run_with", None)
    return function(answer, *arguments) if remote is None else remote(function, *arguments)


def array(
    result: Any, shape: tuple[int, ...], name: str = _("the result"), finite: bool = True
) -> np.ndarray:
    """``result`` as numbers of this ``shape``, all ``finite``; a :class:`Hint` if it is anything
    else.

    They are float64, or float32 if the answer computes with float32.
    """
    require(result is not None, NOTHING)
    if language.current() == language.SOURCE:
        name = name[:1].upper() + name[1:]
    values = {"name": name, "wanted": _shape(shape), "type": type(result).__name__}
    try:
        plain = np.asarray(result.detach() if hasattr(result, "detach") else result)
        numbers = np.asarray(plain, dtype=float)
    except (TypeError, ValueError, RuntimeError):
        other = _("{name} must be {wanted}, and yours is of type {type}.")
        raise Hint(other.format(**values)) from None
    other = _("{name} must be {wanted}, and yours is {found}.")
    require(numbers.shape == shape, other.format(**values, found=_shape(numbers.shape)))
    infinite = _("{name} holds a value that is not finite: {numbers}.")
    require(
        not finite or np.isfinite(numbers).all(), infinite.format(name=name, numbers=str(numbers))
    )
    coarse = _(
        "{name} is a {type} of {dtype}, too coarse to compare: the arguments are NumPy arrays and "
        "numbers of float64, so compute with these."
    )
    require(
        plain.dtype.kind != "f" or plain.dtype.itemsize >= 4,
        coarse.format(**values, dtype=str(plain.dtype)),
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
        return _("one number")
    if len(shape) > 1:
        return _("an array of shape {shape}").format(shape=shape)
    if shape[0] == 1:
        return _("an array of 1 number")
    return _("an array of {count} numbers").format(count=shape[0])
