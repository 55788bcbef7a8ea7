"""Checkpoint files: written atomically as rounds end, resumed bit for bit."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fedlab_core import archive, atomic
from fedlab_core.client_table import ClientTable
from fedlab_core.history import differences, params_from, records_from
from fedlab_core.server import Ledger
from fedlab_core.server_state import check_state

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
        """The state in the file, as :func:`check_state` allows it.

        Raises ``ValueError`` if it was written under another configuration, or is no checkpoint, or is damaged.
        """
        atomic.remove_leftovers(self.path)
        meta, arrays = archive.read(self.path, kind="checkpoint")
        with archive.reading(self.path, "checkpoint"):
            changed = differences(archive.entry(meta, "config", dict), config)
            state = {} if changed else _unpack(meta, arrays, config)
        if changed:
            raise ValueError(f"checkpoint={str(self.path)!r}: belongs to another run, with {'; '.join(changed)}")
        self._written_round = state["round"]
        return state


def _pack(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    algorithm, num_clients = state.pop("algorithm"), state["config"]["num_clients"]
    check_state(algorithm, num_clients)
    arrays: dict[str, Any] = {"params": state.pop("params")}
    kinds: dict[str, list[Any]] = {}
    for name, value in algorithm.items():
        if isinstance(value, ClientTable):
            kinds[name] = ["table"]
            arrays[f"clients/{name}"], arrays[f"rows/{name}"] = value.stored()
        elif isinstance(value, torch.Tensor):
            kinds[name] = ["tensor"]
            arrays[f"state/{name}"] = value
        else:
            kinds[name] = ["plain", value]
    return {**state, "state": kinds}, arrays


def _unpack(meta: dict[str, Any], arrays: dict[str, np.ndarray], config: dict[str, Any]) -> dict[str, Any]:
    plain = {"round": int, "seconds": float, "ledger": dict, "records": list}
    state = {name: archive.entry(meta, name, kind) for name, kind in plain.items()}
    archive.record(Ledger, state["ledger"])
    rounds = [record.round for record in records_from(state["records"])]
    if not max([1, *rounds]) <= state["round"] <= config["rounds"]:
        raise ValueError(f"its round is {state['round']}, its records are of {rounds!s:.80}")
    algorithm: dict[str, Any] = {}
    for name, kind in archive.entry(meta, "state", dict).items():
        match kind:
            case ["table"]:
                clients, rows = arrays.pop(f"clients/{name}"), torch.from_numpy(arrays.pop(f"rows/{name}"))
                algorithm[name] = ClientTable.from_rows(config["num_clients"], clients, rows)
            case ["tensor"]:
                algorithm[name] = torch.from_numpy(arrays.pop(f"state/{name}"))
            case ["plain", value]:
                algorithm[name] = value
            case _:
                raise ValueError(f"its state {name!r} is {kind!r:.60}")
    state |= {"config": config, "params": params_from(arrays, config), "algorithm": algorithm}
    if set(arrays) != {"params"}:
        raise ValueError(f"its arrays {sorted(arrays)!s:.80} are not all those of a state")
    return state
