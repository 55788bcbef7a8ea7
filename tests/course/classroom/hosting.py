"""A class in a thread of its own, for tests that drive browsers."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from fedlab_course.classroom import command
from fedlab_course.classroom.keeping import Folder
from tests.course.classroom.opening import PATIENCE


class Hosted:
    """A running class. ``call`` runs a coroutine or a function in its loop."""

    def __init__(self, folder: Path | None = None, **given: Any) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        kept = None if folder is None else Folder(folder)
        self.running = self.call(command.start(kept, **given))
        self.room = self.running.room

    def call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE)

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
        room = self.room
        seats = list(room.seats)
        return sum(1 for s in seats if s.is_awake and s.task == room.task and s.samples > 0)

    def stop(self) -> None:
        self.call(self.running.stop())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


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
