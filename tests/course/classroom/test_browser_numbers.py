"""A class of browsers gives the parameters of the library, and no drawing leaves a browser."""

from typing import Any

import pytest
import torch

from fedlab_course.classroom import assignment, virtual
from fedlab_course.classroom.simulated import Drawings
from tests.course.classroom.hosting import Hosted, kept_by
from tests.course.classroom.opening import expected
from tests.course.classroom.test_numbers import ALGORITHMS, OPTIONS, SETTINGS

pytestmark = pytest.mark.needs_browser
PHONES = 5


def drawn(seat: int) -> Drawings:
    """The drawings of a seat with two labels, in the order of its task."""
    x, y = virtual.part("two", seat, 11)
    assert y.unique().tolist() == assignment.labels("two", seat)
    return x, y


def as_kept(drawings: Drawings) -> list[dict[str, Any]]:
    """The drawings as a browser keeps them: a label and 64 letters."""
    x, y = drawings
    rows = (x.reshape(len(y), -1) * 16 + 65).round().byte().tolist()
    return [
        {"label": label, "image": bytes(row).decode()}
        for label, row in zip(y.tolist(), rows, strict=True)
    ]


@pytest.fixture
def hosted() -> Any:
    made = Hosted()
    yield made
    made.stop()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_five_rounds_of_browsers_give_the_parameters_of_the_library(
    chromium: Any, hosted: Hosted, algorithm: str
) -> None:
    hosted.order("set", {**OPTIONS, "algorithm": algorithm, "mode": "two", "deadline": 120.0})
    contexts = []
    frames: list[bytes] = []
    for seat in range(PHONES):
        context = chromium.new_context()
        context.add_init_script(kept_by(seat, hosted.room.code, as_kept(drawn(seat))))
        page = context.new_page()
        page.on(
            "websocket",
            lambda socket: socket.on("framesent", lambda frame: frames.append(frame)),
        )
        page.goto(hosted.running.local)
        contexts.append((context, page))
        hosted.until(lambda seat=seat: hosted.ready() == seat + 1, "a phone is ready", page)
    hosted.order("start")
    run = hosted.room.run
    assert run is not None
    hosted.until(lambda: hosted.room.run is None, "the run ends", contexts[0][1])
    assert hosted.room.trouble == ""
    clients = [virtual.divided(*drawn(seat), 2, seat)[0] for seat in range(PHONES)]
    history = expected(clients, ALGORITHMS[algorithm], **SETTINGS)
    difference = float((run.simulation.params - history.params).abs().max())
    assert difference < 1e-9
    torch.testing.assert_close(
        torch.tensor(run.simulation.history.frame["drift"].to_numpy()),
        torch.tensor(history.frame["drift"].to_numpy()),
    )
    for context, _ in contexts:
        context.close()
    print(f"{algorithm}: {difference:.2g}")
