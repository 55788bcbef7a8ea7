"""What the tests of the page share: its words, and how it is opened and waited for."""

import tomllib
from pathlib import Path
from typing import Any

from fedlab_course import playground

WORDS = tomllib.loads((Path(playground.__file__).parent / "words.toml").read_text(encoding="utf-8"))
IS_DONE = (
    "() => active().every((side) => side.frame && (side.frame.failed || "
    "side.records.at(-1)?.round >= {}))"
)
# The pixels of a canvas that are not transparent.
INK = (
    "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, "
    "canvas.height).data.filter((v) => v).length"
)


def reopen(page: Any, address: str, state: str = "") -> None:
    """Open the page at a state; the same document would only notice another hash."""
    page.goto("about:blank")
    page.goto(f"{address}#{state}")


def until_round(page: Any, number: int) -> None:
    page.wait_for_function(IS_DONE.format(number), timeout=120_000)


def is_at_rest(page: Any) -> None:
    """Wait until the page has shown all that the worker has done."""
    page.wait_for_function(
        "() => sides[0].frame && find('#play').textContent === CATALOGUE.words.page.play"
    )
