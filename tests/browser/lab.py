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

from fedlab_course.harness import kernel

SETTINGS = {
    "@jupyterlab/notebook-extension/tracker": '{"windowingMode": "defer", "recordTiming": false}',
    "@jupyterlab/apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
}
TOKEN = "explorer"
PATIENCE = 240  # seconds until a wait gives up; a machine may have much else to do
# anywidget gives each widget two seconds to load its code, and then leaves an empty place.
NO_HURRY = f"""
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = milliseconds => timeout(Math.max(milliseconds, {PATIENCE * 1000}));
"""
# The explorer is the output with a button "Keep curves"; other figures of a chapter have curves of these names, too.
CURVES = """() => {
    const outputs = Array.from(document.querySelectorAll('.jp-OutputArea-output'));
    const buttons = output => Array.from(output.querySelectorAll('button'), button => button.textContent);
    const explorer = outputs.find(output => buttons(output).some(text => text.includes('Keep curves')));
    const charts = explorer ? Array.from(explorer.querySelectorAll('.js-plotly-plot')) : [];
    const chart = charts.find(one => (one.data || []).some(trace => (trace.name || '').startsWith('FedAvg')));
    const kept = trace => trace.name && trace.y && trace.mode === 'lines+markers';
    return chart ? Object.fromEntries(chart.data.filter(kept).map(t => [t.name, Array.from(t.y)])) : {};
}"""
# What JupyterLab itself says about its own server, with or without a notebook.
NOT_OURS = re.compile(r"/api/(workspaces|settings|news)|favicon|service-worker|manifest")


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """JupyterLab over ``folder``: the address of a notebook in it, with ``{}`` for its name."""
    for name, text in SETTINGS.items():
        path = folder / "settings" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    with kernel.environment():
        live = {name: value for name, value in os.environ.items() if name not in ("CI", "FEDLAB_HEADLESS")}
        live |= {"JUPYTER_CONFIG_DIR": str(folder / "config"), "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings")}
        live |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces")}
        port = free_port()
        options = ["--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0"]
        options += ["--expose-app-in-browser"]
        options += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
        with (folder / "lab.log").open("w") as log:
            server = subprocess.Popen([sys.executable, "-m", "jupyterlab", *options], env=live, stdout=log, stderr=log)
            try:
                wait_until(lambda: answers(f"http://127.0.0.1:{port}/api?token={TOKEN}", server))
                # Without "reset" the notebooks that were open before would open as well.
                yield f"http://127.0.0.1:{port}/lab/tree/{{}}?reset&token={TOKEN}"
            finally:
                server.terminate()
                server.wait(PATIENCE)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(url: str, server: subprocess.Popen) -> bool:
    assert server.poll() is None, "JupyterLab has ended"
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def wait_until(condition: Callable[[], Any]) -> Any:
    """The first true value of ``condition``, asked four times a second: a page that is always asked never draws."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {PATIENCE} s"
        time.sleep(0.25)
    return value


class Notebook:
    """The notebook, open in JupyterLab and run to its end."""

    def __init__(self, chromium, address: str) -> None:
        self.faults: list[str] = []
        self.page = chromium.new_page(viewport={"width": 1400, "height": 1250})
        self.page.set_default_timeout(PATIENCE * 1000)
        self.page.add_init_script(NO_HURRY)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        self.page.goto(address)
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_function("window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel != null")
        self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
        button = self.page.locator("button", has_text="Keep curves")
        self.explorer = self.page.locator(".jp-OutputArea-output", has=button)

    def _heard(self, message) -> None:
        if message.type == "error" and not NOT_OURS.search(f"{message.text} {message.location.get('url', '')}"):
            self.faults.append(message.text)

    def curves(self) -> dict[str, list[float]]:
        """The curves on the explorer's chart, from the data of the page."""
        return self.page.evaluate(CURVES)

    def wait_for(self, condition: Callable[[dict[str, list[float]]], Any]) -> Any:
        return wait_until(lambda: condition(self.curves()))

    def slider(self, label: str) -> Any:
        """The handle of a slider of the explorer, by its label."""
        box = self.explorer.locator(".widget-hslider", has=self.page.locator("label", has_text=label)).first
        return box.get_by_role("slider")

    def press(self, label: str, key: str, times: int = 1) -> None:
        """Move a slider as somebody without a mouse does."""
        handle = self.slider(label)
        handle.focus()
        for _ in range(times):
            self.page.keyboard.press(key)

    def status(self) -> str:
        return self.explorer.locator("[role=status], [role=timer]").first.inner_text()
