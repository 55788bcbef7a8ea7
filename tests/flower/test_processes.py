"""A SuperLink and three SuperNodes on this machine, started as docs/real-clients.md says, with TLS
and keys.
"""

import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl

pytest.importorskip("flwr", reason="Flower is not installed (make test-flower)")

PAGE = (Path(__file__).parents[2] / "docs" / "real-clients.md").read_text(encoding="utf-8")
FILES = {
    match[1]: match[0]
    for match in re.findall(r"```\w+\n(# ([\w.]+)\n.*?)```", PAGE, flags=re.DOTALL)
}
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
    for line in block.replace("\\\n", " ").splitlines()
]
QUIET = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.05",
}
OURS = str(Path(fl.__file__).parents[1])
PATIENCE = 900  # seconds until a wait gives up; a machine may have much else to do
# SuperLink notices sooner that a node is gone: after two heartbeats, a minute
ANSWER = {"timeout": 600}
# In front of load_data, which runs once for the greeting and once in
# each round: client {number} stays in call {call}.
HOLD = """
def stay(client):
    import pathlib, time
    folder = pathlib.Path({folder!r})
    with (folder / f"calls{{client}}").open("a") as calls:
        calls.write(".")
        calls.flush()
        number = calls.tell()
    if (client, number) == ({number}, {call}):
        (folder / "held").touch()
        while not (folder / "released").exists():
            time.sleep(0.1)

"""
WORK = {"rounds": 5, "clients_per_round": 2, "local_epochs": 2, "batch_size": 10, "lr": 0.05}


