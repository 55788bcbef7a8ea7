"""Worker processes on this machine: no port, and a killed worker is replaced."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fedlab_core.sweep import crew
from fedlab_core.sweep.plan import Run

ROOT = Path(__file__).parents[3]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and SIGKILL"),
]


def until(happened: Callable[[], object], seconds: float = 240.0) -> None:
    ends = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < ends, f"did not happen within {seconds} s"
        time.sleep(0.02)


def work(config: dict, folder: str, modules: list[str]) -> crew.Outcome:
    """Kill this process, once if there is a ``mark``; then tell its threads and its ports."""
    if "mark" not in config or not Path(config["mark"]).exists():
        Path(config.get("mark", os.devnull)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return crew.Outcome(
        message=f"{os.environ['FEDLAB_THREADS']} threads, ports {internet_sockets()}"
    )


def internet_sockets() -> list[str]:
    links = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(path))
    tables = [Path(f"/proc/net/{name}").read_text().splitlines() for name in ("tcp", "tcp6", "udp")]
    lines = [line.split() for table in tables for line in table]
    return [line[1] for line in lines if len(line) > 9 and f"socket:[{line[9]}]" in links]


def test_a_killed_process_is_replaced_and_has_no_port(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDLAB_THREADS", "3")
    monkeypatch.setattr(crew, "work", work)
    run = Run({}, {"mark": str(tmp_path / "mark")}, "a")
    ((found, outcome),) = crew.outcomes(None, 1, [run], tmp_path, [])
    assert (found, outcome.status, outcome.message) == (run, "done", "3 threads, ports []")


def test_runs_whose_process_is_killed_again_and_again_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "work", work)
    found = crew.outcomes(None, 1, [Run({}, {}, "a"), Run({}, {}, "b")], tmp_path, [])
    assert [outcome.status for _, outcome in found] == ["failed", "failed"]


SCRIPT = """
from fedlab_core.sweep.workers import workers_of
from tests.core.sweep.test_workers import sleep
if __name__ == "__main__":
    with workers_of(None, 1) as processes:
        processes.submit(sleep, {path!r}).result()
"""


def sleep(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_parent(tmp_path: Path, sign: signal.Signals) -> None:
    mark = tmp_path / "pid"
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(path=str(mark)))
    parent = subprocess.Popen(
        [sys.executable, script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
        # tests in the background ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    until(lambda: mark.exists() and mark.read_text())
    parent.send_signal(sign)
    parent.wait(240)
    until(lambda: not Path("/proc", mark.read_text()).exists())
