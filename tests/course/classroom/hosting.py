"""A class in a thread of its own, for tests that drive browsers."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedlab_course.classroom.in_notebook import Classroom
from tests.course.classroom.opening import PATIENCE


class Hosted(Classroom):
    """A running class with what a test asks of it."""

    def __init__(self, folder: Path | None = None, **given: Any) -> None:
        super().__init__(**{"virtual": 0, "out": folder, **given})

    def order(self, do: str, value: object = None) -> None:
        self.call(self.room.order({"do": do, "value": value}))

    def until(self, condition: Callable[[], object], what: str = "", page: Any = None) -> None:
        """Wait until ``condition`` holds; a ``page`` is kept alive meanwhile."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what
            if page is None:
                time.sleep(0.02)
            else:
                page.wait_for_timeout(20)

    def ready(self) -> int:
        """How many phones have drawings for the task."""
        room = self.room
        seats = list(room.seats)
        return sum(1 for s in seats if s.is_awake and s.task == room.task and s.samples > 0)


def kept_by(number: int, code: str, drawings: list[dict[str, Any]]) -> str:
    """A script that gives a browser what a phone keeps, before its page begins."""
    kept = {
        "token": f"{number:032x}",
        "name": f"phone {number}",
        "code": code,
        "drawings": drawings,
        "sent": {"bytes": 0, "messages": 0},
    }
    text = json.dumps(json.dumps(kept))
    return (
        "if (!localStorage.getItem('fedlab-classroom'))"
        f" localStorage.setItem('fedlab-classroom', {text});"
    )
