"""The phones of a class: a seat for each, whether it is connected, and the question it works on."""

import asyncio
import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fedlab_core.language import translator
from fedlab_course.classroom.protocol import Packet, Refused

_ = translator(__name__)

MOST_SEATS = 120


class Link(Protocol):
    """A connection to a phone."""

    def send(self, message: bytes) -> None: ...

    def end(self, word: str) -> None:
        """Close the connection; the phone gets ``word``, and does not connect again by itself."""
        ...


@dataclass
class PhoneQuestion:
    """A question that a phone works on. ``needs``: whether its answer has a vector."""

    identity: int
    message: bytes
    needs: bool
    answer: "asyncio.Future[Packet | None]"


@dataclass(eq=False)
class Seat:
    """A phone of the class. ``key``: a digest of the phone's token, which it keeps.

    ``samples`` and ``held``: how many drawings it trains on, and keeps for its test, for the task
    ``task``. ``is_asleep``: it missed a deadline and has sent nothing since. ``right``: how many of
    its ``samples`` the newest model gets right; ``hits``: of its ``held`` ones.
    """

    number: int
    key: str
    name: str = ""
    link: Link | None = None
    task: int = -1
    samples: int = 0
    held: int = 0
    is_asleep: bool = False
    state: str = "drawing"
    trouble: str = ""
    question: PhoneQuestion | None = None
    right: int | None = None
    hits: int | None = None

    @property
    def is_awake(self) -> bool:
        return self.link is not None and not self.is_asleep

    def send(self, message: bytes) -> None:
        """Send a message if the phone is connected."""
        if self.link is not None:
            self.link.send(message)

    def ask(self, question: PhoneQuestion) -> None:
        """Ask a question. A phone that connects again gets it again."""
        self.question = question
        self.state = "training"
        self.trouble = ""
        self.send(question.message)

    def answered(self, packet: Packet) -> None:
        """Take an answer. Raises ``Refused`` for one that nobody waits for, or of another form."""
        question = self.question
        if question is None or packet.values["question"] != question.identity:
            raise Refused("too late: the round has ended")
        if packet.kind == "answer" and question.needs != bool(packet.vectors):
            raise Refused("an answer of another form")
        self.question = None
        self.state = "done"
        self.trouble = packet.values.get("why", "")
        if not question.answer.done():
            question.answer.set_result(packet if packet.kind == "answer" else None)

    def give_up(self, identity: int) -> None:
        """Stop waiting for the answer to a question, and let the phone sleep."""
        if self.question is not None and self.question.identity == identity:
            self.question = None
            self.is_asleep = True
            self.state = "asleep"

    def free(self) -> None:
        """Wait for no answer any more."""
        question = self.question
        self.question = None
        if question is not None and not question.answer.done():
            question.answer.set_result(None)


class Seats:
    """All seats of a room, by the digest of the phone's token."""

    def __init__(self) -> None:
        self._by_key: dict[str, Seat] = {}
        self._numbers = itertools.count()
        self._questions = itertools.count(1)
        self._removed: set[str] = set()

    def __iter__(self) -> Iterator[Seat]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    def new_question(self) -> int:
        return next(self._questions)

    def join(self, token: str, name: str) -> Seat:
        """The seat of a phone, a new one if the phone is new. Raises ``Refused`` if it may not
        join.
        """
        key = digest(token)
        if key in self._removed:
            raise Refused("the lecturer has removed this phone")
        if key not in self._by_key:
            if len(self._by_key) >= MOST_SEATS:
                raise Refused(f"the class is full: {MOST_SEATS} phones")
            self._by_key[key] = Seat(next(self._numbers), key)
        seat = self._by_key[key]
        is_taken = any(other.name == name for other in self if other is not seat)
        seat.name = f"{name} ({seat.number + 1})" if is_taken else name
        return seat

    def restore(self, number: int, key: str, task: int, samples: int, held: int) -> Seat:
        """A seat as a file has it; its phone is not connected yet."""
        name = _("phone {number}").format(number=number + 1)
        seat = Seat(number, key, name, None, task, samples, held)
        self._by_key[key] = seat
        self._numbers = itertools.count(max(one.number for one in self) + 1)
        return seat

    def numbered(self, number: object) -> Seat:
        """Raises ``ValueError`` if there is no such seat."""
        for seat in self:
            if seat.number == number:
                return seat
        raise ValueError(f"seat {number!r}: is not in the class")

    def remove(self, seat: Seat) -> None:
        """Take a seat away; its phone cannot join again."""
        seat.free()
        self._removed.add(seat.key)
        del self._by_key[seat.key]
        if seat.link is not None:
            seat.link.end("the lecturer has removed this phone")
            seat.link = None

    def skip_questions(self, first: int) -> None:
        """Let the next question have the number ``first``, higher than before a restart."""
        self._questions = itertools.count(first)


def digest(token: str) -> str:
    """What is kept of a phone's token."""
    return hashlib.sha256(token.encode()).hexdigest()[:32]


def vector_of(packet: Packet) -> np.ndarray:
    """The vector of an answer, in memory of its own."""
    return np.array(packet.vectors["y"])
