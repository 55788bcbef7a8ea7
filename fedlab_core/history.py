"""The result of a run: a record per evaluated round, accuracy per client, the final model and the configuration."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from torch import nn

from fedlab_core import files, models
from fedlab_core.checks import inspection
from fedlab_core.engines.flat import FlatModel


@dataclass(frozen=True)
class RoundRecord:
    """One round.

    ``round`` 1 for the first; ``server_updates`` aggregations so far; ``test_accuracy`` in [0, 1] (NaN for regression)
    and ``test_loss`` on the test set; ``train_loss`` the objective F(w) on at most 10,000 of the clients' samples;
    ``bytes_up`` and ``bytes_down`` since the start; ``drift`` the mean over the cohort of ‖y_k − w‖₂; ``lr`` η of the
    round; ``seconds`` of computation since the start. Accuracy and losses are NaN in rounds without an evaluation.
    """

    round: int
    server_updates: int
    test_accuracy: float
    test_loss: float
    train_loss: float
    bytes_up: int
    bytes_down: int
    drift: float
    lr: float
    seconds: float

    @property
    def evaluated(self) -> bool:
        return not math.isnan(self.test_loss) or not math.isnan(self.train_loss)


@dataclass(frozen=True)
class ClientReport:
    """Accuracy of each client on its own samples, or on those held out: ``accuracy`` [N] in [0, 1], ``sizes`` [N].

    Each client uses the final global model, or its own model if the algorithm makes one.
    """

    accuracy: np.ndarray
    sizes: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.accuracy.mean())

    @property
    def std(self) -> float:
        """Population standard deviation over clients."""
        return float(self.accuracy.std())

    @property
    def worst_decile(self) -> float:
        """Mean accuracy of the worst 10 % of clients (at least one)."""
        count = max(1, len(self.accuracy) // 10)
        return float(np.sort(self.accuracy)[:count].mean())

    @property
    def frame(self) -> pd.DataFrame:
        """Columns ``client``, ``size``, ``accuracy``."""
        return pd.DataFrame({"client": range(len(self.sizes)), "size": self.sizes, "accuracy": self.accuracy})

    def __repr__(self) -> str:
        accuracy = f"accuracy {self.mean:.3f} ± {self.std:.3f}, worst 10 %: {self.worst_decile:.3f}"
        return f"ClientReport({len(self.sizes)} clients, {accuracy})"


@dataclass
class History:
    """The result of a run.

    ``records`` the evaluated rounds; ``config`` everything needed to run it again; ``params`` [P] the final global
    parameters; ``clients`` the accuracy per client at the end (None for regression); ``client_accuracy`` [R, N] the
    same for every record (None unless the setting ``client_accuracy`` is True).
    """

    config: dict[str, Any]
    records: list[RoundRecord] = field(default_factory=list)
    params: torch.Tensor | None = None
    clients: ClientReport | None = None
    client_accuracy: np.ndarray | None = None
    template: nn.Module | None = field(default=None, repr=False)

    @property
    def frame(self) -> pd.DataFrame:
        """One row per evaluated round; the columns are the fields of :class:`RoundRecord`."""
        return pd.DataFrame(self.rows(), columns=[f.name for f in fields(RoundRecord)])

    @property
    def model(self) -> nn.Module:
        """The final global model. For a model that is not built in, load the file with ``load(path, model=…)``."""
        if self.params is None:
            raise ValueError("this history has no model: no round was finished")
        if self.template is None:
            raise ValueError("the file has parameters but no module: use History.load(path, model=…)")
        return FlatModel(self.template).with_parameters(self.params.cpu())

    def save(self, path: str | Path) -> None:
        """Write everything to one ``.npz`` file (JSON and arrays, nothing executable), atomically."""
        arrays: dict[str, Any] = {"params": self.params} if self.params is not None else {}
        if self.clients is not None:
            arrays |= {"clients_accuracy": self.clients.accuracy, "clients_sizes": self.clients.sizes}
        if self.client_accuracy is not None:
            arrays["client_accuracy"] = self.client_accuracy
        files.write(path, {"kind": "history", "config": self.config, "records": self.rows()}, arrays)

    @classmethod
    def load(cls, path: str | Path, model: nn.Module | None = None) -> Self:
        """Read a history that :meth:`save` wrote. ``model``: the architecture, for models that are not built in.

        Raises ``ValueError`` if the file is damaged or of another kind, or if ``model`` does not fit it.
        """
        meta, arrays = files.read(path, kind="history")
        with files.reading(path, "history"):
            config = files.entry(meta, "config", dict)
            history = cls(config, records_from(files.entry(meta, "records", list)))
            size, dtype = _parameters_of(config)
            if history.records or "params" in arrays:
                history.params = params_from(arrays, config)
            history.clients = _clients_from(arrays, files.entry(config, "num_clients", int))
            history.client_accuracy = client_accuracy_from(arrays, config, len(history.records))
            history.template = rebuild(config["model"]) if model is None else model
        if history.template is not None:
            if (found := _parameters(history.template)) != (size, dtype):
                raise ValueError(f"model: has {found[0]} parameters of {found[1]}, but {path} holds {size} of {dtype}")
            if inspection.frozen_digest(history.template) != config["model"].get("frozen", ""):
                raise ValueError(f"model: its frozen parameters or buffers are not those of the run in {path}")
        return history

    def rows(self) -> list[dict[str, Any]]:
        """The records as plain dictionaries."""
        return [asdict(record) for record in self.records]


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """List the differences of two configurations, one phrase each, without versions."""
    same = json.loads(json.dumps(dict(new)))
    keys = [key for key in sorted({*old, *same}) if key != "versions"]
    return [f"{key}: {old.get(key)!r} there, {same.get(key)!r} now" for key in keys if old.get(key) != same.get(key)]


def records_from(rows: list[Any]) -> list[RoundRecord]:
    """Convert the rows of a file to records; ``ValueError`` unless their rounds increase."""
    records = [files.record(RoundRecord, row) for row in rows]
    if any(after.round <= before.round for before, after in pairwise(records)):
        raise ValueError("the rounds of its records do not increase")
    return records


def params_from(arrays: Mapping[str, np.ndarray], config: Mapping[str, Any]) -> torch.Tensor:
    """Get the parameters [P] from a file; ``ValueError`` unless they fit the model in ``config``."""
    size, dtype = _parameters_of(config)
    found = arrays.get("params")
    if found is None or found.shape != (size,) or str(found.dtype) != dtype:
        has = "missing" if found is None else f"{found.dtype} {list(found.shape)}"
        raise ValueError(f"its params are {has}, but must be {dtype} [{size}]")
    return torch.from_numpy(found)


def client_accuracy_from(
    arrays: Mapping[str, np.ndarray], config: Mapping[str, Any], records: int
) -> np.ndarray | None:
    """Get the accuracies [R, N] from a file, if ``config`` asks for them; ``ValueError`` for another shape."""
    if not config.get("client_accuracy"):
        return None
    found, shape = arrays.get("client_accuracy"), (records, config["num_clients"])
    if found is None or (found.shape, str(found.dtype)) != (shape, "float64"):
        raise ValueError(f"its client_accuracy is not float64 {list(shape)}")
    return found


def _parameters_of(config: Mapping[str, Any]) -> tuple[int, str]:
    model = files.entry(config, "model", dict)
    return files.entry(model, "num_parameters", int), files.entry(model, "dtype", str)


def _parameters(model: nn.Module) -> tuple[int, str]:
    if not isinstance(model, nn.Module):
        raise ValueError(f"model={model!r}: must be a torch.nn.Module")
    trained = inspection.trainable(model).values()
    dtypes = {str(parameter.dtype).removeprefix("torch.") for parameter in trained}
    return sum(parameter.numel() for parameter in trained), " and ".join(sorted(dtypes))


def _clients_from(arrays: Mapping[str, np.ndarray], num_clients: int) -> ClientReport | None:
    found = [arrays[name] for name in ("clients_accuracy", "clients_sizes") if name in arrays]
    kinds = [(str(array.dtype), array.shape) for array in found]
    if found and kinds != [("float64", (num_clients,)), ("int64", (num_clients,))]:
        raise ValueError(f"its client accuracies and sizes are not those of {num_clients} clients")
    return ClientReport(*found) if found else None


def rebuild(description: Mapping[str, Any]) -> nn.Module | None:
    """Build the model of a configuration with its initial weights, if it is built in."""
    if "arguments" not in description:
        return None
    dtype = getattr(torch, description["dtype"])
    return models.build(description["name"], description["arguments"], description["seed"], dtype)
