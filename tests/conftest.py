"""Shared by all tests: markers that skip what this machine
cannot run, and one thread per worker.
"""

import os
import shutil
from typing import Any

import pytest

if os.environ.get("PYTEST_XDIST_WORKER"):
    # before PyTorch is imported: workers share the cores
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def on_disk(name: str) -> bool:
    """Whether all files of a data set are found where ``load_dataset`` looks."""
    from fedlab_core.data.disk.files import locate, search_roots
    from fedlab_core.data.disk.sources import SOURCES

    return not locate(SOURCES[name], search_roots(None)).missing


def browser() -> str | None:
    """The path of a Chromium, or None."""
    return (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )


# Modules that a worker has long to do with: begun last, one of them
# would keep a single core busy at the end.
FIRST = (
    "test_live.py",
    "test_explorer.py",
    "test_notebooks.py",
    "test_answers.py",
    "test_folder.py",
    "test_sheets.py",
    "test_crew.py",
    "test_jobs.py",
    "test_rows.py",
    "test_harness.py",
    "test_wheel.py",
    "test_setup_env.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(
        key=lambda item: FIRST.index(item.path.name) if item.path.name in FIRST else len(FIRST)
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker whole modules, so that tests share fixtures. Give it the chapters of a
    notebook test singly.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduler(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module, _, test = nodeid.partition("::")
            return test.partition("[")[2] or module if "test_notebooks" in module else module

    return Scheduler(config, log)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs_data"):
        if not on_disk(mark.args[0]):
            pytest.skip(f"data set {mark.args[0]} is not on disk (FEDLAB_DATA)")
    if any(item.iter_markers("needs_browser")) and browser() is None:
        pytest.skip("no Chromium")


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium, driven by Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        yield launched
        launched.close()
