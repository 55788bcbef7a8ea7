"""One run of the command over planted notebooks, shared by the tests of harness and site."""

import os
from pathlib import Path

import pytest

from tests.course import planted
from tests.course.planted import Run, command

TEXT = r"""We write $y \leftarrow y - \eta\,(\nabla F_k(y) + a \odot (y - r) + d)$ and go on
[to the next](01_next.ipynb#Title-of-01_next) or [elsewhere](99_missing.ipynb).

\begin{align} c &= \frac{1}{N} \sum_{k=1}^{N} c_k \\ d &= 0 \end{align}
"""


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of explorers, by what they depend on, for all tests that run at the same time."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "trained"


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two notebooks without fault, with parameters given."""
    folder = tmp_path_factory.mktemp("good")
    planted.notebook(folder, "00_good", *planted.GOOD, text=TEXT, parameters=planted.PARAMETERS)
    planted.notebook(folder, "01_next", "1 + 1", text="A second one.")
    settings = ["--set", "mu=0.3", "--set", "fast=false", "--set", "seeds=[4, 5, 6]"]
    return command("--notebooks", folder, *settings, out=folder / "out")


@pytest.fixture(scope="session")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """One notebook for each way to fail, and a good one at the end."""
    folder = tmp_path_factory.mktemp("failing")
    for name, (sources, _) in planted.FAILING.items():
        planted.notebook(folder, name, *sources)
    planted.notebook(folder, "20_last", "print('reached')")
    return command("--notebooks", folder, "--timeout", "4", out=folder / "out")
