"""Whether somebody watches is told from the shell and its bases, and from what says that nobody does."""

import sys
from types import ModuleType

import pytest

from fedlab_core.progress import watched


class ZMQInteractiveShell:
    """Called as that of ipykernel is."""


class Shell(ZMQInteractiveShell):
    """Called as Colab's is, in ``google.colab._shell``."""


class Further(Shell): ...


class TerminalInteractiveShell: ...


@pytest.fixture(autouse=True)
def nobody_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "FEDLAB_HEADLESS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    monkeypatch.delitem(sys.modules, "IPython", raising=False)


def within(monkeypatch: pytest.MonkeyPatch, shell: object) -> None:
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)


@pytest.mark.parametrize("shell", [ZMQInteractiveShell(), Shell(), Further()], ids=lambda shell: type(shell).__name__)
def test_a_kernel_s_shell_and_what_is_made_of_it_are_watched(shell: object, monkeypatch: pytest.MonkeyPatch) -> None:
    within(monkeypatch, shell)
    assert watched()


@pytest.mark.parametrize("shell", [None, TerminalInteractiveShell()])
def test_no_shell_and_other_shells_are_not(shell: object, monkeypatch: pytest.MonkeyPatch) -> None:
    within(monkeypatch, shell)
    assert not watched()


@pytest.mark.parametrize("name", ["CI", "FEDLAB_HEADLESS"])
def test_a_kernel_that_is_told_so_is_headless(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    within(monkeypatch, Shell())
    monkeypatch.setenv(name, "1")
    assert not watched()


def test_without_ipython_a_terminal_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not watched()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert watched()


def test_the_real_shell_of_a_kernel_has_the_name_that_is_looked_for() -> None:
    zmqshell = pytest.importorskip("ipykernel.zmqshell")
    assert zmqshell.ZMQInteractiveShell.__name__ == ZMQInteractiveShell.__name__
