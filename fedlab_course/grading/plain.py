"""Plain values as JSON, for what passes between the process of a submission and its judge. Never a
pickle.

A tensor becomes an array. A value of an unknown type arrives as an :class:`Opaque`, which has the
name of the type.
"""

import base64
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_BYTES = 8 * 2**20  # of one message
_MAX_DEPTH = 24
_MAX_HASHED = 2_000  # members of a set, or keys: their hashes may all be equal
_MAX_BITS = 12_000  # of an int
_SEQUENCES: dict[str, Any] = {"list": list, "tuple": tuple, "set": set}


class NotPlain(ValueError):
    """A value or a message that is not plain, or too large."""


class Opaque:
    """A stand-in for a value that is not plain. Its class has the name of the type of the value."""


def encode(
    value: Any, special: Callable[[Any], Any] = lambda value: None, depth: int = _MAX_DEPTH
) -> Any:
    """Return ``value`` as JSON. ``special``: returns a name and a plain value for another type, or
    None.
    """
    if depth == 0:
        raise NotPlain(f"it is nested more than {_MAX_DEPTH} levels deep")
    if type(value) is int and value.bit_length() > _MAX_BITS:
        return {"opaque": "int"}
    if value is None or type(value) in (bool, int, float, str):
        return value
    value = list(value) if isinstance(value, range) else value
    for kind, sequence in _SEQUENCES.items():
        if isinstance(value, sequence):
            return {kind: [encode(member, special, depth - 1) for member in value]}
    if isinstance(value, dict):
        return {
            "dict": [
                [encode(member, special, depth - 1) for member in pair] for pair in value.items()
            ]
        }
    if hasattr(value, "__array__"):
        array = np.asarray(value.detach() if hasattr(value, "detach") else value)
        if array.dtype.kind in "biufc":
            kind = "scalar" if isinstance(value, np.generic) else "array"
            return {
                kind: [
                    array.dtype.str,
                    list(array.shape),
                    base64.b64encode(array.tobytes()).decode(),
                ]
            }
    elif hasattr(type(value), "__index__"):
        return encode(int(value))
    elif hasattr(type(value), "__float__"):
        return float(value)
    described = special(value)
    if described is None:
        return {"opaque": type(value).__name__}
    name, plain_value = described
    return {"special": [name, encode(plain_value, special)]}


def decode(data: Any, special: Callable[[str, Any], Any] | None = None) -> Any:
    """Return the value that :func:`encode` made ``data`` from. Raises :class:`NotPlain` for
    anything else.

    ``special``: makes a value from the name and the plain value that the other ``special``
    returned.
    """
    try:
        return _decoded(data, special, _MAX_DEPTH + 2)
    except NotPlain:
        raise
    except Exception as error:
        raise NotPlain(f"{type(error).__name__}: {error}") from None


def _decoded(data: Any, special: Callable[[str, Any], Any] | None, depth: int) -> Any:
    if data is None or isinstance(data, (bool, int, float, str)):
        return data
    ((kind, content),) = data.items()
    if depth == 0 or (kind in ("set", "dict") and len(content) > _MAX_HASHED):
        raise NotPlain("it has too many values or is nested too deep")
    if kind in _SEQUENCES:
        return _SEQUENCES[kind](_decoded(member, special, depth - 1) for member in content)
    if kind == "dict":
        return {
            _decoded(key, special, depth - 1): _decoded(member, special, depth - 1)
            for key, member in content
        }
    if kind == "special" and special is not None:
        return special(content[0], _decoded(content[1], special, depth - 1))
    if kind == "opaque":
        return type(content, (Opaque,), {})()
    dtype, shape, given = content
    if np.dtype(dtype).kind not in "biufc":
        raise NotPlain("it has an array that is not numeric")
    array = np.frombuffer(base64.b64decode(given, validate=True), dtype).reshape(shape).copy()
    return {"array": array, "scalar": array[()]}[kind]
