"""Plain values as JSON, for what passes between the process of a submission and its judge. Never a pickle.

Allowed are None, bool, int, float, complex, str, list, tuple, dict, set, frozenset, range, and numeric arrays, scalars
and tensors. A value of any other type arrives as an :class:`Opaque`, which has the name of the type and nothing else.
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
_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class NotPlain(ValueError):
    """A value or a message that is not plain, or too large."""


class Opaque:
    """A stand-in for a value that is not plain. Its class has the name of the type of the value."""


def encode(value: Any, special: Callable[[Any], Any] = lambda value: None, depth: int = MAX_DEPTH) -> Any:
    """Return ``value`` as plain JSON.

    ``special``: returns a name and a plain value for a value of another type, or None. Raises :class:`NotPlain` if the
    value is nested too deep.
    """
    if depth == 0:
        raise NotPlain(f"it is nested more than {MAX_DEPTH} levels deep")
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        return value if value.bit_length() <= _MAX_BITS else {"opaque": "int"}
    kind = next((name for name, sequence in _SEQUENCES.items() if isinstance(value, sequence)), None)
    if kind:
        return {kind: [encode(one, special, depth - 1) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(one, special, depth - 1) for one in pair] for pair in value.items()]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    number = _number(value)
    if number is not None:
        return number
    found = special(value)
    return {"opaque": type(value).__name__} if found is None else {"special": [found[0], encode(found[1], special)]}


def _number(value: Any) -> Any:
    """Return a number, an array or a tensor as JSON, or None for anything else."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        plain = value.detach().cpu()
        return {"tensor": _array((plain.float() if plain.dtype is torch.bfloat16 else plain).resolve_conj().numpy())}
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype.kind not in "biufc":
            return None
        return {"scalar" if isinstance(value, np.generic) else "array": _array(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if hasattr(value, "__array__"):
        return _number(np.asarray(value))
    if hasattr(type(value), "__index__"):
        return encode(int(value))
    return float(value) if hasattr(type(value), "__float__") else None


def _array(value: np.ndarray | np.generic) -> list[Any]:
    dtype = np.dtype({"g": "d", "G": "D"}.get(value.dtype.char, value.dtype.newbyteorder("<")))  # no long double
    return [dtype.str, list(value.shape), base64.b64encode(np.asarray(value, dtype).tobytes()).decode()]


def decode(data: Any, special: Callable[[str, Any], Any] | None = None) -> Any:
    """Return the value that :func:`encode` made ``data`` from. Raises :class:`NotPlain` for anything else.

    ``special``: makes a value from the name and the plain value that the other ``special`` returned.
    """
    try:
        return _Decoding(special).value(data, MAX_DEPTH + 2)
    except NotPlain:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise NotPlain(f"{type(error).__name__}: {error}") from None


class _Decoding:
    """One value on its way back; counts what it contains."""

    def __init__(self, special: Callable[[str, Any], Any] | None) -> None:
        self._special, self._values, self._hashed = special, 0, 0

    def value(self, data: Any, depth: int) -> Any:
        self._values += 1
        if depth == 0 or self._values > MAX_VALUES or self._hashed > MAX_HASHED:
            raise NotPlain("it has too many values or is nested too deep")
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        kind: str
        content: Any
        ((kind, content),) = data.items()
        if kind in ("set", "frozenset", "dict"):
            self._hashed += len(content)
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]([self.value(one, depth - 1) for one in content])
        if kind == "dict":
            return {self.value(key, depth - 1): self.value(value, depth - 1) for key, value in content}
        if kind == "special" and self._special is not None:
            return self._special(str(content[0]), self.value(content[1], depth - 1))
        return _single(kind, content)


def _single(kind: str, content: Any) -> Any:
    if kind == "range":
        return range(*content)
    if kind == "complex":
        return complex(*content)
    if kind == "array":
        return _from_bytes(*content)
    if kind == "scalar":
        return _from_bytes(*content)[()]
    if kind == "tensor":
        import torch

        return torch.from_numpy(_from_bytes(*content))
    if kind == "opaque":
        name = content if isinstance(content, str) and content.isidentifier() and len(content) < 80 else "object"
        return type(name, (Opaque,), {})()
    raise NotPlain("it has a value of an unknown kind")


def _from_bytes(dtype: str, shape: list[int], content: str) -> np.ndarray:
    if np.dtype(dtype).kind not in "biufc" or len(shape) > 16:
        raise NotPlain("it has an array that is not numeric")
    return np.frombuffer(base64.b64decode(content, validate=True), dtype).reshape(shape).copy()