def command(start: str) -> str:
    """The command of the page that starts like this."""
    [found] = [line for line in COMMANDS if line.startswith(start)]
    return found


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Network:
    """The processes of the page in ``folder``; every one has a
    home for Flower's files of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.running = dict[str, subprocess.Popen]()
        self.environment = {**os.environ, **QUIET, "PYTHONPATH": OURS, "OMP_NUM_THREADS": "1"}
        for line in COMMANDS:
            if line.startswith(("openssl", "printf", "ssh-keygen")):
                for number in (0, 1, 2) if "node0" in line else (0,):
                    subprocess.run(
                        line.replace("node0", f"node{number}"), shell=True, cwd=folder, check=True
                    )
        (folder / "deal.py").write_text(FILES["deal.py"], encoding="utf-8")
        subprocess.run([sys.executable, "deal.py"], cwd=folder, env=self.environment, check=True)
        self.start("superlink", command("flower-superlink"))
        self._wait_for_superlink()
        (home := folder / "home-flwr").mkdir()
        found = re.search(r"```toml\n(\[superlink\].*?)```", PAGE, flags=re.DOTALL)
        config = self.local(found[1] if found else "").replace("/absolute/path/to", str(folder))
        (home / "config.toml").write_text(config, encoding="utf-8")
        for number in range(3):
            self.flwr(command("flwr supernode register").replace("node0", f"node{number}"))
            self.start_node(number)

    def local(self, text: str) -> str:
        return text.replace("8000", str(self.port))

    def start(self, name: str, line: str) -> None:
        words = shlex.split(self.local(line))
        given = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        home = {"FLWR_HOME": str(self.folder / f"home-{name}")}
        log = (self.folder / f"{name}.log").open("wb")
        environment = {**self.environment, **given, **home}
        self.running[name] = subprocess.Popen(
            words, cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )

    def start_node(self, number: int) -> None:
        line = (
            command("CLIENT_DATA=")
            .replace("client0", f"client{number}")
            .replace("node0", f"node{number}")
        )
        line = line.replace("partition-id=0", f"partition-id={number}").replace(
            "9100", str(free_port())
        )
        self.start(f"node{number}", line)

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        process = self.running.pop(name)
        if how == signal.SIGKILL:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        process.wait(PATIENCE)

    def _wait_for_superlink(self) -> None:
        trusted = ssl.create_default_context(cafile=str(self.folder / "ca.crt"))
        end = time.monotonic() + PATIENCE
        while True:
            try:
                urllib.request.urlopen(
                    f"https://127.0.0.1:{self.port}/health", context=trusted, timeout=60
                )
                return
            except OSError:
                alive = self.running["superlink"].poll() is None and time.monotonic() < end
                assert alive, (self.folder / "superlink.log").read_text(errors="replace")
                time.sleep(0.2)

    def flwr(self, line: str) -> subprocess.CompletedProcess:
        environment = {**self.environment, "FLWR_HOME": str(self.folder / "home-flwr")}
        return subprocess.run(
            shlex.split(line), cwd=self.folder, env=environment, capture_output=True, text=True
        )

    def submit(
        self, algorithm: str, held: int | None = None, **changes: object
    ) -> subprocess.Popen:
        """``flwr run`` for the app of the page with another algorithm and other settings.

        ``held``: a client that stays in round 3 until :meth:`finish`.
        """
        app = self.folder / "real-clients"
        shutil.rmtree(app, ignore_errors=True)
        app.mkdir()
        for name in (
            "history.npz",
            "history.csv",
            "held",
            "released",
            *(f"calls{number}" for number in range(3)),
        ):
            (self.folder / name).unlink(missing_ok=True)
        for name in ("task.py", "client_app.py", "pyproject.toml", "server_app.py"):
            text = FILES[name].replace("fl.FedProx(mu=0.1)", algorithm)
            for key, value in changes.items() if name == "server_app.py" else ():
                text, number = re.subn(rf"\b{key}=[^,]+,", f"{key}={value!r},", text)
                assert number == 1, key
            if name == "client_app.py" and held is not None:
                text, number = re.subn(
                    r"(def load_data\(client\):\n)", r"\1    stay(client)\n", text
                )
                assert number == 1
                text = HOLD.format(folder=str(self.folder), number=held, call=4) + text
            (app / name).write_text(text, encoding="utf-8")
        environment = {**self.environment, "FLWR_HOME": str(self.folder / "home-flwr")}
        words = shlex.split(command("flwr run"))
        return subprocess.Popen(
            words,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def rounds(self) -> int:
        """The rounds that are done, by the table."""
        path = self.folder / "history.csv"
        return len(pd.read_csv(path)) if path.exists() else 0

    def wait_until_held(self, run: subprocess.Popen) -> None:
        """Wait until the client that :meth:`submit` holds is in round 3."""
        end = time.monotonic() + PATIENCE
        while not (self.folder / "held").exists():
            assert run.poll() is None, run.communicate()[0]
            assert time.monotonic() < end, f"round 3 does not begin within {PATIENCE} s"
            time.sleep(0.2)

    def finish(self, run: subprocess.Popen) -> str:
        """Wait for the end of a run, and return its log. No process of a client stays."""
        try:
            return run.communicate(timeout=PATIENCE)[0]
        finally:
            (self.folder / "released").touch()

    def model(self) -> torch.nn.Module:
        names: dict = {}
        exec(FILES["task.py"], names)
        return names["model"]

    def federation(self) -> fl.FederatedDataset:
        files = [np.load(self.folder / f"client{number}.npz") for number in range(3)]
        clients = [(torch.tensor(one["x"]), torch.tensor(one["y"])) for one in files]
        return fl.FederatedDataset.from_clients(clients, test=clients[0])


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory):
    made = Network(tmp_path_factory.mktemp("network"))
    yield made
    for name in sorted(made.running):  # the nodes before the SuperLink
        made.kill(name, signal.SIGTERM)


@pytest.mark.parametrize(
    "algorithm", ["fl.FedAvg()", "fl.FedProx(mu=0.1)", "fl.Scaffold()", "fl.FedSSO()"]
)
def test_five_rounds_give_the_parameters_of_the_simulation(
    network: Network, algorithm: str
) -> None:
    log = network.finish(network.submit(algorithm, **ANSWER))
    assert "round 5 of 5: clients " in log, log
    found = fl.History.load(network.folder / "history.npz", model=network.model())
    settings = {**WORK, "engine": "reference", "progress": False}
    expected = fl.simulate(network.federation(), network.model(), eval(algorithm), **settings)
    torch.testing.assert_close(found.params, expected.params, rtol=0, atol=1e-6)
    table = pd.read_csv(network.folder / "history.csv")
    sent = table[["sent_down", "sent_up"]].diff().dropna()
    counted = table[["bytes_down", "bytes_up"]].diff().dropna()
    # of each of the two clients
    arrays = {"sent_down": 2 if algorithm == "fl.Scaffold()" else 1, "sent_up": 1}
    for name, ledger in (("sent_down", "bytes_down"), ("sent_up", "bytes_up")):
        numbers = (
            counted["bytes_up"] / 2
            if algorithm == "fl.Scaffold()" and name == "sent_up"
            else counted[ledger]
        )
        assert (sent[name] - numbers == 2 * arrays[name] * 128).all()


def test_a_run_goes_on_without_a_client_that_is_killed(network: Network) -> None:
    run = network.submit("fl.FedAvg()", held=2, clients_per_round=3, **ANSWER)
    network.wait_until_held(run)
    network.kill("node2")
    log = network.finish(run)
    assert re.search(r"round 3: client 2 .*; the run goes on without it", log), log
    assert "round 3 of 5: clients 0, 1, 2;" in log and "round 4 of 5: clients 0, 1;" in log, log
    assert network.rounds() == 5


def test_or_stops_with_a_clear_error(network: Network) -> None:
    run = network.submit("fl.FedAvg()", held=1, num_clients=2, on_failure="stop", **ANSWER)
    network.wait_until_held(run)
    network.kill("node1")
    log = network.finish(run)
    assert re.search(r"ClientFailed: round 3: client 1 .*on_failure='continue' would go on", log), (
        log
    )
    assert network.rounds() == 2
    assert len(fl.History.load(network.folder / "history.npz", model=network.model()).records) == 2
