"""A bar is shown in live notebooks and terminals, and not where the environment says that nobody
watches.
"""

import sys
from types import ModuleType

import pytest

from fedlab_core.progress import watched


class ZMQInteractiveShell:
    """Has the name of ipykernel's shell."""


class Colab(ZMQInteractiveShell): ...


class TerminalInteractiveShell: ...


@pytest.mark.parametrize(
    ("shell", "headless", "terminal", "expected"),
    [
        (ZMQInteractiveShell(), None, False, True),
        (Colab(), None, False, True),
        (TerminalInteractiveShell(), None, False, False),
        (None, None, True, True),
        (Colab(), "FEDLAB_HEADLESS", True, False),
    ],
)
def test_watched(
    shell, headless, terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CI", "FEDLAB_HEADLESS"):
        monkeypatch.delenv(name, raising=False)
    if headless:
        monkeypatch.setenv(headless, "1")
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    assert watched() == expected
