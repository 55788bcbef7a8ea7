"""Collect the warnings of a background thread: printed, they would appear in whatever cell is current."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_collected: dict[int, list[str]] = {}


class _Nobodys(Warning):
    """A category without warnings."""


class _Dispatcher:
    """``warnings.showwarning`` for threads that collect; other threads keep the function it replaces."""

    def __init__(self, before: Callable[..., None]) -> None:
        self.before = before

    def __call__(self, message: Any, *place: Any, **more: Any) -> None:
        texts = _collected.get(threading.get_ident())
        if texts is None:
            self.before(message, *place, **more)
        else:
            texts.append(str(message))


@contextmanager
def collected() -> Iterator[list[str]]:
    """The warnings of this thread inside the block, as texts. Only one thread at a time may be inside.

    ``warnings.catch_warnings`` would change the filters of every thread. A warning counts as new at the beginning and
    at the end of the block, so that this thread and the others do not hide it from each other.
    """
    if not isinstance(warnings.showwarning, _Dispatcher):
        warnings.showwarning = _Dispatcher(warnings.showwarning)
    texts = _collected[threading.get_ident()] = []
    _forget_what_was_shown()
    try:
        yield texts
    finally:
        _forget_what_was_shown()
        del _collected[threading.get_ident()]


def _forget_what_was_shown() -> None:
    """Python shows a warning once at each place, until the filters change: add a filter that changes nothing."""
    warnings.simplefilter("default", _Nobodys, append=True)
