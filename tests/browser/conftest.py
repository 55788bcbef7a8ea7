"""One JupyterLab for all tests in the browser."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.lab import serving


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where JupyterLab finds its notebooks."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def lab(folder: Path) -> Iterator[str]:
    """The address of a notebook in a running JupyterLab, with {} for its name."""
    with serving(folder) as address:
        yield address
