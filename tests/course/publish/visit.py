"""Pages made of planted figures and outputs, and how a browser sees them."""

import json
from pathlib import Path
from typing import Any

from fedlab_course.publish import pages
from fedlab_course.publish.outputs import PLOTLY


class Visit:
    """A page in Chromium, with what went wrong on it and what it asked for; ``more`` goes to
    Playwright's new_page.
    """

    def __init__(
        self, chromium: Any, path: Path, width: int = 1280, height: int = 900, **more: Any
    ) -> None:
        self.page = chromium.new_page(viewport={"width": width, "height": height}, **more)
        self.page.set_default_timeout(240_000)  # a machine may have much else to do
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on(
            "console", lambda message: message.type == "error" and self.faults.append(message.text)
        )
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def __enter__(self) -> Any:
        return self.page

    def __exit__(self, *_: Any) -> None:
        self.page.close()

    def is_clean(self) -> bool:
        """Whether the page has no faults, asks no server for anything, and fits the width of the
        screen.
        """
        outside = [
            url
            for url in self.requests
            if not url.startswith(("file:", "data:", "blob:", "about:"))
        ]
        wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") > 0
        return self.faults == [] and outside == [] and not wide


def site_of(folder: Path, *shown: Any, text: str = "# Figures", **changes: Any) -> Path:
    """The page of a notebook with ``text`` whose one cell shows these figures, or MIME bundles, or
    outputs.

    ``changes``: of its result, such as ``status="failed"``.
    """
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

    bundles = [
        one if isinstance(one, dict) else {PLOTLY: json.loads(one.to_json())} for one in shown
    ]
    outputs = [one if "output_type" in one else new_output("display_data", one) for one in bundles]
    return written(
        folder,
        [new_markdown_cell(text), new_code_cell("mu = 1  # a comment", outputs=outputs)],
        **changes,
    )


def written(folder: Path, cells: list[Any], **changes: Any) -> Path:
    """The page of a notebook of these ``cells``."""
    from nbformat import write
    from nbformat.v4 import new_notebook

    write(new_notebook(cells=cells), folder / "00_figures.ipynb")
    result = {
        "name": "00_figures",
        "status": "ok",
        "seconds": 1.0,
        "parameters": {},
        "verdicts": [],
        "stored": [],
    }
    result |= {"error": None} | changes
    pages.build(
        [pages.page(result, folder, ["00_figures"], folder / "runs")], folder / "site", "quick"
    )
    return folder / "site" / "00_figures.html"


def is_drawn(page: Any, number: int = 1) -> None:
    """Wait until that many figures are drawn."""
    page.wait_for_function(
        f"document.querySelectorAll('figure.plot .main-svg .xaxislayer-above').length >= {number}"
    )


def violations(page: Any) -> list[str]:
    """What axe finds wrong on a page: each rule with the first element that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}, {len(one['nodes'])} times: {one['nodes'][0]['html']}" for one in found]
