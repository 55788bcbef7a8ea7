"""The whole lesson: six phones with touch, a projector and a lecturer on one server, which is
killed on the way.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fedlab_core as fl
from fedlab_course.classroom import assignment
from fedlab_course.classroom.lessons import PHASES
from fedlab_course.classroom.making import FIRST_VIRTUAL
from tests.course.classroom.strokes import DIGITS

pytestmark = [pytest.mark.needs_browser, pytest.mark.slow]
PHONES = 6
PATIENCE = 240.0  # seconds; a machine may have much else to do
SHORT = {"rounds": 4, "epochs": 3, "cohort": 4, "deadline": 60}


class Server:
    """The command ``fedlab-course classroom``, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "fedlab_course", "classroom", "--virtual", "1"]
        command += ["--port", str(self.port), "--out", str(self.folder)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        told = []
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told.append(line)
            if line.startswith("kept in:"):
                break
        text = "".join(told)
        threading.Thread(target=self.process.stdout.read, daemon=True).start()
        found = {name: re.search(rf"^{name}: +(\S+)", text, re.MULTILINE) for name in NAMES}
        assert all(found.values()), text
        self.told = {name: match[1] for name, match in found.items() if match}

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


NAMES = ("phones", "room code", "projector", "lecturer")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    made = Server(tmp_path)
    yield made
    if made.process.poll() is None:
        made.kill()


class Class:
    """The pages of a lesson."""

    def __init__(self, chromium: Any, server: Server) -> None:
        self.faults: list[str] = []
        self.contexts: list[Any] = []
        self.phones = []
        invited = f"{server.told['phones']}/#{server.told['room code']}"
        for number in range(PHONES):
            page = self._open(chromium, invited, (390, 844), has_touch=True, is_mobile=True)
            page.fill("#name", f"phone {number}")
            page.tap("#join button.first")
            page.wait_for_selector("#draw:not([hidden])")
            self.phones.append(page)
        self.projector = self._open(chromium, server.told["projector"], (1920, 1080))
        self.lecturer = self._open(chromium, server.told["lecturer"], (1440, 900))
        self.lecturer.wait_for_selector("#options label")

    def _open(self, chromium: Any, address: str, size: tuple[int, int], **more: Any) -> Any:
        view = {"width": size[0], "height": size[1]}
        context = chromium.new_context(viewport=view, **more)
        context.set_default_timeout(PATIENCE * 1000)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.goto(address)
        return page

    def draw(self) -> None:
        """Each phone draws what its task misses, all but the last stroke by stroke at once."""
        for page in self.phones:
            page.wait_for_timeout(100)
            while page.is_visible("#draw"):
                label = int(page.inner_text("#wanted"))
                page.evaluate("(s) => { pad.strokes = s; pad.redraw(); }", DIGITS[label])
                page.tap("#done")

    def phase(self, number: int, **settings: object) -> None:
        """The lecturer chooses a phase and shortens it."""
        page = self.lecturer
        page.click(f"#phases button >> nth={number}")
        page.wait_for_function("(n) => picture.phase.number === n", arg=number)
        wanted = {**SHORT, **settings}
        page.evaluate("(value) => order('set', value)", wanted)
        page.wait_for_function(
            "(value) => Object.entries(value).every(([k, v]) => picture.options[k] === v)",
            arg=wanted,
        )
        self.projector.wait_for_function(
            "(text) => find('#question').textContent === text", arg=PHASES[number].question
        )

    def begin(self) -> None:
        """Wait until all phones are ready, and press Start."""
        for page in self.phones:
            page.wait_for_selector("#class:not([hidden])")
        self.lecturer.wait_for_function(
            "(n) => picture.tiles.filter(({ samples, state }) => samples > 0 && "
            "state !== 'asleep').length === n",
            arg=PHONES,
        )
        self.run = self.lecturer.evaluate("picture.run") + 1
        self.lecturer.click("#start")
        self.projector.wait_for_function("(run) => picture.run === run", arg=self.run)

    def end(self) -> dict[str, Any]:
        """Wait for the end of the run; the picture of the projector."""
        self.projector.wait_for_function(
            "(run) => picture.run === run && picture.state === 'done'", arg=self.run
        )
        return dict(self.projector.evaluate("picture"))


def test_the_whole_lesson(chromium: Any, server: Server, tmp_path: Path) -> None:
    room = Class(chromium, server)
    room.projector.wait_for_selector("#qr[src]")
    room.projector.wait_for_function("() => find('#qr').naturalWidth > 100")
    assert room.projector.inner_text("#room") == server.told["room code"]
    room.draw()
    alone_and_together(room)
    one_label_each(room, server)
    clusters(room)
    what_the_server_knows(room)
    assert room.faults == []
    for context in room.contexts:
        context.close()
    assert server.stop() == 0
    histories = sorted(tmp_path.glob("run-*.npz"))
    loaded = {path.stem: fl.History.load(path) for path in histories}
    assert [len(history.records) for history in loaded.values()] == [1, 4, 4, 8, 4, 4]
    figure = fl.plots.convergence(loaded)
    assert len(figure.data) >= 6


def alone_and_together(room: Class) -> None:
    room.phase(1, rounds=1)
    room.begin()
    alone = room.end()
    assert len(alone["tiles"]) == PHONES + 1
    assert 0 < alone["rounds"][0]["alone"] < 1
    room.projector.click("[data-view=class]")
    assert "alone on average" in room.projector.inner_text("#together")
    room.phase(2)
    room.begin()
    room.end()
    held = sum(held_of(number) for number in [*range(PHONES), FIRST_VIRTUAL])
    room.projector.wait_for_function("(n) => picture.rounds.at(-1).held === n", arg=held)
    for page in room.phones:
        page.wait_for_function("() => find('#scores').textContent.includes('right')")
        assert page.locator("#drawings li").count() == 20


def held_of(number: int) -> int:
    """How many of its 20 drawings a seat keeps for its test."""
    return sum(assignment.is_held(place, 10, number) for place in range(20))


def one_label_each(room: Class, server: Server) -> None:
    """With FedAvg and SCAFFOLD; the server is killed in a round."""
    room.phase(3)
    room.draw()
    room.begin()
    room.end()
    room.phase(4, rounds=8)
    room.begin()
    room.projector.wait_for_function("() => picture.rounds.length >= 2")
    server.kill()
    room.phones[0].wait_for_function("() => find('#connection').textContent !== ''")
    server.start()
    corrected = room.end()
    assert [row["round"] for row in corrected["rounds"]] == list(range(1, 9))
    for page in room.phones:
        page.wait_for_function("() => find('#connection').textContent === ''")


def clusters(room: Class) -> None:
    """A phone reloads, and one is away for a while."""
    room.phase(5)
    room.draw()
    room.begin()
    room.projector.wait_for_function("() => picture.rounds.length >= 1")
    room.phones[0].reload()
    room.end()
    room.projector.click("[data-view=clusters]")
    assert room.projector.locator("#map .group").count() >= 1
    assert room.projector.locator("#map .tile").count() == PHONES + 1
    room.contexts[1].set_offline(True)
    room.phones[1].evaluate("socket.close()")
    room.lecturer.wait_for_function("() => picture.tiles[1].state === 'asleep'")
    room.contexts[1].set_offline(False)
    room.lecturer.wait_for_function("() => picture.tiles[1].state !== 'asleep'")


def what_the_server_knows(room: Class) -> None:
    """Each phone shows its own labels, and no other."""
    room.phase(6)
    room.begin()
    room.end()
    room.projector.click("[data-view=reveal]")
    assert "MB" in room.projector.inner_text("#up")
    said = 0
    for number, page in enumerate(room.phones):
        text = page.text_content("#seen") or ""
        if text and text != "none for sure":
            seen = {int(label) for label in text.split(", ")}
            assert seen <= set(assignment.labels("two", number))
            said += 1
    assert said >= 3


def test_simulated_phones_rehearse_a_lesson(tmp_path: Path) -> None:
    """``--simulate`` alone: phones join, and an order of the lecturer trains them."""
    command = [sys.executable, "-m", "fedlab_course", "classroom", "--simulate", "3", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        end = time.monotonic() + PATIENCE
        while not (tmp_path / "room.json").exists() or _ready(tmp_path) < 3:
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.2)
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def _ready(folder: Path) -> int:
    seats = json.loads((folder / "room.json").read_text())["seats"]
    return sum(1 for *_, samples, _ in seats if samples > 0)
