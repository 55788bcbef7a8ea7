"""Whole and changed archives, and how they are read."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.checkpoints import Checkpoint
from fedlab_core.clients.table import ClientTable
from tests.core.test_checkpoints import simulation

OTHER = "loads, but to other content"


class Counting(fl.Scaffold):
    def aggregate(self, server, updates):
        server.state["cohorts"] = [*server.state.get("cohorts", []), updates.clients.tolist()]
        return super().aggregate(server, updates)


def write_files(folder: Path) -> dict[str, Path]:
    """A finished run's checkpoint and its history."""
    paths = {kind: folder / f"{kind}.npz" for kind in ("checkpoint", "history")}
    simulation(Counting(), checkpoint=paths["checkpoint"]).run().save(paths["history"])
    return paths


@cache
def loaders() -> dict[str, Callable[[Path], str]]:
    """Functions from a file to all that is read from it, as text; floats and arrays to the last bit."""
    config = simulation(Counting()).history.config

    def history(path: Path) -> str:
        loaded = fl.History.load(path)
        model = [p.detach() for p in loaded.model.parameters()] if loaded.template is not None else None
        return exactly([loaded.config, loaded.rows(), loaded.params, vars(loaded.clients), model])

    return {"checkpoint": lambda path: exactly(Checkpoint(path).read(config)), "history": history}


def exactly(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {exactly(part)}" for key, part in sorted(value.items())) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(exactly, value)) + "]"
    if isinstance(value, ClientTable):
        return f"table {exactly(list(value.stored()))} of {value.num_clients}"
    if isinstance(value, (torch.Tensor, np.ndarray)):
        array = np.asarray(value)
        return f"{array.dtype} {array.shape} {array.tobytes().hex()}"
    return repr(value)


def unpack(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("__meta__").tobytes()), arrays


def pack(path: Path, meta: Any, arrays: dict[str, np.ndarray]) -> Path:
    np.savez(path, __meta__=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)
    return path


def refused_or_the_same(path: Path, load: Callable[[Path], str], expected: str) -> str | None:
    """What is wrong with how ``path`` is read, if something is."""
    try:
        return None if load(path) == expected else OTHER
    except ValueError as error:
        return None if str(path) in str(error) else f"does not name the file: {error}"
    except Exception as error:
        return f"{type(error).__name__} from inside: {error}"


def must_refuse(path: Path, load: Callable[[Path], str]) -> str | None:
    try:
        load(path)
    except ValueError:
        return None
    return "loads"
