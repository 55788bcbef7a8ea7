"""One run of the command over planted notebooks, shared by the tests of harness and site."""

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
from filelock import FileLock

from tests.course.harness import planted
from tests.course.harness.planted import Run, command

TEXT = r"""We write $y \leftarrow y - \eta\,(\nabla F_k(y) + a \odot (y - r) + d)$ and go on
[to the next](01_next.ipynb#Title-of-01_next) or [elsewhere](99_missing.ipynb).

\begin{align} c &= \frac{1}{N} \sum_{k=1}^{N} c_k \\ d &= 0 \end{align}
"""


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all tests have that run at the same time."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base


@pytest.fixture(scope="session")
def trained(shared: Path) -> Path:
    """Runs of explorers, by what they depend on."""
    return shared / "trained"


def once(shared: Path, name: str, make: Callable[[Path], Run]) -> Run:
    """What ``make`` does in the folder ``name``: whoever asks first does it, and the others wait
    for it.
    """
    folder = shared / name
    told = shared / f"{name}.json"
    with FileLock(shared / f"{name}.lock"):
        if not told.exists():
            folder.mkdir()
            told.write_text(json.dumps(asdict(make(folder)), default=str))
    kept = json.loads(told.read_text())
    return Run(kept["status"], kept["stdout"], kept["stderr"], Path(kept["out"]))


@pytest.fixture(scope="session")
def good(shared: Path) -> Run:
    """Two notebooks without fault, with parameters given."""

    def make(folder: Path) -> Run:
        planted.notebook(folder, "00_good", *planted.GOOD, text=TEXT, parameters=planted.PARAMETERS)
        planted.notebook(folder, "01_next", "1 + 1", text="A second one.")
        settings = ["--set", "mu=0.3", "--set", "fast=false", "--set", "seeds=[4, 5, 6]"]
        return command("--notebooks", folder, *settings, out=folder / "out")

    return once(shared, "good", make)


@pytest.fixture(scope="session")
def failing(shared: Path) -> Run:
    """One notebook for each way to fail, and a good one at the end."""

    def make(folder: Path) -> Run:
        for name, (sources, _) in planted.FAILING.items():
            planted.notebook(folder, name, *sources)
        planted.notebook(folder, "20_last", "print('reached')")
        return command("--notebooks", folder, "--timeout", "30", out=folder / "out")

    return once(shared, "failing", make)
