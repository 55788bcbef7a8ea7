"""Real schedulers and workers on loopback, and a wire that can be cut."""

import contextlib
import importlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]


def environment(**more: str) -> dict[str, str]:
    """For processes that can import this repository, and show no bars."""
    return os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "FEDLAB_HEADLESS": "1"} | more


def until(happened: Callable[[], object], seconds: float = 240.0) -> None:
    """Wait until ``happened()`` is true; fail if it is not in time."""
    ends = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < ends, f"did not happen within {seconds} s"
        time.sleep(0.02)


class Cluster:
    """``dask scheduler`` and two ``dask worker`` without nannies, as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        contact = folder / "scheduler.json"
        self._scheduler = self._start("scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(contact))
        until(lambda: contact.exists() and contact.stat().st_size)
        self.address = json.loads(contact.read_text())["address"]
        self.workers = [self._start_worker(), self._start_worker()]

    def wait_until_ready(self) -> None:
        """Until both workers are there and have imported what they need, so that they begin together."""
        from distributed import Client

        with Client(self.address) as client:
            client.wait_for_workers(2, timeout=120)
            client.run(importlib.import_module, "tests.core.sweep.slow")

    def _start_worker(self) -> subprocess.Popen[bytes]:
        scratch = ["--local-directory", str(self.folder / "scratch")]
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", *scratch)

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{arguments[0]}.log").open("ab") as log:
            command = [sys.executable, "-m", "dask", *arguments]
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment(), cwd=self.folder)

    def close(self) -> None:
        for process in [*self.workers, self._scheduler]:
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster whose workers see the folder of the client."""
    folder.mkdir(parents=True, exist_ok=True)
    started = Cluster(folder)
    try:
        started.wait_until_ready()
        yield started
    finally:
        started.close()


class Sweep:
    """``python -m fedlab_core sweep``, in a process of its own, which writes what it says to ``folder``/said.txt."""

    def __init__(self, config: Path, out: Path, *arguments: str, **variables: str) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self.out = out
        self.said = out / "said.txt"
        with self.said.open("ab") as said:
            command = [sys.executable, "-m", "fedlab_core", "sweep", str(config), "--out", str(out), *arguments]
            self.process = subprocess.Popen(command, stdout=said, stderr=said, env=environment(**variables))

    def half_way(self, runs: int) -> set[str]:
        """Wait until this many runs have a checkpoint and no outcome; their digests."""

        def found() -> set[str]:
            assert self.process.poll() is None, self.said.read_text()
            begun = {path.parent for path in self.out.glob("runs/*/checkpoint.npz")}
            return {folder.name for folder in begun if not (folder / "outcome.json").exists()}

        until(lambda: len(found()) == runs)
        return found()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def finished(self, seconds: float = 120.0) -> str:
        """What it has said, once it has ended well."""
        status = self.process.wait(seconds)
        said = self.said.read_text()
        assert status == 0, said
        return said


class Wire:
    """A loopback port that passes everything on to ``address``, until it is cut; new connections then work again."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("tcp://").split(":")
        self._target, self._ends = (host, int(port)), list[socket.socket]()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, far = self._server.accept()[0], socket.create_connection(self._target)
                self._ends += [near, far]
                for source, sink in ((near, far), (far, near)):
                    threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self) -> int:
        """Break every connection; how many there were."""
        ends, self._ends = self._ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        return len(ends) // 2

    def close(self) -> None:
        self._server.close()
        self.cut()


@contextlib.contextmanager
def wire(address: str) -> Iterator[Wire]:
    """A wire to ``address``."""
    made = Wire(address)
    try:
        yield made
    finally:
        made.close()
