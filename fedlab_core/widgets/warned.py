"""Warnings of a background thread, collected instead of printed: a print would land in whatever cell is current."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_collected: dict[int, list[str]] = {}
_lock = threading.Lock()


@contextmanager
def collected() -> Iterator[list[str]]:
    """The warnings that this thread gives inside the block, as texts; those of other threads go where they always go.

    ``warnings.catch_warnings`` would change the filters of every thread.
    """
    texts: list[str] = []
    with _lock:
        if not isinstance(warnings.showwarning, _Dispatcher):
            warnings.showwarning = _Dispatcher(warnings.showwarning)
        _collected[threading.get_ident()] = texts
    try:
        yield texts
    finally:
        del _collected[threading.get_ident()]


class _Dispatcher:
    """``warnings.showwarning`` for threads that collect, and what it was before for all others."""

    def __init__(self, before: Callable[..., None]) -> None:
        self.before = before

    def __call__(self, message: Any, *place: Any, **more: Any) -> None:
        texts = _collected.get(threading.get_ident())
        if texts is None:
            self.before(message, *place, **more)
        else:
            texts.append(str(message))
