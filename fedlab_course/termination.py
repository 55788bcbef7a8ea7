"""SIGTERM, heeded as Ctrl-C is: what is finished is reported, kernels end, and temporary files go."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def as_interrupt() -> Iterator[list[int]]:
    """Raise ``KeyboardInterrupt`` when the first SIGTERM arrives inside the block, and note it in the list yielded.

    A second one ends the process at once. Nothing changes where SIGTERM is handled already, or ignored, and outside the
    main thread, which alone can handle signals.
    """
    received: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, interrupt)
    try:
        yield received
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
