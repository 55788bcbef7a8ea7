"""Whether every live chart of the chapters appears in JupyterLab on a slow machine, and how long it takes.

    python benchmarks/openings.py --openings 20 --slower 4 --megabits 1.6 --out results/openings.csv

Opens chapter after chapter in headless Chromium, runs all its cells, brings each live chart into sight and waits until
something is drawn in it. A chart that is still empty after ``--patience`` seconds is blank. A row is written after each
opening; what is in the file already is not measured again.
"""

import argparse
import ast
import csv
import shutil
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.lab import DRAWN, Notebook, serving  # noqa: E402

LIVE = ("Explorer(", "ideas.", "shows.")
COLUMNS = ("opening", "chapter", "charts", "blank", "seconds_to_lab", "seconds_to_first_picture", "seconds", "faults")


def live_cells(path: Path) -> list[str]:
    """The code cells whose last expression is a live chart."""
    cells = nbformat.read(path, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    return [source for source in sources if any(word in last_statement(source) for word in LIVE)]


def last_statement(source: str) -> str:
    return ast.unparse(ast.parse(source).body[-1])


def open_once(chromium, address: str, path: Path, arguments: argparse.Namespace) -> dict:
    started = time.monotonic()
    notebook = Notebook(
        chromium, address.format(path.name), slower=arguments.slower, bits_per_second=arguments.megabits * 1e6
    )
    lab = time.monotonic() - started
    notebook.run()
    charts, blank, first = 0, 0, None
    for source in live_cells(path):
        end = time.monotonic() + arguments.patience
        drawn: list[bool] = []
        while time.monotonic() < end and not (drawn and all(drawn)):
            notebook.scroll_to(source)
            time.sleep(1)
            drawn = notebook.page.evaluate(DRAWN)
        charts, blank = charts + 1, blank + (not (drawn and all(drawn)))
        first = first or time.monotonic() - started
    seconds = time.monotonic() - started
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()
    numbers = {"seconds_to_lab": lab, "seconds_to_first_picture": first or 0.0, "seconds": seconds}
    return {
        "chapter": path.stem,
        "charts": charts,
        "blank": blank,
        **{name: round(value, 1) for name, value in numbers.items()},
        "faults": len(notebook.faults),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--openings", type=int, default=20)
    parser.add_argument("--chapters", nargs="+", default=["01", "02", "03", "04", "05", "06"])
    parser.add_argument("--slower", type=int, default=4, help="how many times slower the processor is made")
    parser.add_argument("--megabits", type=float, default=1.6, help="of the wire, per second")
    parser.add_argument("--patience", type=float, default=300, help="seconds until a chart counts as blank")
    parser.add_argument("--out", type=Path, default=Path("openings.csv"))
    arguments = parser.parse_args()
    chapters = [next((ROOT / "notebooks").glob(f"{number}_*.ipynb")) for number in arguments.chapters]
    done = len(arguments.out.read_text().splitlines()) - 1 if arguments.out.exists() else 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for chapter in chapters:
            shutil.copy(chapter, folder)
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with serving(Path(folder)) as address, arguments.out.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            if done <= 0:
                writer.writeheader()
            for opening in range(max(0, done), arguments.openings):
                path = chapters[opening % len(chapters)]
                row = {"opening": opening + 1, **open_once(chromium, address, Path(folder) / path.name, arguments)}
                writer.writerow(row)
                file.flush()
                print(row, flush=True)


if __name__ == "__main__":
    main()
