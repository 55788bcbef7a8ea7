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

    Neither side hides the other's: a warning counts as new at the beginning and at the end of the block.
    ``warnings.catch_warnings`` would instead change the filters of every thread.
    """
    texts: list[str] = []
    with _lock:
        if not isinstance(warnings.showwarning, _Dispatcher):
            warnings.showwarning = _Dispatcher(warnings.showwarning)
        _collected[threading.get_ident()] = texts
    _forget_what_was_shown()
    try:
        yield texts
    finally:
        _forget_what_was_shown()
        del _collected[threading.get_ident()]


class _Nobodys(Warning):
    """A category without warnings."""


def _forget_what_was_shown() -> None:
    """Python shows a warning once at each place, until the filters change: add one that changes nothing."""
    warnings.simplefilter("default", _Nobodys, append=True)


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
