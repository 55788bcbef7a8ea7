"""Checkpoint files: written atomically as rounds end, resumed bit for bit."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from fedlab_core import files
from fedlab_core.clients.table import ClientTable
from fedlab_core.history import differences

State = Callable[[], dict[str, Any]]
MAX_SHARE = 0.1


class Checkpoint:
    """One file. Writing it takes at most ``MAX_SHARE`` of the time: if rounds are short, some are not written."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._written_round = -1
        self._due = 0.0

    def begin(self, config: dict[str, Any]) -> dict[str, Any] | None:
        """Read the state in the file, or return None if there is no file.

        Raises ``ValueError`` if its configuration is not ``config``, it is damaged or the path is a folder, ``OSError``
        if no file can be written.
        """
        if self.path.is_dir():
            example = str(self.path / "run.npz")
            raise ValueError(f"checkpoint={str(self.path)!r}: must be a file, not a folder, for example {example!r}")
        if not self.path.exists():
            files.check_writable(self.path)
            return None
        meta, arrays = files.read(self.path, kind="checkpoint")
        with files.reading(self.path, "checkpoint"):
            changed = differences(meta["config"], config)
            state = {} if changed else _unpack(meta, arrays, config)
        if changed:
            raise ValueError(f"checkpoint={str(self.path)!r}: belongs to another run, with {'; '.join(changed)}")
        self._written_round = state["round"]
        return state

    def write_if_due(self, round: int, state: State) -> None:
        """Write the state, unless that would take more than ``MAX_SHARE`` of the time."""
        if time.monotonic() >= self._due:
            self.flush(round, state)

    def flush(self, round: int, state: State) -> None:
        """Write the state now, if a round has ended since the last time."""
        if round == self._written_round:
            return
        started = time.monotonic()
        meta, arrays = _pack(state())
        files.write(self.path, {"kind": "checkpoint", **meta}, arrays)
        self._written_round = round
        self._due = time.monotonic() + (time.monotonic() - started) / MAX_SHARE


def check_fits(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raise ``ValueError`` unless a run with the configuration ``ours`` can take the state of one with ``theirs``."""
    found, mine = _fit(theirs), _fit(ours)
    for name in mine:
        if found[name] != mine[name]:
            raise ValueError(f"state: {name}={found[name]!r}, but this run has {mine[name]!r}")


def _fit(config: dict[str, Any]) -> dict[str, Any]:
    """The part of a configuration that decides the names, shapes and dtypes of a state's tensors."""
    model = {name: config["model"][name] for name in ("num_parameters", "dtype")}
    return {"algorithm": config["algorithm"]["name"], "num_clients": config["num_clients"], **model}


def check_state(state: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for an entry of ``server.state`` that a checkpoint cannot restore exactly.

    Allowed are strided tensors without gradient of a dtype that NumPy has; client tables; and what JSON restores with
    the same types: None, bool, int, float, str, and lists and dictionaries of these with text keys.
    """
    for name, value in state.items():
        where = f"server.state[{name!r}]"
        if not isinstance(name, str) or not name.isprintable():
            raise ValueError(f"{where}: the name of an entry must be a printable text")
        if type(value) is torch.Tensor:
            if value.requires_grad or value.layout != torch.strided:
                raise ValueError(f"{where}: a tensor must be strided and without gradient; use .detach()")
            files.as_numpy(where, torch.empty(0, dtype=value.dtype))
        elif not isinstance(value, ClientTable) and not _is_plain(value):
            raise ValueError(
                f"{where} is {value!r:.60} ({type(value).__name__}): must be a tensor (torch.from_numpy of an array), "
                "a client table, None, bool, int, float, str, or lists and dictionaries (keys: texts) of the last five"
            )


def _is_plain(value: Any, depth: int = 100) -> bool:
    """Whether JSON restores ``value`` with the same types; at most ``depth`` lists or dictionaries deep."""
    if type(value) is list:
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    if type(value) is dict:
        return depth > 0 and all(type(key) is str and _is_plain(part, depth - 1) for key, part in value.items())
    return value is None or type(value) in (bool, int, float, str)


def _pack(state: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    algorithm = state.pop("algorithm")
    check_state(algorithm)
    arrays: dict[str, Any] = {"params": state.pop("params")}
    if (accuracy := state.pop("client_accuracy")) is not None:
        arrays["client_accuracy"] = accuracy
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
    algorithm: dict[str, Any] = {}
    for name, (kind, *plain) in meta["state"].items():
        if kind == "table":
            clients, rows = arrays[f"clients/{name}"], torch.from_numpy(arrays[f"rows/{name}"])
            algorithm[name] = ClientTable.from_rows(config["num_clients"], clients, rows)
        else:
            algorithm[name] = torch.from_numpy(arrays[f"state/{name}"]) if kind == "tensor" else plain[0]
    read = {name: meta[name] for name in ("round", "seconds", "ledger", "records")}
    read |= {"config": config, "params": torch.from_numpy(arrays["params"]), "algorithm": algorithm}
    return read | {"client_accuracy": arrays.get("client_accuracy")}
