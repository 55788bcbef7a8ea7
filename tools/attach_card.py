"""Attach the card of a chapter to the first cell of its notebook as PNG: ``python
tools/attach_card.py 00``.

JupyterLab 4.6 shows no SVG that is attached to a cell. Needs Chromium, Playwright and Pillow.
"""

import argparse
import base64
import io
import shutil

import nbformat
from PIL import Image
from playwright.sync_api import sync_playwright

from fedlab_course import folders, outline

NAME = "card.png"
WIDTH = 600  # pixels
COLOURS = 64  # enough for the few colours of a card and their smooth edges


def png(svg: str) -> bytes:
    """Draw ``svg`` as a PNG of few colours, without a ground of its own."""
    chromium = next(path for name in ("chromium", "google-chrome") if (path := shutil.which(name)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": WIDTH})
        page.set_content(
            f"<style>body {{ margin: 0 }} svg {{ width: {WIDTH}px; height: auto; display: block "
            f"}}</style>{svg}"
        )
        drawn = page.locator("svg").screenshot(omit_background=True)
        browser.close()
    picture = (
        Image.open(io.BytesIO(drawn)).convert("RGBA").quantize(COLOURS, Image.Quantize.FASTOCTREE)
    )
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", help="chapter, such as 00")
    chapter = outline.get(parser.parse_args().number)
    path = folders.NOTEBOOKS / f"{chapter.stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    picture = png(chapter.card)
    notebook.cells[0].attachments = {NAME: {"image/png": base64.b64encode(picture).decode()}}
    nbformat.write(notebook, path)
    print(f"{path.name}: {NAME} has {len(picture) / 1000:.1f} kB")


if __name__ == "__main__":
    main()
