"""Plain values as JSON, and messages of it over a socket: no pickle, and limits on size and depth at both ends.

What crosses over: None, bool, int, float, complex, str, list, tuple, dict, set, frozenset, range, and numeric arrays,
scalars and tensors as dtype, shape and bytes. Anything else arrives as an :class:`Opaque` that knows only what its type
was called.
"""

import base64
import json
import numbers
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_FRAME = 32 * 2**20  # bytes of one message
MAX_DEPTH = 24
MAX_ITEMS = 200_000  # values in one message, arrays counting one
_MAX_DIGITS = 4000
_HEAD = struct.Struct(">I")
_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
DTYPES = _INTEGERS | {"bool", "float16", "float32", "float64", "complex64", "complex128"}
_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


class NotPlain(ValueError):
    """A value or a message that is not of the kinds, or within the limits, of this module."""


class Closed(ConnectionError):
    """The other side is gone."""


class Opaque:
    """What stands for a value that cannot cross over. Its class has the name of the value's type, and nothing else."""


def opaque(name: Any) -> Opaque:
    """An :class:`Opaque` for a value of a type called ``name``."""
    called = name if isinstance(name, str) and name.isidentifier() and len(name) < 80 else "object"
    return type(called, (Opaque,), {})()


def dump(value: Any, foreign: Callable[[Any], Any] | None = None, depth: int = MAX_DEPTH) -> Any:
    """``value`` as JSON can say it. ``foreign``: what stands for a value of another kind, or None, to be opaque.

    Raises :class:`NotPlain` if it is nested deeper than ``depth``.
    """
    if depth == 0:
        raise NotPlain(f"it is nested more than {MAX_DEPTH} deep")
    if value is None or type(value) in (bool, float, str):
        return value
    if type(value) is int:
        return value if value.bit_length() < 3 * _MAX_DIGITS else {"opaque": "int"}
    kind = next((name for name, sort in _SEQUENCES.items() if isinstance(value, sort)), None)
    if kind:
        return {kind: [dump(one, foreign, depth - 1) for one in value]}
    if isinstance(value, dict):
        return {"dict": [[dump(part, foreign, depth - 1) for part in pair] for pair in value.items()]}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    numeric = _numeric(value)
    if numeric is not None:
        return numeric
    given = foreign(value) if foreign is not None else None
    return {"opaque": type(value).__name__} if given is None else {"foreign": given}


def _numeric(value: Any) -> Any:
    """A number, array or tensor as JSON; None for anything else."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        plain = value.detach().cpu()
        return {"tensor": _array((plain.float() if plain.dtype is torch.bfloat16 else plain).resolve_conj().numpy())}
    if isinstance(value, (np.ndarray, np.generic)):
        dtype = value.dtype.newbyteorder("=")
        plain = np.asarray(value, np.float64 if dtype.name == "longdouble" or dtype.name == "float128" else dtype)
        if plain.dtype.name not in DTYPES:
            return {"opaque": type(value).__name__}
        return {"scalar" if isinstance(value, np.generic) else "array": _array(plain)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, numbers.Integral):
        return dump(int(value))
    if isinstance(value, numbers.Real) or type(value).__name__ == "Decimal":
        return float(value)
    return _numeric(np.asarray(value)) if hasattr(value, "__array__") else None


def _array(value: np.ndarray) -> list[Any]:
    return [value.dtype.name, list(value.shape), base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()]


class _Reader:
    """Makes values of JSON, counting them."""

    def __init__(self, foreign: Callable[[Any], Any] | None) -> None:
        self.foreign, self.left = foreign, MAX_ITEMS

    def read(self, data: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth == 0:
            raise NotPlain("there are too many values in it, or it is nested too deep")
        if data is None or isinstance(data, (bool, int, float, str)):
            return data
        if not isinstance(data, dict) or len(data) != 1:
            raise NotPlain("it is no value")
        ((kind, content),) = data.items()
        if kind in _SEQUENCES and isinstance(content, list):
            return _SEQUENCES[kind]([self.read(one, depth - 1) for one in content])
        if kind == "dict" and isinstance(content, list):
            return {self.read(key, depth - 1): self.read(value, depth - 1) for key, value in content}
        if kind == "foreign" and self.foreign is not None:
            return self.foreign(content)
        return _single(kind, content)


def _single(kind: str, content: Any) -> Any:
    if kind == "range":
        found = range(*content)
        if len(found) > MAX_ITEMS:
            raise NotPlain("a range in it is too long")
        return found
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
        return opaque(content)
    raise NotPlain("it holds a value of no known kind")


def _from_bytes(dtype: str, shape: list[int], content: str) -> np.ndarray:
    if dtype not in DTYPES or len(shape) > 16 or not all(type(size) is int and size >= 0 for size in shape):
        raise NotPlain("it holds an array of no known form")
    return np.frombuffer(base64.b64decode(content, validate=True), dtype).reshape(shape).copy()


def load(data: Any, foreign: Callable[[Any], Any] | None = None) -> Any:
    """The value that :func:`dump` made ``data`` of. ``foreign``: makes values of what a foreign ``dump`` gave.

    Raises :class:`NotPlain` for whatever it did not make.
    """
    try:
        return _Reader(foreign).read(data, MAX_DEPTH)
    except (TypeError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise error if isinstance(error, NotPlain) else NotPlain(f"{type(error).__name__}: {error}") from None


class Line:
    """Messages, JSON objects of at most ``MAX_FRAME`` bytes, over a socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    def send(self, message: dict[str, Any], deadline: float | None = None) -> None:
        """Send a message. Raises :class:`NotPlain` if it is too large, ``TimeoutError`` and :class:`Closed`."""
        content = json.dumps(message).encode()
        if len(content) > MAX_FRAME:
            raise NotPlain(f"it fills {len(content) / 2**20:.0f} MB, and {MAX_FRAME // 2**20} are allowed")
        self._wait(deadline)
        try:
            self._socket.sendall(_HEAD.pack(len(content)) + content)
        except TimeoutError:
            raise
        except OSError as error:
            raise Closed(str(error)) from None

    def receive(self, deadline: float | None = None) -> dict[str, Any]:
        """The next message, before ``deadline`` on the monotonic clock.

        Raises :class:`NotPlain` for what is none, ``TimeoutError``, and :class:`Closed`.
        """
        (size,) = _HEAD.unpack(self._exactly(_HEAD.size, deadline))
        if size > MAX_FRAME:
            raise NotPlain(f"it fills {size / 2**20:.0f} MB, and {MAX_FRAME // 2**20} are allowed")
        try:
            message = json.loads(self._exactly(size, deadline))
        except (ValueError, RecursionError) as error:
            raise NotPlain(f"{type(error).__name__}: {error}") from None
        if not isinstance(message, dict):
            raise NotPlain("it is no message")
        return message

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        found = bytearray()
        while len(found) < size:
            self._wait(deadline)
            try:
                piece = self._socket.recv(min(size - len(found), 2**20))
            except TimeoutError:
                raise
            except OSError as error:
                raise Closed(str(error)) from None
            if not piece:
                raise Closed("the other side is gone")
            found += piece
        return bytes(found)

    def _wait(self, deadline: float | None) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
