"""The class in a cell of a notebook: its server runs in a thread of the kernel."""

import asyncio
import threading
from collections.abc import Coroutine
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from fedlab_core.language import translator
from fedlab_course.classroom import serving
from fedlab_course.classroom.keeping import KeptRoom

T = TypeVar("T")
_ = translator(__name__)


class Classroom:
    """Start a class and show its addresses; ``stop()`` ends it.

    ``virtual``: clients with parts of the digits; ``host``: "127.0.0.1" is this machine only,
    "0.0.0.0" lets the phones of the network in; ``out``: the folder for histories and for going on
    after a crash, or None; ``more``: other arguments of ``serving.start``.
    """

    def __init__(
        self,
        virtual: int = 10,
        host: str = "127.0.0.1",
        out: str | Path | None = None,
        **more: Any,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        folder = None if out is None else KeptRoom(Path(out))
        try:
            self.running = self.call(
                serving.start(folder, host=host, virtual=virtual, **more),
            )
        except BaseException:
            self._end_thread()
            raise
        self.room = self.running.room

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop of the server."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """End the class."""
        self.call(self.running.stop())
        self._end_thread()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        running = self.running
        code = self.room.code
        room = _("Room code {code}").format(code=code)
        rows = (
            (_("phones: {address}"), f"{running.address}/#{code}"),
            (_("projector: {address}"), running.projector),
            (_("lecturer: {address}"), running.control),
        )
        items = ""
        for words, address in rows:
            link = f'<a href="{escape(address)}" target="_blank">{escape(address)}</a>'
            items += f"<li>{words.format(address=link)}</li>"
        text = "\n".join(words.format(address=address) for words, address in rows)
        return {"text/html": f"<p>{room}</p><ul>{items}</ul>", "text/plain": text}
