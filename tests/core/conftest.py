"""What the tests of the library share: the same first weights in any order, and what readers of
data need.
"""

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

from fedlab_core.data.disk.sources import SOURCES
from fedlab_core.data.disk.vision import import_torchvision
from tests.core.data.small_sets import Mirror, small_sources


@pytest.fixture(autouse=True)
def same_first_weights() -> None:
    """Modules draw their weights from PyTorch's generator, which the tests before have moved."""
    torch.manual_seed(0)


@pytest.fixture
def user_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty user cache folder of our own, and no ``$FEDLAB_DATA``."""
    folder = tmp_path_factory.mktemp("home") / "user-cache" / "fedlab_core"
    monkeypatch.setattr("fedlab_core.data.disk.files.user_cache_path", lambda _: folder)
    monkeypatch.delenv("FEDLAB_DATA", raising=False)
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets under the names of the real ones."""
    for name, source in small_sources().items():
        monkeypatch.setitem(SOURCES, name, source)


@pytest.fixture
def vision() -> ModuleType:
    """torchvision; tests that need it are skipped where it is not installed."""
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    return import_torchvision()


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, bytes]], Mirror]]:
    """Starts mirrors on this machine."""
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    started: list[Mirror] = []

    def start(files: dict[str, bytes]) -> Mirror:
        started.append(Mirror(files))
        return started[-1]

    yield start
    for server in started:
        server.close()
