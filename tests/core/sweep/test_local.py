"""Worker processes on this machine: no port, and a killed worker is replaced."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fedlab_core.sweep.local import Processes, report
from tests.core.sweep.clusters import environment, until


def dies_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    report("alive", 1)
    return os.environ["FEDLAB_THREADS"]


def dies() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def internet_sockets() -> list[str]:
    links = []
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            links.append(os.readlink(path))
    lines = [
        line.split() for name in ("tcp", "tcp6", "udp") for line in Path(f"/proc/net/{name}").read_text().splitlines()
    ]
    return [line[1] for line in lines if len(line) > 9 and f"socket:[{line[9]}]" in links]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and SIGKILL")
def test_a_killed_process_is_replaced_and_none_has_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDLAB_THREADS", "3")
    heard: list[tuple] = []
    with Processes(2) as processes:
        first = processes.submit(dies_once, tmp_path / "mark", heard=lambda *said: heard.append(said))
        always = processes.submit(dies)
        assert first.result() == "3" and heard == [("alive", 1)]
        with pytest.raises(ChildProcessError, match="killed 3 times"):
            always.result()
        assert processes.submit(internet_sockets).result() == []
        with pytest.raises(ZeroDivisionError):
            processes.submit(divmod, 1, 0).result()


SCRIPT = """
import time
from fedlab_core.sweep.local import Processes
from tests.core.sweep.test_local import sleep
if __name__ == "__main__":
    with Processes(1) as processes:
        processes.submit(sleep, {path!r}).result()
"""


def sleep(path: str) -> None:
    import time

    Path(path).write_text(str(os.getpid()))
    time.sleep(600)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and SIGKILL")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_parent(tmp_path: Path, sign: signal.Signals) -> None:
    mark, script = tmp_path / "pid", tmp_path / "script.py"
    script.write_text(SCRIPT.format(path=str(mark)))
    parent = subprocess.Popen(
        [sys.executable, script],
        env=environment(),
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )
    until(lambda: mark.exists() and mark.read_text())
    parent.send_signal(sign)
    parent.wait(240)
    until(lambda: not Path("/proc", mark.read_text()).exists())
