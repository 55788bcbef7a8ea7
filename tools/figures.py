"""Write the figures of the evidence as SVG: ``python tools/figures.py [NAME …]`` (needs Chromium
and Playwright).
"""

import argparse
import shutil
from pathlib import Path
from urllib.parse import unquote

import plotly.graph_objects as go
from playwright.sync_api import Page, sync_playwright

from fedlab_course.evidence import figures

OUT = Path(__file__).resolve().parent.parent / "results" / "figures"
WIDTH = 760
# Ids inside an SVG come from Math.random: with a known one, the same figure is the same file.
_SAME_IDS = "let seed = 1; Math.random = () => (seed = seed * 16807 % 2147483647) / 2147483647;"
_TO_SVG = (
    "([width, height]) => Plotly.toImage(document.querySelector('.js-plotly-plot'), "
    "{format: 'svg', width, height})"
)


def svg(page: Page, figure: go.Figure) -> str:
    """The figure as the text of an SVG file."""
    figure.update_layout(width=WIDTH)
    page.set_content(figure.to_html(include_plotlyjs=True, full_html=True, div_id="figure"))
    page.wait_for_selector(".main-svg")
    uri = page.evaluate(_TO_SVG, [WIDTH, figure.layout.height])
    return unquote(uri.partition(",")[2]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="figures; all that can be drawn unless given"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder to write to")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        ).new_page()
        page.add_init_script(_SAME_IDS)
        for name in given.names or figures.TITLES:
            path = given.out / f"{name}.svg"
            path.write_text(svg(page, figures.draw(name)), encoding="utf-8")
            print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
