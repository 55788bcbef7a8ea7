"""The server: the simulation's own loop, with an engine whose clients are SuperNodes."""

import math
from pathlib import Path
from typing import get_args

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp
from torch import Tensor, nn

from fedlab_core import files, validation
from fedlab_core.algorithms import Algorithm
from fedlab_core.aliases import Given
from fedlab_core.engines.flat import FlatModel
from fedlab_core.flower import OnFailure
from fedlab_core.flower.nodes import Nodes
from fedlab_core.history import History
from fedlab_core.remote import RemoteSimulation
from fedlab_core.settings import SettingsKeywords, from_keywords

ELSEWHERE = {
    "engine",
    "device",
    "threads",
    "held_out",
    "client_accuracy",
    "train_loss",
    "eval_every",
    "availability",
}


def build(
    model: nn.Module,
    algorithm: Algorithm,
    settings: SettingsKeywords,
    num_clients: int,
    out: Path,
    on_failure: OnFailure,
    timeout: float,
    test: tuple[Tensor, Tensor] | None,
) -> ServerApp:
    """See :func:`fedlab_core.flower.server_app`."""
    given: Given = settings
    for name in ELSEWHERE & given.keys():
        raise ValueError(f"{name}={given[name]!r}: does not apply to real clients; leave it out")
    validation.choice("on_failure", on_failure, get_args(OnFailure))
    validation.real("timeout", timeout, exclusive=True)
    checked = from_keywords({**given, "progress": False})
    checked.cohort_size(validation.integer("num_clients", num_clients, minimum=1))
    flat = FlatModel(model)
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        files.check_writable(out)
        nodes = Nodes(grid, num_clients, on_failure == "continue", timeout)
        nodes.connect(f"{flat.size} {str(flat.dtype).removeprefix('torch.')}")
        simulation = RemoteSimulation(nodes, model, algorithm, checked, test)
        sent = dict[int, tuple[int, int]]()
        for record in simulation:
            sent[record.round] = nodes.sent
            simulation.history.save(out)
            _write_table(simulation.history, sent, out.with_suffix(".csv"))
            clients = ", ".join(str(client) for cohort in simulation.cohorts for client in cohort)
            done = f"round {record.round} of {checked.rounds}: clients {clients}"
            print(
                f"{done}; train loss {record.train_loss:.4g}, {record.seconds:.1f} s so far",
                flush=True,
            )

    return app


def _write_table(history: History, sent: dict[int, tuple[int, int]], path: Path) -> None:
    """The records, and the bytes of the arrays in all messages so far."""
    table = history.frame
    for place, name in enumerate(("sent_down", "sent_up")):
        table[name] = [
            sent[number][place] if number in sent else math.nan for number in table["round"]
        ]
    with files.replacing(path) as file:
        file.write(table.to_csv(index=False).encode())
