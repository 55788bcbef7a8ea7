"""The page of the playground in a browser."""

from collections.abc import Iterator
from typing import Any

import pytest

from fedlab_course import playground


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of the page, opened without a server."""
    path = tmp_path_factory.mktemp("page") / "playground.html"
    path.write_text(playground.html(site=True), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def page(chromium: Any, address: str) -> Iterator[Any]:
    """The page with a list of its ``faults``."""
    opened = chromium.new_page(viewport={"width": 1400, "height": 900})
    opened.set_default_timeout(240_000)  # milliseconds; a machine may have much else to do
    opened.faults = []
    opened.on("pageerror", lambda error: opened.faults.append(str(error)))
    opened.goto(address)
    yield opened
    opened.close()
