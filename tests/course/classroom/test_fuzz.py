"""Ten thousand messages that no phone sends: each is refused with a word, and nothing changes."""

import json
import logging
import random
import struct
from typing import Any

import numpy as np
import pytest
from tornado.websocket import websocket_connect

from fedlab_course.classroom import protocol, views
from fedlab_course.classroom.options import ClassOptions
from fedlab_course.classroom.protocol import Refused, pack
from fedlab_course.classroom.room import Room
from tests.course.classroom.opening import in_own_loop, opened, phones, until

MESSAGES = 10_000
ODD: list[Any] = [
    None, True, -1, 0, 1.5, 1e9, 10**30, "", "x" * 300, "<script>alert(1)</script>", "\u202e",
    [], [[]], {}, {"a": 1}, "NaN", "../../etc/passwd", "0" * 32, "ABCDE", 2**31, [1] * 50,
]  # fmt: skip


class SilentLink:
    """A connection that keeps what it is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.words: list[str] = []

    def send(self, message: bytes) -> None:
        self.sent.append(message)

    def end(self, word: str) -> None:
        self.words.append(word)


def whole(room: Room) -> str:
    """Everything that a message could change."""
    seats = [
        (s.number, s.key, s.name, s.task, s.samples, s.held, s.state, s.is_asleep, s.right, s.hits)
        for s in room.seats
    ]
    return json.dumps([views.controls(room), seats, room.task, room.secret])


def good(room: Room) -> list[tuple[str, dict[str, Any], dict[str, np.ndarray]]]:
    """A message of each kind as a phone sends it."""
    y = {"y": np.zeros(room.num_parameters)}
    return [
        ("join", {"code": room.code, "token": "0" * 32, "name": "fox"}, {}),
        ("ready", {"task": 0, "samples": 5, "held": 2}, {}),
        ("answer", {"question": 7, "loss": 0.5}, y),
        ("answer", {"question": 7, "loss": None}, {}),
        ("failed", {"question": 7, "why": "diverged"}, {}),
        ("score", {"run": 1, "round": 1, "hits": 1, "held": 2, "right": 3, "samples": 4}, {}),
        ("leave", {}, {}),
    ]


def odd(rng: random.Random, room: Room) -> bytes | str:
    """A message that is wrong in one of several ways."""
    kind, values, vectors = rng.choice(good(room))
    way = rng.randrange(8)
    if way == 0:
        return rng.randbytes(rng.randrange(200))
    if way == 1 and values:
        values = {**values, rng.choice(list(values)): rng.choice(ODD)}
    elif way == 2:
        values = {**values, rng.choice(["x", "kind", "vectors", "__class__"]): rng.choice(ODD)}
    elif way == 3 and values:
        values.pop(rng.choice(list(values)))
    elif way == 4:
        kind = rng.choice(["", "JOIN", "train", "welcome", "x" * 100])
    elif way == 5:
        numbers = np.zeros(rng.choice([1, 3, room.num_parameters, room.num_parameters + 1]))
        numbers[rng.randrange(len(numbers))] = rng.choice([np.nan, np.inf, 1e9, -1e300])
        vectors = {rng.choice(["y", "w", "__init__"]): numbers}
        kind, values = "answer", {"question": 7, "loss": 0.5}
    message = bytearray(pack(kind, values, vectors))
    if way == 6:
        for _ in range(rng.randrange(1, 20)):
            message[rng.randrange(min(len(message), 200))] = rng.randrange(256)
    if way == 7:
        message = message[: rng.randrange(len(message))]
        message[:4] = struct.pack("<I", rng.choice([0, 5, len(message), 2**32 - 1]))
    return bytes(message) if rng.random() < 0.95 else message.decode("latin-1")


def is_allowed(message: bytes | str, room: Room) -> bool:
    """Whether a phone may send this, although it was made by chance."""
    try:
        packet = protocol.read(message, room.num_parameters)
    except Refused:
        return False
    is_right = packet.kind != "join" or packet.values["code"].upper() == room.code
    return packet.kind in ("ready", "leave", "join") and is_right


def test_ten_thousand_messages_change_nothing_and_raise_nothing_but_a_refusal() -> None:
    rng = random.Random(0)
    room = Room(ClassOptions(), None)
    link = SilentLink()
    seat = room.receive(link, None, pack("join", *good(room)[0][1:2]))
    assert seat is not None
    room.receive(link, seat, pack("ready", good(room)[1][1]))
    before = whole(room)
    refused = 0
    words = set()
    while refused < MESSAGES:
        message = odd(rng, room)
        if is_allowed(message, room):
            continue
        try:
            found = room.receive(SilentLink(), None, message) if refused % 2 else None
            found = room.receive(link, seat, message)
            assert found is seat  # a score of no round: it is ignored
        except Refused as refusal:
            words.add(str(refusal))
        refused += 1
    assert whole(room) == before
    assert link.words == [] and len(words) > 12
    assert not any("<" in word for word in words)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"name": "<script>alert(1)</script>"}, "a name has 1 to 20 letters"),
        ({"name": ""}, "a name has"),
        ({"name": "x" * 21}, "a name has"),
        ({"code": "WRONG"}, "wrong room code"),
        ({"code": ""}, "wrong room code"),
        ({"token": "0" * 31}, "wrong token"),
        ({"token": 5}, "wrong token"),
    ],
)
def test_a_phone_that_may_not_join_gets_a_word(change: dict[str, Any], word: str) -> None:
    room = Room(ClassOptions(), None)
    with pytest.raises(Refused, match=word):
        room.receive(SilentLink(), None, pack("join", {**good(room)[0][1], **change}))
    assert len(room.seats) == 0


@pytest.mark.parametrize(
    ("numbers", "word"),
    [
        (np.zeros(5), "wrong size: 5 numbers, and the model has 2410"),
        (np.zeros(2411), "wrong size"),
        (np.full(2410, np.nan), "not finite"),
        (np.full(2410, np.inf), "not finite"),
        (np.full(2410, 1e9), "larger than 1e"),
        (np.full(2410, -1e9), "larger than 1e"),
        (np.zeros(24_100), "too long"),
    ],
)
def test_an_update_of_wrong_numbers_gets_a_word(numbers: np.ndarray, word: str) -> None:
    with pytest.raises(Refused, match=word):
        protocol.read(pack("answer", {"question": 1, "loss": 0.1}, {"y": numbers}), 2410)


def test_packets_come_back_as_they_were() -> None:
    vectors = {"w": np.arange(3.0), "offset": np.array([1e-300, -0.0, np.pi])}
    packet = protocol.unpack(pack("train", {"lr": 0.1, "name": "Zoë"}, vectors))
    assert (packet.kind, packet.values) == ("train", {"lr": 0.1, "name": "Zoë"})
    for name, vector in vectors.items():
        assert packet.vectors[name].tobytes() == vector.tobytes()


def test_over_the_network_nothing_reaches_the_loop_and_a_flood_is_cut_off(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def play() -> None:
        async with opened() as running, phones(running, 1):
            rng = random.Random(1)
            before = whole(running.room)
            address = running.local.replace("http", "ws") + "/phone"
            for _ in range(20):
                link = await websocket_connect(address)
                for _ in range(25):
                    message = odd(rng, running.room)
                    if not is_allowed(message, running.room):
                        await link.write_message(message, binary=isinstance(message, bytes))
                link.close()
            flood = await websocket_connect(address)
            for _ in range(500):
                if flood.protocol is not None:
                    flood.write_message(b"x", binary=True)
            while await flood.read_message() is not None:
                pass
            await until(lambda: flood.close_code is not None)
            assert flood.close_code == 1008
            assert whole(running.room) == before

    with caplog.at_level(logging.WARNING):
        in_own_loop(play())
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []
