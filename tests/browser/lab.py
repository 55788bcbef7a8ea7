"""JupyterLab as a student has it: a server of its own, and a notebook open in a browser."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from fedlab_course.harness import kernel

SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": '{"recordTiming": false}',
    "@jupyterlab/apputils-extension/notification": (
        '{"fetchNews": "false", "checkForUpdates": false}'
    ),
}
TOKEN = "explorer"
PATIENCE = 240  # seconds until a wait gives up; a machine may have much else to do
CURVES = """explorer => {
    const chart = explorer.querySelector('.fedlab-main .js-plotly-plot');
    const traces = chart?._fullData || [];
    return Object.fromEntries(traces.map(trace => [trace.name, Array.from(trace.y)]));
}"""
# Every chart that JupyterLab does not hide because it is far
# away, and whether there is a drawing in it.
DRAWN = """() => {
    const marks = '.main-svg :is(.trace, .heatmaplayer image, .contourlayer path)';
    return Array.from(document.querySelectorAll('fedlab-chart'))
        .filter(chart => chart.checkVisibility())
        .map(chart => chart.querySelectorAll(marks).length > 0);
}"""
# JupyterLab renders the cells that are in sight, and no others.
SCROLL = """async source => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const hasSource = cell => cell.model.sharedModel.source.includes(source);
    const index = notebook.widgets.findIndex(hasSource);
    notebook.activeCellIndex = index;
    await notebook.scrollToItem(index, 'start');
}"""
# What JupyterLab itself says about its own server, with or without a notebook. The last one: the
# browser asks for an attached picture before JupyterLab has put the picture in its place.
NOT_OURS = re.compile(
    r"/api/(workspaces|settings|news)|favicon|service-worker|manifest|attachment:"
)


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """JupyterLab over ``folder``: the address of a notebook in it, with ``{}`` for its name.

    The server has Jupyter folders of its own: two servers that share those of a new user race to
    create them.
    """
    with kernel.environment(), (folder / "lab.log").open("w") as log:
        live = {
            name: value
            for name, value in os.environ.items()
            if name not in ("CI", "FEDLAB_HEADLESS")
        }
        live |= {"JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
        live |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
        for name, text in SETTINGS.items():
            path = folder / "settings" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        port = free_port()
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--expose-app-in-browser",
            f"--port={port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.root_dir={folder}",
            f"--IdentityProvider.token={TOKEN}",
        ]
        server = subprocess.Popen(command, env=live, stdout=log, stderr=log)
        try:
            wait_until(
                lambda: answers(
                    f"http://127.0.0.1:{port}/api?token={TOKEN}", server, folder / "lab.log"
                )
            )
            # Without "reset" the notebooks that were open before would open as well.
            yield f"http://127.0.0.1:{port}/lab/tree/{{}}?reset&token={TOKEN}"
        finally:
            server.terminate()
            server.wait(PATIENCE)


def write(path: Path, *cells: str | NotebookNode) -> None:
    """A notebook of these cells; a text is a code cell."""
    spec = {"name": kernel.KERNEL, "display_name": "Python 3", "language": "python"}
    made = [new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    nbformat.write(new_notebook(cells=made, metadata={"kernelspec": spec}), path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str, server: subprocess.Popen, log: Path) -> bool:
    """True if there is an answer; fails with the end of the server's ``log`` if the server has
    ended.
    """
    status = server.poll()
    if status is not None:
        end = log.read_text(encoding="utf-8", errors="replace")[-4000:]
        raise AssertionError(
            f"the server has ended with exit status {status}; the end of {log}:\n{end}"
        )
    try:
        return urllib.request.urlopen(url, timeout=60).status == 200
    except OSError:
        return False


def wait_until(condition: Callable[[], Any]) -> Any:
    """The first true value of ``condition``, asked four times a second: a page that is always asked
    never draws.
    """
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE} s"
        time.sleep(0.25)
    return value


class Notebook:
    """A notebook, open in JupyterLab, ``size`` pixels wide and high.

    ``chromium`` is a browser, or a context in which somebody has logged in. It can be made
    ``slower`` so many times.
    """

    def __init__(
        self,
        chromium,
        address: str,
        size: tuple[int, int] = (1400, 900),
        slower: int = 1,
    ) -> None:
        self.faults: list[str] = []
        self.page = chromium.new_page()
        self.page.set_viewport_size({"width": size[0], "height": size[1]})
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        devtools = self.page.context.new_cdp_session(self.page)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": slower})
        self.page.goto(address)
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel != null"
        )
        self.explorer = self.page.locator(".fedlab-training").first

    def run(self) -> None:
        """Start all cells, one after another."""
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")

    def scroll_to(self, source: str) -> None:
        """Bring the first cell with ``source`` in it, and what
        it shows, to the top of the window.
        """
        self.page.evaluate(SCROLL, source)

    def save(self) -> None:
        self.page.evaluate("window.jupyterapp.shell.currentWidget.context.save()")

    def _heard(self, message) -> None:
        if message.type == "error" and not NOT_OURS.search(
            f"{message.text} {message.location.get('url', '')}"
        ):
            self.faults.append(message.text)

    def curves(self) -> dict[str, list[float]]:
        """The curves on the explorer's chart, from the data of the page."""
        return self.explorer.evaluate(CURVES) if self.explorer.count() else {}

    def wait_for(self, condition: Callable[[dict[str, list[float]]], Any]) -> Any:
        """The first true value of ``condition`` on the curves; if it never comes, fail with what
        the explorer shows.
        """
        try:
            return wait_until(lambda: condition(self.curves()))
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.state()}") from None

    def state(self) -> str:
        """What a reader of a failed test asks first."""
        curves = {name: len(y) for name, y in self.curves().items()}
        sliders = {
            handle.get_attribute("aria-label"): handle.get_attribute("aria-valuetext")
            for handle in self.explorer.get_by_role("slider").all()
        }
        focus = self.page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
        alerts = self.page.get_by_role("alert").all_inner_texts()
        return (
            f"points of the curves {curves}, sliders {sliders}, status {self.status()!r}, "
            f"alerts {alerts}, focus on {focus}, errors {self.faults}"
        )

    def slider(self, label: str) -> Any:
        """The handle of a slider of the explorer, by its label."""
        return self.explorer.get_by_role("slider", name=label, exact=True)

    def press(self, label: str, key: str, times: int = 1) -> None:
        """Move a slider as somebody without a mouse does."""
        handle = self.slider(label)
        for _ in range(times):
            wait_until(lambda: self._hears(handle, key))

    def _hears(self, handle: Any, key: str) -> bool:
        """Press a key on ``handle``, and return whether it arrived there: for a moment after a
        click, JupyterLab may give the focus to the cell.
        """
        handle.evaluate("handle => { handle.onkeydown = () => { handle.heard = true; }; }")
        handle.focus()
        self.page.keyboard.press(key)
        return handle.evaluate(
            "handle => { const heard = handle.heard; handle.heard = false; return heard; }"
        )

    def status(self) -> str:
        """What the explorer says about its training; nothing if it says nothing now."""
        lines = self.explorer.locator(".fedlab-main").locator("[role=status], [role=timer]")
        return " ".join(lines.filter(visible=True).all_inner_texts())
