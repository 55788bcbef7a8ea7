"""The result of a run.

It has a record per evaluated round, accuracy per client, the final model and the configuration.
"""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd
import torch
from torch import nn

from fedlab_core import files, inspection, models
from fedlab_core.aliases import Config, Given
from fedlab_core.engines.flat import FlatModel


@dataclass(frozen=True)
class RoundRecord:
    """One round; accuracy and losses are NaN in rounds without an evaluation.

    ``server_updates`` aggregations so far; ``test_accuracy`` in [0, 1] (NaN for regression) and
    ``test_loss`` on the test set; ``train_loss`` the objective F(w) on at most 10,000 of the
    clients' samples; ``bytes_up``, ``bytes_down`` and ``seconds`` of computation since the start;
    ``drift`` the mean over the cohort of ‖y_k − w‖₂; ``lr`` η.
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
    """Accuracy of each client's final model on its own samples, or on those held out.

    ``accuracy``, ``sizes`` [N].
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
        """One row per client: its number, its samples in the measurement, its accuracy."""
        columns = {
            "client": np.arange(len(self.sizes)),
            "samples": self.sizes,
            "accuracy": self.accuracy,
        }
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        accuracy = f"accuracy {self.mean:.3f} ± {self.std:.3f}, worst 10 %: {self.worst_decile:.3f}"
        return f"ClientReport({len(self.sizes)} clients, {accuracy})"


@dataclass
class History:
    """The result of a run.

    ``records`` the evaluated rounds; ``config`` everything needed to run it again; ``params`` [P]
    the final global parameters; ``clients`` the accuracy per client at the end (None for
    regression); ``client_accuracy`` [R, N] for every record, if the setting ``client_accuracy`` is
    True.
    """

    config: Config
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
        """The final global model.

        For a model that is not built in, load the file with ``load(path, model=…)``.
        """
        if self.params is None:
            raise ValueError("this history has no model: no round was finished")
        if self.template is None:
            raise ValueError(
                "the file has parameters but no module: use History.load(path, model=…)"
            )
        return FlatModel(self.template).with_parameters(self.params.cpu())

    def save(self, path: str | Path) -> None:
        """Write everything to one ``.npz`` file (JSON and arrays, no code), atomically."""
        arrays = dict[str, np.ndarray | torch.Tensor]()
        if self.params is not None:
            arrays["params"] = self.params
        if self.clients is not None:
            arrays["clients_accuracy"] = self.clients.accuracy
            arrays["clients_sizes"] = self.clients.sizes
        if self.client_accuracy is not None:
            arrays["client_accuracy"] = self.client_accuracy
        meta = {"kind": "history", "config": self.config, "records": self.rows()}
        files.write(path, meta, arrays)

    @classmethod
    def load(cls, path: str | Path, model: nn.Module | None = None) -> Self:
        """Read a history that :meth:`save` wrote. ``model``: the architecture, for models that are
        not built in.

        Raises ``ValueError`` if the file is damaged or of another kind, or if ``model`` does not
        fit it.
        """
        meta, arrays = files.read(path, kind="history")
        with files.reading(path, "history"):
            config = meta["config"]
            expected = config["model"]["num_parameters"], config["model"]["dtype"]
            history = cls(config, [RoundRecord(**row) for row in meta["records"]])
            if history.records or "params" in arrays:
                history.params = torch.from_numpy(arrays["params"])
            if "clients_accuracy" in arrays:
                history.clients = ClientReport(arrays["clients_accuracy"], arrays["clients_sizes"])
            history.client_accuracy = arrays.get("client_accuracy")
            history.template = rebuild(config["model"]) if model is None else model
        if history.template is not None:
            size, dtype = _parameters(history.template)
            if (size, dtype) != expected:
                raise ValueError(
                    f"model: has {size} parameters of {dtype}, but {path} holds {expected[0]} of "
                    f"{expected[1]}"
                )
            if inspection.frozen_digest(history.template) != config["model"].get("frozen", ""):
                raise ValueError(
                    f"model: its frozen parameters or buffers are not those of the run in {path}"
                )
        return history

    def rows(self) -> list[Config]:
        """The records as plain dictionaries."""
        return [asdict(record) for record in self.records]


def differences(recorded: Given, current: Given) -> list[str]:
    """List the differences of two configurations, one phrase each, without versions."""
    now = json.loads(json.dumps(dict(current)))  # with the types that JSON has
    phrases = []
    for key in sorted({*recorded, *now}):
        if key != "versions" and recorded.get(key) != now.get(key):
            phrases.append(f"{key}: {recorded.get(key)!r} there, {now.get(key)!r} now")
    return phrases


def _parameters(model: nn.Module) -> tuple[int, str]:
    if not isinstance(model, nn.Module):
        raise ValueError(f"model={model!r}: must be a torch.nn.Module")
    trained = inspection.trainable(model).values()
    dtypes = {str(parameter.dtype).removeprefix("torch.") for parameter in trained}
    return sum(parameter.numel() for parameter in trained), " and ".join(sorted(dtypes))


def rebuild(description: Given) -> nn.Module | None:
    """Build the model of a configuration with its initial weights, if it is built in."""
    if "arguments" not in description:
        return None
    dtype = getattr(torch, description["dtype"])
    return models.build(description["name"], description["arguments"], description["seed"], dtype)
