"""What an algorithm is: who trains, how the local gradient is corrected, how the server combines."""

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from fedlab_core.correction import Correction
from fedlab_core.updates import LocalUpdates

if TYPE_CHECKING:
    from fedlab_core.server import Server


class Algorithm:
    """Base class: every method below has FedAvg's behaviour; a subclass overrides what differs.

    An instance holds hyper-parameters only. All state lives in ``server.state``, so one instance can serve many runs.
    FedProx, for example, is::

        class FedProx(Algorithm):
            def __init__(self, mu):
                self.mu = mu

            def correction(self, server, client):
                return Correction(weight=self.mu, anchor=server.params)
    """

    def setup(self, server: "Server") -> None:
        """Before round 1: create ``server.state`` entries, probe clients. Does nothing by default."""

    def cohorts(self, server: "Server") -> Iterable[np.ndarray]:
        """The cohorts of this round, each an int64 array of clients, trained and aggregated one after another."""
        yield server.uniform_cohort()

    def correction(self, server: "Server", client: int) -> Correction:
        """How this client's local gradient is corrected."""
        return Correction()

    def aggregate(self, server: "Server", updates: LocalUpdates) -> torch.Tensor:
        """The next global parameters [P]; may update ``server.state``. By default Σ n_k y_k / Σ n_k."""
        return updates.weighted_mean()

    def communication(self, server: "Server", cohort: np.ndarray) -> tuple[int, int]:
        """Numbers (not bytes) sent (down, up) for one cohort, all its clients together; asked before aggregation."""
        return len(cohort) * server.num_parameters, len(cohort) * server.num_parameters

    def describe(self) -> dict[str, Any]:
        """Name and hyper-parameters, for the configuration of a run."""
        return {"name": type(self).__name__, **vars(self)}

    def __str__(self) -> str:
        """Its name and what was chosen, such as "FedSSO(noise=drop)"; a dataclass leaves out what is at its default."""
        fields: tuple[Any, ...] = dataclasses.fields(self) if dataclasses.is_dataclass(self) else ()
        defaults: dict[str, Any] = {field.name: field.default for field in fields}
        chosen = {key: value for key, value in vars(self).items() if key not in defaults or value != defaults[key]}
        return f"{type(self).__name__}({', '.join(f'{name}={_short(value)}' for name, value in chosen.items())})"


def _short(value: Any) -> str:
    return f"[{len(value)} values]" if isinstance(value, list) else str(value)
