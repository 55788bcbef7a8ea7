"""Checkpoint files: written atomically as rounds end, resumed bit for bit."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fedlab_core import archive
from fedlab_core.client_table import ClientTable
from fedlab_core.history import differences

State = Callable[[], dict[str, Any]]
MAX_SHARE = 0.1


class Checkpoint:
    """One file. At most ``MAX_SHARE`` of the time goes into writing it: a round that ends sooner waits for a later one.

    Leaving the loop over a simulation always writes the last finished round.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._written_round = -1
        self._due = 0.0

    def write_if_due(self, round: int, state: State) -> None:
        """Write the state, unless the last writing was so long and so recent that it would slow the run."""
        if time.monotonic() >= self._due:
            self.flush(round, state)

    def flush(self, round: int, state: State) -> None:
        """Write the state now, if a round has ended since the last time."""
        if round == self._written_round:
            return
        started = time.monotonic()
        meta, arrays = _pack(state())
        archive.write(self.path, {"kind": "checkpoint", **meta}, arrays)
        self._written_round = round
        self._due = time.monotonic() + (time.monotonic() - started) / MAX_SHARE

    def read(self, config: dict[str, Any]) -> dict[str, Any]:
        """The state in the file. Raises ``ValueError`` if it was written under another configuration."""
        meta, arrays = archive.read(self.path, kind="checkpoint")
        changed = differences(meta["config"], config)
        if changed:
            raise ValueError(f"checkpoint={str(self.path)!r}: belongs to another run, with {'; '.join(changed)}")
        self._written_round = meta["round"]
        return _unpack(meta, {name: torch.from_numpy(array) for name, array in arrays.items()})


def _pack(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays: dict[str, Any] = {"params": state.pop("params")}
    tables = {}
    for name, value in state.pop("algorithm").items():
        if isinstance(value, ClientTable):
            tables[name] = value.num_clients
            arrays[f"clients/{name}"], arrays[f"rows/{name}"] = value.stored()
        else:
            arrays[f"state/{name}"] = value
    return {**state, "tables": tables}, arrays


def _unpack(meta: dict[str, Any], arrays: dict[str, torch.Tensor]) -> dict[str, Any]:
    algorithm: dict[str, Any] = {
        name.removeprefix("state/"): value for name, value in arrays.items() if name.startswith("state/")
    }
    for name, num_clients in meta["tables"].items():
        table = ClientTable(num_clients, arrays["params"])
        table[arrays[f"clients/{name}"].numpy()] = arrays[f"rows/{name}"]
        algorithm[name] = table
    return {**meta, "params": arrays["params"], "algorithm": algorithm}
