"""Plain values as JSON, for what passes between the process of a submission and its judge. Never a pickle.

Plain are None, bool, int, float, str, list, tuple, set, dict, and numeric arrays, scalars and tensors. A value of any
other type arrives as an :class:`Opaque`, which has the name of the type and nothing else.
"""

import base64
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_BYTES = 8 * 2**20  # of one message
MAX_DEPTH = 24
MAX_VALUES = 200_000  # in one message; an array counts as one
MAX_HASHED = 2_000  # members of sets and keys: their hashes may all be equal
_MAX_BITS = 12_000  # of an int
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set}


class NotPlain(ValueError):
    """A value or a message that is not plain, or too large."""


class Opaque:
    """A stand-in for a value that is not plain. Its class has the name of the type of the value."""


def encode(value: Any, special: Callable[[Any], Any] = lambda value: None, depth: int = MAX_DEPTH) -> Any:
    """Return ``value`` as JSON. ``special``: returns a name and a plain value for another type, or None.

    Raises :class:`NotPlain` if the value is nested too deep.
    """
    if depth == 0:
        raise NotPlain(f"it is nested more than {MAX_DEPTH} levels deep")
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        return value if value.bit_length() <= _MAX_BITS else {"opaque": "int"}
    for kind, sequence in _SEQUENCES.items():
        if isinstance(value, sequence) or (kind == "list" and isinstance(value, range)):
            return {kind: [encode(one, special, depth - 1) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(one, special, depth - 1) for one in pair] for pair in value.items()]}
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu()
        return {"tensor": _array((value.float() if value.dtype is torch.bfloat16 else value).resolve_conj().numpy())}
    if hasattr(value, "__array__"):
        array = np.asarray(value)
        if array.dtype.kind in "biufc":
            return {"scalar" if isinstance(value, np.generic) else "array": _array(array)}
    elif hasattr(type(value), "__index__"):
        return encode(int(value))
    elif hasattr(type(value), "__float__"):
        return float(value)
    found = special(value)
    return {"opaque": type(value).__name__} if found is None else {"special": [found[0], encode(found[1], special)]}


def _array(value: np.ndarray) -> list[Any]:
    plain = value.astype({"g": "d", "G": "D"}.get(value.dtype.char, value.dtype.newbyteorder("<")))  # no long double
    return [plain.dtype.str, list(plain.shape), base64.b64encode(plain.tobytes()).decode()]


def decode(data: Any, special: Callable[[str, Any], Any] | None = None) -> Any:
    """Return the value that :func:`encode` made ``data`` from. Raises :class:`NotPlain` for anything else.

    ``special``: makes a value from the name and the plain value that the other ``special`` returned.
    """
    values = hashed = 0

    def value_of(data: Any, depth: int) -> Any:
        nonlocal values, hashed
        values += 1
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        ((kind, content),) = data.items()
        hashed += len(content) if kind in ("set", "dict") else 0
        if depth == 0 or values > MAX_VALUES or hashed > MAX_HASHED:
            raise NotPlain("it has too many values or is nested too deep")
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](value_of(one, depth - 1) for one in content)
        if kind == "dict":
            return {value_of(key, depth - 1): value_of(value, depth - 1) for key, value in content}
        if kind == "special" and special is not None:
            return special(str(content[0]), value_of(content[1], depth - 1))
        return _single(kind, content)

    try:
        return value_of(data, MAX_DEPTH + 2)
    except NotPlain:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise NotPlain(f"{type(error).__name__}: {error}") from None


def _single(kind: str, content: Any) -> Any:
    if kind == "opaque":
        name = content if isinstance(content, str) and content.isidentifier() and len(content) < 80 else "object"
        return type(name, (Opaque,), {})()
    dtype, shape, given = content
    if np.dtype(dtype).kind not in "biufc" or len(shape) > 16:
        raise NotPlain("it has an array that is not numeric")
    array = np.frombuffer(base64.b64decode(given, validate=True), dtype).reshape(shape).copy()
    if kind == "tensor":
        import torch

        return torch.from_numpy(array)
    return {"array": array, "scalar": array[()]}[kind]
