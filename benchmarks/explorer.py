"""What an explorer costs in JupyterLab: bytes to the browser, time to the first change, time to stop, memory.

    PYTHONPATH=. python benchmarks/explorer.py --out results/explorer.json

It needs Chromium and Playwright. Bytes are those of the websocket from an explorer's cell to the end of its training,
by kind of message; the second explorer on a page is what one more costs. Times depend on what else the machine does.
"""

import argparse
import json
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.browser.lab import Notebook, Wire, serving, wait_until, write

CELLS = ("import os\nfrom fedlab_course import Explorer\nprint(os.getpid())", "Explorer()", "Explorer()")
# From a key to the first chart that shows something else, and from a click on Stop to the status that says so.
WATCH = """([text, event]) => new Promise(resolve => {
    const one = document.querySelector('.fedlab-training');
    const shown = () => {
        const plot = one.querySelector('.fedlab-main .js-plotly-plot');
        const status = [...one.querySelectorAll('.fedlab-main .fedlab-note')].map(node => node.textContent).join();
        if (text) return status.includes(text);
        const lines = plot._fullData.map(trace => [trace.name, Array.from(trace.y)]);
        return lines.some(([, y]) => y.length) && JSON.stringify(lines);
    };
    let started = 0;
    const before = shown();
    const look = () => {
        const now = shown();
        if (started && now && now !== before) return resolve(performance.now() - started);
        requestAnimationFrame(look);
    };
    document.addEventListener(event, () => (started ||= performance.now()), {capture: true, once: true});
    look();
})"""

SHOW = """async number => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.activeCellIndex = number;
    await notebook.scrollToItem(number, 'start');
}"""


def explorers(notebook: Notebook, wire: Wire) -> dict[str, Any]:
    """Bytes of the first explorer on a page and of the second."""
    found = {}
    for number, name in ((1, "first"), (2, "second")):
        notebook.page.evaluate(SHOW, number)
        notebook.page.wait_for_timeout(500)
        wire.taken()
        notebook.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
        explorer = notebook.page.locator(".fedlab-training").last
        wait_until(lambda one=explorer: one.count() and "done" in one.locator(".fedlab-main").inner_text())
        notebook.page.wait_for_timeout(1500)
        found[name] = wire.taken()
    return found


def first_changes(notebook: Notebook, moves: int) -> list[float]:
    """Milliseconds from the release of a slider to the first other chart."""
    found = []
    for move in range(moves):
        key = "ArrowRight" if move % 2 == 0 else "ArrowLeft"
        notebook.press("clients a round K", "ArrowRight")  # so that both curves are new
        notebook.page.wait_for_timeout(1000)  # "done" may still be of the last one
        wait_until(lambda: "done" in notebook.status())
        handle = notebook.slider("local epochs E")
        handle.focus()
        notebook.page.evaluate(f"() => {{ window.measured = ({WATCH})(['', 'keydown']); }}")
        notebook.page.keyboard.press(key)
        found.append(notebook.page.evaluate("window.measured"))
        wait_until(lambda: "done" in notebook.status())
    return found


def stops(notebook: Notebook, times: int) -> list[float]:
    """Milliseconds from a click on Stop to the status that says "stopped"."""
    found = []
    notebook.press("rounds", "End")
    for _ in range(times):
        notebook.press("clients a round K", "ArrowRight")
        wait_until(lambda: "training" in notebook.status())
        notebook.page.wait_for_timeout(500)
        notebook.page.evaluate(f"() => {{ window.measured = ({WATCH})(['stopped', 'click']); }}")
        notebook.explorer.locator("button", has_text="Stop").click()
        found.append(notebook.page.evaluate("window.measured"))
    notebook.press("rounds", "Home")
    wait_until(lambda: "done" in notebook.status())
    return found


def resident(pid: int) -> float:
    """MiB resident in a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) / 1024


def memory(notebook: Notebook, pid: int, moves: int) -> list[float]:
    """MiB of the kernel before, halfway and after so many moves of a slider."""
    found = [resident(pid)]
    for move in range(moves):
        notebook.press("local epochs E", "ArrowRight" if move % 14 < 7 else "ArrowLeft")
        notebook.press("clients a round K", "ArrowRight")
        wait_until(lambda: "done" in notebook.status())
        if move in (moves // 2 - 1, moves - 1):
            found.append(resident(pid))
    return found


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=30)
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write(Path(folder) / "one.ipynb", *CELLS)
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with serving(Path(folder)) as address:
            notebook = Notebook(chromium, address.format("one.ipynb"))
            wire = Wire(notebook)
            notebook.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
            printed = notebook.page.locator(".jp-RenderedText pre").first
            printed.wait_for()
            pid = int(printed.inner_text())
            figures: dict[str, Any] = {"websocket_bytes": explorers(notebook, wire)}
            print(figures, flush=True)
            notebook.scroll_to("Explorer()")
            changes, delays = first_changes(notebook, 8), stops(notebook, 5)
            print("measured", changes, delays, flush=True)
            figures["first_change_ms"] = {"median": round(statistics.median(changes)), "worst": round(max(changes))}
            figures["stop_ms"] = {"median": round(statistics.median(delays)), "worst": round(max(delays))}
            figures["kernel_mib"] = [round(value) for value in memory(notebook, pid, options.moves)]
        chromium.close()
    print(json.dumps(figures, indent=1))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
