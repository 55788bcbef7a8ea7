"""Messages between the server and a phone, and what the server accepts.

A message is a packet: four bytes with the length of a header, the header as JSON with "kind" and
"vectors" (their names), spaces up to a multiple of eight bytes, and the vectors in float64, all of
one length. Numbers are little-endian. The server checks each packet before anything else sees it.
"""

import json
import math
import re
import struct
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn

import numpy as np
import torch

from fedlab_core.aliases import Given, Keywords

Rule = Callable[[object], bool]
MOST_SAMPLES = 200  # drawings of a phone
MOST_HEADER = 1024  # bytes, from a phone
LARGEST = 1e6  # of a parameter, in size
_INTEGER = 2**31
_NAME = re.compile(r"[\w][\w .'\-]{0,19}")
_TOKEN = re.compile(r"[0-9a-f]{32}")
FAILURES = ("diverged", "changed")  # why a phone gives no numbers


class Refused(ValueError):
    """A message that is not accepted; the text is the word that its sender gets."""


class Packet(NamedTuple):
    """A message: its ``kind``, its ``values`` and its ``vectors`` by name, float64."""

    kind: str
    values: Keywords
    vectors: dict[str, np.ndarray]


def _whole(low: int, high: int) -> Rule:
    return lambda value: type(value) is int and low <= value <= high


def _number(low: float, high: float) -> Rule:
    return lambda value: type(value) in (int, float) and low <= value <= high  # type: ignore[operator]


def _text(pattern: re.Pattern[str]) -> Rule:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


def _none_or(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


# Kind → the fields of its header, all of them needed, and the word for a wrong value.
KINDS: dict[str, dict[str, tuple[Rule, str]]] = {
    "join": {
        "code": (_text(re.compile(r"[A-Za-z0-9]{1,12}")), "wrong room code"),
        "token": (_text(_TOKEN), "wrong token"),
        "name": (_text(_NAME), "a name has 1 to 20 letters, digits, spaces or - . '"),
    },
    "ready": {
        "task": (_whole(0, _INTEGER), "wrong task"),
        "samples": (_whole(0, MOST_SAMPLES), f"a phone has at most {MOST_SAMPLES} drawings"),
        "held": (_whole(0, MOST_SAMPLES), f"a phone has at most {MOST_SAMPLES} drawings"),
    },
    "answer": {
        "question": (_whole(0, _INTEGER), "wrong question"),
        "loss": (_none_or(_number(0, LARGEST)), "wrong loss"),
    },
    "failed": {
        "question": (_whole(0, _INTEGER), "wrong question"),
        "why": (lambda value: value in FAILURES, "wrong reason"),
    },
    "score": {
        "run": (_whole(0, _INTEGER), "wrong run"),
        "round": (_whole(0, _INTEGER), "wrong round"),
        "hits": (_whole(0, MOST_SAMPLES), "wrong count"),
        "held": (_whole(0, MOST_SAMPLES), "wrong count"),
        "right": (_whole(0, MOST_SAMPLES), "wrong count"),
        "samples": (_whole(0, MOST_SAMPLES), "wrong count"),
    },
    "leave": {},
}


def pack(kind: str, values: Given, vectors: Mapping[str, np.ndarray | torch.Tensor] = {}) -> bytes:
    """The bytes of a message; a value of None is JSON's null."""
    header = json.dumps({"kind": kind, "vectors": list(vectors), **values}).encode()
    header += b" " * (-(4 + len(header)) % 8)
    body = [np.asarray(vector, dtype="<f8").tobytes() for vector in vectors.values()]
    return b"".join([struct.pack("<I", len(header)), header, *body])


def unpack(message: bytes) -> Packet:
    """Read a packet. Raises ``Refused`` if it is not one."""
    if not isinstance(message, bytes) or len(message) < 4:
        raise Refused("not a packet")
    (length,) = struct.unpack_from("<I", message)
    body = message[4 + length :]
    if length > len(message) - 4 or len(body) % 8:
        raise Refused("not a packet")
    try:
        header = json.loads(message[4 : 4 + length], parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refused("not a packet") from None
    if not isinstance(header, dict):
        raise Refused("not a packet")
    names = header.pop("vectors", None)
    kind = header.pop("kind", None)
    are_names = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not isinstance(names, list) or not are_names or not isinstance(kind, str):
        raise Refused("not a packet")
    numbers = np.frombuffer(body, dtype="<f8")
    number = len(names)
    if len(set(names)) < number or (len(numbers) % number if number else len(numbers)):
        raise Refused("wrong size")
    parts = np.split(numbers, number) if number else []
    return Packet(kind, header, dict(zip(names, parts, strict=True)))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)  # NaN and Infinity are no JSON


def read(message: object, num_parameters: int) -> Packet:
    """Read and check a packet from a phone. Raises ``Refused`` with a word for the sender."""
    if not isinstance(message, bytes):
        raise Refused("not a packet")
    if len(message) > most_bytes(num_parameters):
        raise Refused("too long")
    packet = unpack(message)
    rules = KINDS.get(packet.kind)
    if rules is None or rules.keys() != packet.values.keys():
        raise Refused("not a message of a phone")
    for name, (rule, word) in rules.items():
        if not rule(packet.values[name]):
            raise Refused(word)
    if packet.vectors and (packet.kind != "answer" or list(packet.vectors) != ["y"]):
        raise Refused("not a message of a phone")
    for vector in packet.vectors.values():
        check_vector(vector, num_parameters)
    return packet


def check_vector(vector: np.ndarray, num_parameters: int) -> None:
    """Raise ``Refused`` unless ``vector`` has P finite numbers of a size up to ``LARGEST``."""
    if len(vector) != num_parameters:
        raise Refused(f"wrong size: {len(vector)} numbers, and the model has {num_parameters}")
    largest = float(np.abs(vector).max())
    if not math.isfinite(largest):
        raise Refused("numbers that are not finite")
    if largest > LARGEST:
        raise Refused(f"numbers that are larger than {LARGEST:.0e}")


def most_bytes(num_parameters: int) -> int:
    """The bytes of the longest message that a phone may send."""
    return 4 + MOST_HEADER + 8 * num_parameters


class Bucket:
    """Allow ``rate`` events a second, and ``burst`` at once."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self._left = burst
        self._then = time.monotonic()

    def take(self) -> bool:
        """Whether one more event is allowed now."""
        now = time.monotonic()
        self._left = min(self.burst, self._left + self.rate * (now - self._then))
        self._then = now
        if self._left < 1:
            return False
        self._left -= 1
        return True
