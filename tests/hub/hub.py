"""JupyterHub as a class has it, on loopback: a hub, its proxy, and a single-user server for each
who logs in.

``FEDLAB_HUB`` lists the folders of its programs, as PATH does: jupyterhub's with the course,
configurable-http-proxy's.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.browser.lab import PATIENCE, SETTINGS, answers, free_port, wait_until

CONFIGURATION = Path(__file__).with_name("jupyterhub_config.py")
PROGRAMS = ("jupyterhub", "jupyterhub-singleuser", "configurable-http-proxy", "node")


def path() -> str:
    """Where the hub finds its programs."""
    folders = f"{os.environ.get('FEDLAB_HUB', '')}{os.pathsep}{os.environ.get('PATH', '')}".split(
        os.pathsep
    )
    return os.pathsep.join(os.path.abspath(folder) for folder in folders if folder)


def missing() -> list[str]:
    """The programs that are not there."""
    return [name for name in PROGRAMS if shutil.which(name, path=path()) is None]


@dataclass(frozen=True)
class Hub:
    """A running hub: its address, its folder and its process."""

    url: str
    folder: Path
    process: psutil.Process

    def home(self, user: str) -> Path:
        return self.folder / "home" / user

    def log_in(self, chromium: Any, user: str) -> Any:
        """A browser context of its own, in which ``user`` is logged in and has a server."""
        context = chromium.new_context(viewport={"width": 1400, "height": 900})
        page = context.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        page.goto(f"{self.url}/hub/login")
        page.get_by_label("Username").fill(user)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"**/user/{user}/lab**")
        page.close()
        return context

    def notebook(self, user: str, name: str) -> str:
        """The address of a notebook, by its path in the home folder."""
        return f"{self.url}/user/{user}/lab/tree/{name}?reset"

    def server(self, user: str) -> psutil.Process | None:
        """The process of a user's server, whose children are kernels; None if there is none."""
        for process in self.process.children():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                started = "jupyterhub-singleuser" in " ".join(process.cmdline())
                if started and process.environ().get("JUPYTERHUB_USER") == user:
                    return process
        return None


@contextmanager
def serving(folder: Path) -> Iterator[Hub]:
    """A hub that keeps everything in ``folder``; nothing of it runs on afterwards."""
    for name, text in SETTINGS.items():
        path_ = folder / "settings" / f"{name}.jupyterlab-settings"
        path_.parent.mkdir(parents=True, exist_ok=True)
        path_.write_text(text, encoding="utf-8")
    (folder / "home").mkdir()
    ports = [free_port() for _ in range(3)]
    unwanted = ("CI", "FEDLAB_HEADLESS", "PYTHONPATH", "JUPYTERHUB_API_TOKEN")
    environment = {name: value for name, value in os.environ.items() if name not in unwanted}
    environment |= {
        "PATH": path(),
        "FEDLAB_HUB_FOLDER": str(folder),
        "FEDLAB_HUB_SETTINGS": str(folder / "settings"),
    }
    environment |= {"FEDLAB_HUB_PORTS": " ".join(map(str, ports))}
    command = [shutil.which("jupyterhub", path=path()), "--config", str(CONFIGURATION)]
    with (folder / "hub.log").open("w") as log:
        started = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        process = psutil.Process(started.pid)
        try:
            wait_until(
                lambda: answers(
                    f"http://127.0.0.1:{ports[0]}/hub/health", started, folder / "hub.log"
                )
            )
            yield Hub(f"http://127.0.0.1:{ports[0]}", folder, process)
        finally:
            end(process)


def end(process: psutil.Process) -> None:
    """Stop the hub, which stops its servers, and kill whatever of it is left after minutes."""
    family = [process, *process.children(recursive=True)]
    process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    for one in alive:
        one.kill()
    psutil.wait_procs(alive, timeout=PATIENCE)
