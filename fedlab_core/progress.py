"""Progress of long work: a bar in a terminal or live notebook, one plain line elsewhere."""

import os
import sys
from typing import Self

from tqdm.auto import tqdm


def watched() -> bool:
    """True in a terminal or a live notebook; False in a file.

    False too with ``FEDLAB_HEADLESS``, ``CI`` or nbgrader.
    """
    if any(map(os.environ.get, ("FEDLAB_HEADLESS", "CI", "NBGRADER_EXECUTION"))):
        return False
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    is_notebook = "ZMQInteractiveShell" in [base.__name__ for base in type(shell).mro()]
    return is_notebook or sys.stderr.isatty()


class Progress:
    """Progress over ``total`` rounds, used in a ``with`` block; silent unless ``enabled``."""

    def __init__(self, title: str, total: int, done: int = 0, enabled: bool = True) -> None:
        self.title = title
        self.done = done
        self.total = total
        self._status = ""
        self._enabled = enabled
        self._bar = None
        if enabled and watched():
            self._bar = tqdm(total=total, initial=done, desc=title, unit="round")

    def update(self, status: str) -> None:
        """Report a finished round; ``status`` is a short text such as the current accuracy."""
        self.done += 1
        self._status = status
        if self._bar is not None:
            self._bar.set_postfix_str(status, refresh=False)
            self._bar.update()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._enabled:
            print(f"{self.title}: {self.done}/{self.total} rounds, {self._status}", flush=True)
