"""The pages in a browser: what leaves a phone, sizes, contrast, keyboard, reload, two tabs."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fedlab_course.classroom import assets, protocol, virtual
from tests.course.classroom.hosting import Hosted, kept_by
from tests.course.classroom.strokes import DIGITS
from tests.course.classroom.test_browser_numbers import as_kept, drawn
from tests.course.publish.visit import violations

pytestmark = pytest.mark.needs_browser
MOST = 300_000  # bytes of a phone's page, compressed
SIZES = [(360, 740), (1366, 768), (3840, 2160)]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Hosted]:
    made = Hosted(tmp_path, virtual=2)
    made.order("set", {"mode": "two", "rounds": 3, "epochs": 2, "deadline": 60.0})
    yield made
    made.stop()


class Phone:
    """A page of a student with what it sent. ``seat``: whose drawings it has, or None."""

    def __init__(self, chromium: Any, hosted: Hosted, seat: int | None, **more: Any) -> None:
        size = {"width": 360, "height": 740}
        self.context = chromium.new_context(**{"viewport": size, "has_touch": True, **more})
        if seat is not None:
            kept = kept_by(seat, hosted.room.code, as_kept(drawn(seat)))
            self.context.add_init_script(kept)
        self.page = self.context.new_page()
        self.frames: list[bytes] = []
        self.requests: list[Any] = []
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request))
        self.page.on("websocket", self._listen)
        self.page.goto(f"{hosted.running.local}/#{hosted.room.code}")

    def _listen(self, socket: Any) -> None:
        socket.on("framesent", lambda frame: self.frames.append(frame))

    def close(self) -> None:
        assert self.faults == []
        self.context.close()


def test_a_page_is_small_and_asks_nobody_else(chromium: Any, hosted: Hosted) -> None:
    names = ("student.html", "student.css", "student.js", "trainer.js", "samples.json")
    sizes = [len(gzip.compress(assets.files()[name].text.encode())) for name in names]
    assert sum(sizes) < MOST
    phone = Phone(chromium, hosted, 0)
    hosted.until(lambda: hosted.ready() == 1, "the phone is ready", phone.page)
    assert {request.url.split("/")[2] for request in phone.requests} == {
        hosted.running.local.split("/")[2]
    }
    assert {request.method for request in phone.requests} == {"GET"}
    phone.close()


def test_no_drawing_and_no_label_leaves_the_phone(chromium: Any, hosted: Hosted) -> None:
    """Only packets of known form leave; none has a drawing in any form that a page could write."""
    phone = Phone(chromium, hosted, 0)
    hosted.until(lambda: hosted.ready() == 1, "the phone is ready", phone.page)
    hosted.order("start")
    hosted.until(lambda: hosted.room.run is None, "the run ends", phone.page)
    phone.page.wait_for_function("() => find('#scores').textContent.includes('right')")
    packets = [protocol.read(bytes(frame), 2410) for frame in phone.frames]
    kinds = [packet.kind for packet in packets]
    assert set(kinds) == {"join", "ready", "answer", "score"}
    assert kinds.count("answer") == kinds.count("score") == 3
    fields = {name for packet in packets for name in packet.values}
    assert fields == {
        *("code", "token", "name"),
        *("task", "samples", "held"),
        *("question", "loss"),
        *("run", "round", "hits", "right"),
    }
    sent = b"".join(bytes(frame) for frame in phone.frames)
    sent += "".join(request.url for request in phone.requests).encode()
    x, y = drawn(0)
    for image in x.reshape(len(y), -1):
        counts = (image * 16).round().byte().tolist()
        letters = bytes(value + 65 for value in counts)
        forms = [bytes(counts), letters, json.dumps(counts).encode()]
        forms.append(json.dumps(counts, separators=(",", ":")).encode())
        forms += [image.numpy().tobytes(), image.float().numpy().tobytes()]
        assert not any(form in sent for form in forms)
    assert b"label" not in sent
    assert phone.page.inner_text("#seen") != ""
    seen = {int(label) for label in phone.page.inner_text("#seen").split(", ")}
    assert seen <= set(y.tolist())  # shown to its owner
    assert not set(kinds) & {"seen", "labels"}
    phone.close()


def test_a_reloaded_phone_has_its_drawings_and_goes_on(chromium: Any, hosted: Hosted) -> None:
    phone = Phone(chromium, hosted, None)
    page = phone.page
    page.fill("#name", "owl 1")
    page.press("#name", "Enter")
    page.wait_for_selector("#draw:not([hidden])")
    page.evaluate("(strokes) => { pad.strokes = strokes; add(pad.image()); }", DIGITS[0])
    page.wait_for_function("() => find('#progress').textContent.startsWith('1 of 16')")
    page.reload()
    page.wait_for_selector("#draw:not([hidden])")
    assert page.inner_text("#progress") == "1 of 16 done"
    page.click("#undo")
    assert page.inner_text("#progress") == "0 of 16 done"
    assert len(list(hosted.room.seats)) == 1
    phone.close()


def test_a_finger_draws_and_undoes(chromium: Any, hosted: Hosted) -> None:
    phone = Phone(chromium, hosted, None)
    page = phone.page
    page.click("#animals button")
    page.click("#join button.first")
    page.wait_for_selector("#draw:not([hidden])")
    box = page.locator("#pad").bounding_box()
    touch = page.context.new_cdp_session(page)

    def send(kind: str, points: list[tuple[float, float]]) -> None:
        placed = [
            {"x": box["x"] + x * box["width"], "y": box["y"] + y * box["height"]} for x, y in points
        ]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": placed})

    assert page.is_disabled("#done")
    for stroke in ([(0.3, 0.2), (0.3, 0.8)], DIGITS[0][0]):
        send("touchStart", [stroke[0]])
        for point in stroke[1:]:
            send("touchMove", [point])
        send("touchEnd", [])
    assert page.evaluate("pad.strokes.length") == 2
    page.click("#undo")
    assert page.evaluate("pad.strokes.length") == 1
    page.click("#undo")
    assert page.is_disabled("#done")
    assert page.evaluate("scrollY") == 0  # the page does not move under the finger
    phone.close()


def test_the_keyboard_is_enough(chromium: Any, hosted: Hosted) -> None:
    phone = Phone(chromium, hosted, None, has_touch=False)
    page = phone.page
    page.focus("#name")
    page.keyboard.type("mole 1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#draw:not([hidden])")
    page.focus("summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#samples button")
    labels = []
    for _ in range(16):
        labels.append(int(page.inner_text("#wanted")))
        page.focus("#samples button")
        page.keyboard.press("Space")
        page.wait_for_function(
            "(n) => own.drawings.length === n && (places.length === n || find('#samples button'))",
            arg=len(labels),
        )
    assert labels == [0, 1] * 8
    hosted.until(lambda: hosted.ready() == 1, "the phone is ready", page)
    first = page.evaluate("own.drawings[0].image")
    assert first in virtual.samples()["0"]
    phone.close()


def test_a_newer_tab_takes_over_and_the_older_one_can_take_back(
    chromium: Any, hosted: Hosted
) -> None:
    phone = Phone(chromium, hosted, 0)
    hosted.until(lambda: hosted.ready() == 1, "the phone is ready", phone.page)
    other = phone.context.new_page()
    other.goto(f"{hosted.running.local}/#{hosted.room.code}")
    phone.page.wait_for_selector("#ended:not([hidden])")
    assert phone.page.inner_text("#ended-word") == "This class is open in another tab."
    assert len(list(hosted.room.seats)) == 1
    phone.page.click("#again")
    other.wait_for_selector("#ended:not([hidden])")
    phone.close()


def test_a_wrong_code_and_a_script_as_name_get_a_word(chromium: Any, hosted: Hosted) -> None:
    phone = Phone(chromium, hosted, None)
    page = phone.page
    page.fill("#code", "WRONG")
    page.fill("#name", "owl")
    page.press("#name", "Enter")
    page.wait_for_function("() => find('#join-error').textContent === 'Wrong room code.'")
    page.fill("#code", hosted.room.code)
    page.fill("#name", "<b>owl</b>")
    page.press("#name", "Enter")
    page.wait_for_function("() => find('#join-error').textContent.startsWith('A name has')")
    assert len(list(hosted.room.seats)) == 0
    phone.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_and_nothing_is_cut_off(
    chromium: Any, hosted: Hosted, scheme: str, size: tuple[int, int]
) -> None:
    look = {
        "viewport": {"width": size[0], "height": size[1]},
        "color_scheme": scheme,
        "reduced_motion": "reduce",
    }

    def check(page: Any) -> None:
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0

    empty = Phone(chromium, hosted, None, **look)
    check(empty.page)
    empty.page.click("#animals button")
    empty.page.click("#join button.first")
    empty.page.wait_for_selector("#draw:not([hidden])")
    empty.page.click("summary")
    empty.page.wait_for_selector("#samples button")
    check(empty.page)
    # the second seat
    phone = Phone(chromium, hosted, 1, **look)
    hosted.until(lambda: hosted.ready() == 1, "the phone is ready", phone.page)
    hosted.order("start")
    hosted.until(lambda: hosted.room.run is None, "the run ends", phone.page)
    phone.page.wait_for_selector("#update:not([hidden])")
    check(phone.page)
    projector = chromium.new_page(**look)
    projector.goto(f"{hosted.running.local}/projector.html#{hosted.room.code}")
    projector.wait_for_selector("#views button")
    for button in projector.locator("#views button").all():
        button.click()
        check(projector)
    lecturer = chromium.new_page(**look)
    lecturer.goto(hosted.running.control)
    lecturer.wait_for_selector("#options label")
    check(lecturer)
    for page in (empty, phone, projector, lecturer):
        page.close()
