"""What a student takes of a hub: memory, processor time and disk, chapter by chapter, in a JupyterHub on this machine.

    tests/hub/run.sh    # makes build/hub, and tests it
    FEDLAB_HUB=build/hub/venv/bin:build/hub/npm/node_modules/.bin python benchmarks/memory.py --out results/memory.csv

One student logs in with Chromium, opens a chapter, runs all its cells, looks at each live chart until its training is
done, and saves; then the next chapter. Memory is the proportional set size (PSS) of the single-user server and its
kernel, read four times a second on Linux: when the chapter has been opened, when it is done, and at most. "Own" is the
part that no file backs, all that one more server takes on a machine where others run from the same image. The first
row, "none", is the server with no notebook open. A row is written after each chapter. Nothing else may run from the
same environment meanwhile: it would share the pages.
"""

import argparse
import csv
import shutil
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from openings import live_cells  # noqa: E402

from tests.browser.lab import Notebook, wait_until  # noqa: E402
from tests.hub.hub import Hub, serving  # noqa: E402

USER = "alice"
COLUMNS = ("chapter", "opened_mib", "finished_mib", "peak_mib", "peak_own_mib", "kernel_mib", "cpu_s", "notebook_kb")
QUIET = 3  # seconds with next to no processor time after which nothing more is to come


def pages(process: psutil.Process) -> tuple[float, float]:
    """MiB of a process: in all, and of its own; nothing if it has just ended."""
    try:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    found = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines[1:]}
    return found["Pss:"], found["Pss_Anon:"]


@dataclass
class Watch:
    """The most that a server and its kernels take while ``with`` lasts."""

    server: psutil.Process
    peak: float = 0.0
    own: float = 0.0
    kernel: float = 0.0
    stopped: threading.Event = field(default_factory=threading.Event)

    def now(self) -> float:
        """MiB of the server and its kernels at this moment, which may be a new peak."""
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
    """Seconds of the server and the kernels that it has now."""
    found = 0.0
    for process in [server, *server.children(recursive=True)]:
        times = process.cpu_times()
        found += times.user + times.system
    return found


def quiet(server: psutil.Process) -> bool:
    """Whether nothing is computed for so many seconds."""
    before = processor_time(server)
    time.sleep(QUIET)
    return processor_time(server) - before < 0.1 * QUIET


def alone(hub: Hub) -> dict:
    """The first row: a server that has just started."""
    server = hub.server(USER)
    wait_until(lambda: quiet(server))
    watch = Watch(server)
    values = {"opened_mib": watch.now(), "peak_own_mib": watch.own, "cpu_s": processor_time(server)}
    return {"chapter": "none", **{name: round(value, 1) for name, value in values.items()}}


def measure(hub: Hub, context, chapter: Path) -> dict:
    """One row: a chapter from opening to saving."""
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
        finished, seconds = watch.now(), processor_time(server) - started
    assert not notebook.faults, notebook.faults
    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    notebook.page.close()
    wait_until(lambda: not server.children())
    values = (opened, finished, watch.peak, watch.own, watch.kernel, seconds)
    size = (hub.home(USER) / "fedlab" / chapter.name).stat().st_size / 1000
    return dict(zip(COLUMNS, (chapter.stem, *(round(value, 1) for value in values), round(size)), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="NUMBER", help="chapters; all unless named")
    parser.add_argument("--out", type=Path, default=Path("memory.csv"))
    arguments = parser.parse_args()
    chapters = [path for number in arguments.only for path in sorted((ROOT / "notebooks").glob(f"{number}*.ipynb"))]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright, serving(Path(folder)) as hub:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
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
