"""Checks of arguments. Each raises ``ValueError`` naming the argument, the value and what is allowed."""

import difflib
import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from fedlab_core.randomness import MAX_SEED


def integer(name: str, value: Any, *, minimum: int = 0, maximum: int | None = None) -> int:
    """``value`` as an int in [minimum, maximum]."""
    allowed = f"an integer ≥ {minimum}" if maximum is None else f"an integer from {minimum} to {maximum}"
    number = int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None
    if number is None or number < minimum or (maximum is not None and number > maximum):
        raise ValueError(f"{name}={value!r}: must be {allowed}")
    return number


def real(name: str, value: Any, *, minimum: float = 0.0, exclusive: bool = False) -> float:
    """``value`` as a finite float, at least ``minimum`` (greater than it with ``exclusive``)."""
    sign = ">" if exclusive else "≥"
    number = isinstance(value, Real) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value < minimum or (exclusive and value == minimum):
        raise ValueError(f"{name}={value!r}: must be a finite number {sign} {minimum:g}")
    return float(value)


def choice(name: str, value: Any, allowed: Iterable[Any]) -> Any:
    """``value`` if it is one of ``allowed``; otherwise the error names the nearest one."""
    options = list(allowed)
    if any(value == option and type(value) is type(option) for option in options):
        return value
    if not options:
        raise ValueError(f"{name}={value!r}: there is none")
    listed = ", ".join(repr(option) for option in options)
    texts = {str(option): option for option in options}
    near = difflib.get_close_matches(str(value), texts, n=1, cutoff=0.5)
    hint = f" Did you mean {texts[near[0]]!r}?" if near else ""
    raise ValueError(f"{name}={value!r}: must be one of {listed}.{hint}")


def literals(owner: Any) -> None:
    """Check every field of a dataclass instance that is declared as a ``Literal``."""
    for name, kind in get_type_hints(type(owner)).items():
        if get_origin(kind) is Literal:
            choice(name, getattr(owner, name), get_args(kind))


def seed(value: Any) -> int:
    """A valid random seed."""
    return integer("seed", value, minimum=0, maximum=MAX_SEED)


def indices(name: str, values: Any, size: int) -> np.ndarray:
    """``values`` as an int64 array of indices in 0 … size − 1; a mask or a fraction is none."""
    array = np.asarray(values)
    if array.ndim != 1 or (len(array) and not np.issubdtype(array.dtype, np.integer)):
        raise ValueError(f"{name}: must be integers in one dimension, got {array.dtype} of shape {list(array.shape)}")
    if len(array) and (array.min() < 0 or array.max() >= size):
        raise ValueError(f"{name}: must lie in 0 … {size - 1}, got {array.min()} … {array.max()}")
    return array.astype(np.int64)
