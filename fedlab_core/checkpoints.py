"""Checkpoint files: written atomically as rounds end, resumed bit for bit."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch

from fedlab_core import files
from fedlab_core.aliases import AlgorithmState, Config, RunState
from fedlab_core.clients.table import ClientTable
from fedlab_core.history import differences

MakeState = Callable[[], RunState]
Arrays: TypeAlias = dict[str, np.ndarray | torch.Tensor]
MAX_SHARE = 0.1


class Checkpoint:
    """One file. Writing it takes at most ``MAX_SHARE`` of the time.

    If rounds are short, some are not written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._written_round = -1
        self._due = 0.0

    def begin(self, config: Config) -> RunState | None:
        """Read the state in the file, or return None if there is no file.

        Raises ``ValueError`` if its configuration is not ``config``, it is damaged or the path is a
        folder, ``OSError`` if no file can be written.
        """
        if self.path.is_dir():
            example = str(self.path / "run.npz")
            raise ValueError(
                f"checkpoint={str(self.path)!r}: must be a file, not a folder, for example "
                f"{example!r}"
            )
        if not self.path.exists():
            files.check_writable(self.path)
            return None
        meta, arrays = files.read(self.path, kind="checkpoint")
        with files.reading(self.path, "checkpoint"):
            changed = differences(meta["config"], config)
            state = {} if changed else _unpack(meta, arrays, config)
        if changed:
            raise ValueError(
                f"checkpoint={str(self.path)!r}: belongs to another run, with {'; '.join(changed)}"
            )
        self._written_round = state["round"]
        return state

    def write_if_due(self, round: int, state: MakeState) -> None:
        """Write the state, unless that would take more than ``MAX_SHARE`` of the time."""
        if time.monotonic() >= self._due:
            self.flush(round, state)

    def flush(self, round: int, state: MakeState) -> None:
        """Write the state now, if a round has ended since the last time."""
        if round == self._written_round:
            return
        started = time.monotonic()
        meta, arrays = _pack(state())
        files.write(self.path, {"kind": "checkpoint", **meta}, arrays)
        self._written_round = round
        self._due = time.monotonic() + (time.monotonic() - started) / MAX_SHARE


def check_fits(theirs: Config, ours: Config) -> None:
    """Raise ``ValueError`` unless a run with the configuration ``ours`` can take a state.

    ``theirs``: the configuration of the run that the state comes from.
    """
    given = _form(theirs)
    needed = _form(ours)
    for name in needed:
        if given[name] != needed[name]:
            raise ValueError(f"state: {name}={given[name]!r}, but this run has {needed[name]!r}")


def _form(config: Config) -> Config:
    """What decides the names, shapes and dtypes of the tensors in a state."""
    return {
        "algorithm": config["algorithm"]["name"],
        "num_clients": config["num_clients"],
        "num_parameters": config["model"]["num_parameters"],
        "dtype": config["model"]["dtype"],
    }


def check_state(state: Mapping[str, object]) -> None:
    """Raise ``ValueError`` for an entry of ``server.state`` that a checkpoint cannot restore
    exactly.

    Allowed are strided tensors without gradient of a dtype that NumPy has; client tables; and what
    JSON restores with the same types: None, bool, int, float, str, and lists and dictionaries of
    these with text keys.
    """
    for name, value in state.items():
        where = f"server.state[{name!r}]"
        if not isinstance(name, str) or not name.isprintable():
            raise ValueError(f"{where}: the name of an entry must be a printable text")
        if type(value) is torch.Tensor:
            if value.requires_grad or value.layout != torch.strided:
                raise ValueError(
                    f"{where}: a tensor must be strided and without gradient; use .detach()"
                )
            files.as_numpy(where, torch.empty(0, dtype=value.dtype))
        elif not isinstance(value, ClientTable) and not _is_plain(value):
            raise ValueError(
                f"{where} is {value!r:.60} ({type(value).__name__}): must be a tensor "
                "(torch.from_numpy of an array), a client table, None, bool, int, float, str, or "
                "lists and dictionaries (keys: texts) of the last five"
            )


def _is_plain(value: object, depth: int = 100) -> bool:
    """Whether JSON restores ``value`` with the same types.

    ``depth``: how deep lists and dictionaries may be nested.
    """
    if type(value) is list:
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value)
    if type(value) is dict:
        if not all(type(key) is str for key in value):
            return False
        return depth > 0 and all(_is_plain(part, depth - 1) for part in value.values())
    return value is None or type(value) in (bool, int, float, str)


def _pack(state: RunState) -> tuple[Config, Arrays]:
    """Divide a state into what JSON holds, and arrays."""
    algorithm = state.pop("algorithm")
    check_state(algorithm)
    arrays: Arrays = {"params": state.pop("params")}
    accuracy = state.pop("client_accuracy")
    if accuracy is not None:
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


def _unpack(meta: Config, arrays: dict[str, np.ndarray], config: Config) -> RunState:
    """Join what :func:`_pack` divided."""
    algorithm: AlgorithmState = {}
    for name, (kind, *plain) in meta["state"].items():
        if kind == "table":
            clients = arrays[f"clients/{name}"]
            rows = torch.from_numpy(arrays[f"rows/{name}"])
            algorithm[name] = ClientTable.from_rows(config["num_clients"], clients, rows)
        elif kind == "tensor":
            algorithm[name] = torch.from_numpy(arrays[f"state/{name}"])
        else:
            algorithm[name] = plain[0]
    return {
        "config": config,
        "round": meta["round"],
        "seconds": meta["seconds"],
        "ledger": meta["ledger"],
        "records": meta["records"],
        "params": torch.from_numpy(arrays["params"]),
        "client_accuracy": arrays.get("client_accuracy"),
        "algorithm": algorithm,
    }
