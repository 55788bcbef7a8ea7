"""Measure memory, processor time and disk of one student on a JupyterHub, chapter by chapter.

    tests/hub/run.sh    # makes build/hub, and tests it
    export FEDLAB_HUB=build/hub/venv/bin:build/hub/npm/node_modules/.bin
    python benchmarks/memory.py --out results/memory.csv

One student logs in with Chromium, opens a chapter, runs all its cells, waits for each live chart,
and saves. Memory is the proportional set size (PSS) of the single-user server and its kernel on
Linux, read four times a second: after opening, after the last cell, and at the peak. "Own" is the
part that no file backs: what one more server needs on a machine where others run from the same
image. The row "none" is the server without a notebook. Run nothing else from the same environment
meanwhile: it would share memory pages.
"""

import argparse
import ast
import csv
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.lab import Notebook, wait_until  # noqa: E402
from tests.hub.hub import Hub, serving  # noqa: E402

USER = "alice"
COLUMNS = (
    "chapter",
    "opened_mib",
    "finished_mib",
    "peak_mib",
    "peak_own_mib",
    "kernel_mib",
    "cpu_s",
    "notebook_kb",
)
QUIET = 3  # seconds with next to no processor time after which a page counts as done
LIVE = ("Explorer(", "ideas.", "shows.")


def live_cells(path: Path) -> list[str]:
    """The code cells whose last expression is a live chart."""
    cells = nbformat.read(path, as_version=4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code" and cell.source.strip()]
    return [
        source
        for source in sources
        if any(word in ast.unparse(ast.parse(source).body[-1]) for word in LIVE)
    ]


def pages(process: psutil.Process) -> tuple[float, float]:
    """MiB of a process, in all and of its own; zero if it has just ended."""
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    found = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
    return found["Pss:"], found["Pss_Anon:"]


@dataclass
class Watch:
    """Record the peak memory of a server and its kernels inside a ``with`` block."""

    server: psutil.Process
    peak: float = 0.0
    own: float = 0.0
    kernel: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)

    def now(self) -> float:
        """MiB of the server and its kernels at this moment; updates the peak."""
        server, own = pages(self.server)
        kernels = [pages(process) for process in self.server.children(recursive=True)]
        kernel = sum(total for total, _ in kernels)
        self.peak = max(self.peak, server + kernel)
        self.own = max(self.own, own + sum(part for _, part in kernels))
        self.kernel = max(self.kernel, kernel)
        return server + kernel

    def __enter__(self) -> "Watch":
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.stopped.wait(0.25):
            self.now()


def processor_time(server: psutil.Process) -> float:
    """Seconds of the server and its present kernels."""
    return sum(
        sum(process.cpu_times()[:2]) for process in [server, *server.children(recursive=True)]
    )


def quiet(server: psutil.Process) -> bool:
    """Whether the server and its kernels are idle for ``QUIET`` seconds."""
    before = processor_time(server)
    time.sleep(QUIET)
    return processor_time(server) - before < 0.1 * QUIET


def alone(hub: Hub) -> dict:
    """The first row: a server without a notebook."""
    server = hub.server(USER)
    wait_until(lambda: quiet(server))
    watch = Watch(server)
    values = {"opened_mib": watch.now(), "peak_own_mib": watch.own, "cpu_s": processor_time(server)}
    return {"chapter": "none", **{name: round(value, 1) for name, value in values.items()}}


def measure(hub: Hub, context, chapter: Path) -> dict:
    """The row of one chapter, from opening to saving."""
    server = hub.server(USER)
    with Watch(server) as watch:
        started = processor_time(server)
        notebook = Notebook(context, hub.notebook(USER, f"fedlab/{chapter.name}"))
        wait_until(lambda: quiet(server))
        opened = watch.now()
        notebook.run()
        for source in live_cells(chapter):
            notebook.scroll_to(source)
            wait_until(lambda: quiet(server))
        wait_until(lambda: quiet(server))
        notebook.save()
        finished = watch.now()
        seconds = processor_time(server) - started
    assert not notebook.faults, notebook.faults
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()
    wait_until(lambda: not server.children())
    values = (opened, finished, watch.peak, watch.own, watch.kernel, seconds)
    size = (hub.home(USER) / "fedlab" / chapter.name).stat().st_size / 1000
    return dict(
        zip(
            COLUMNS,
            (chapter.stem, *(round(value, 1) for value in values), round(size)),
            strict=True,
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="NUMBER", help="chapters; all unless named"
    )
    parser.add_argument("--out", type=Path, default=Path("memory.csv"))
    arguments = parser.parse_args()
    chapters = [
        path
        for number in arguments.only
        for path in sorted((ROOT / "notebooks").glob(f"{number}*.ipynb"))
    ]
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serving(Path(folder)) as hub,
    ):
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        context = hub.log_in(chromium, USER)
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerow(alone(hub))
            for chapter in chapters:
                row = measure(hub, context, chapter)
                writer.writerow(row)
                file.flush()
                print(row, flush=True)
        chromium.close()


if __name__ == "__main__":
    main()
