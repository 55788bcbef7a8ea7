"""The server of the other tests: it has Jupyter folders of
its own, and an early end is explained.
"""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.browser import lab

ROOT = Path(__file__).parents[2]
SERVE = """\
import sys
from pathlib import Path
from tests.browser import lab
with lab.serving(Path(sys.argv[1])) as address:
    pass"""


def test_two_servers_of_a_new_user_start_at_the_same_time(tmp_path: Path) -> None:
    """Jupyter once copied the kernels in IPython's folder to the user's data folder, in both
    servers at once.
    """
    home = tmp_path / "home"
    kernel = home / ".ipython" / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps({"argv": ["false"], "display_name": "Old", "language": "python"}))
    before = {path for path in home.rglob("*")}
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JUPYTER", "IPYTHON"))
    }
    environment |= {"HOME": str(home), "USERPROFILE": str(home), "PYTHONPATH": str(ROOT)}

    def serve(name: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / name).mkdir()
        command = [sys.executable, "-c", SERVE, str(tmp_path / name)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(serve, ["first", "second"]):
            assert done.returncode == 0, done.stderr
    ours = [
        path
        for path in {*home.rglob("*")} - before
        if "jupyter" in str(path) or "ipython" in str(path)
    ]
    assert ours == [], "the user's own folders were changed"


def test_a_server_that_ends_early_shows_the_end_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        monkeypatch.setattr(lab, "free_port", lambda: port)
        with (
            pytest.raises(AssertionError, match=r"exit status [1-9].*lab\.log") as raised,
            lab.serving(tmp_path),
        ):
            pass
    assert f"port {port} is already in use" in str(raised.value)
