"""What an algorithm is: who trains, how the local gradient is corrected, how the server combines."""

import difflib
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import PLAIN, Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.reproduce.description import in_words
from fedlab_core.server import Server
from fedlab_core.settings import Settings

Needs = Literal["mean", "each", "own"]


class Algorithm:
    """Base class: every method below has FedAvg's behaviour; a subclass overrides what differs.

    An instance holds hyper-parameters only. All state lives in ``server.state``, so one instance can serve many runs.
    FedProx, for example, is::

        class FedProx(Algorithm):
            def __init__(self, mu):
                self.mu = mu

            def correction(self, server, client):
                return Correction(weight=self.mu, anchor=server.params)

    ``needs`` tells what wraps it (``Compressed``, ``Private``) what it makes of the local parameters: "mean", nothing
    but a mean of those of one uniform cohort a round; "each", those of every client, as the server received them;
    "own", also what only the client knows, who has them exactly, such as a control variate.
    """

    title: ClassVar[str] = ""  # how its name is written, where that is not the name of its class
    needs: ClassVar[Needs] = "own"  # the safe answer for an algorithm that does not say

    def __init_subclass__(cls) -> None:
        """Refuse a misspelled hook, which would never be called."""
        super().__init_subclass__()
        hooks = [name for name in vars(Algorithm) if not name.startswith("_")]
        for name in vars(cls).keys() - set(dir(Algorithm)):
            if not name.startswith("_") and (near := difflib.get_close_matches(name, hooks, n=1, cutoff=0.8)):
                raise TypeError(f"{cls.__name__}.{name}: is not a hook of Algorithm. Did you mean {near[0]!r}?")

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        """Raise ``ValueError`` for a federation or settings that it cannot run with, before any work starts."""

    def setup(self, server: Server) -> None:
        """Before round 1: create ``server.state`` entries, probe clients. Does nothing by default."""

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
        """The cohorts of this round, each an int64 array of clients, trained and aggregated one after another.

        When the next one is asked for, ``server.params`` is the aggregate of the one before. A pair (clients, tag)
        leaves the tag in ``server.tag`` for the methods below, who may want to know whose cohort it is.
        """
        yield server.uniform_cohort()

    def correction(self, server: Server, client: int) -> Correction:
        """How this client's local steps differ from plain SGD that begins at ``server.params``."""
        return PLAIN

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        """What the server receives of what the clients have: all of it. One may compress it, clip it or add noise."""
        return updates

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """The next global parameters [P]; may update ``server.state``. By default Σ n_k y_k / Σ n_k."""
        return updates.weighted_mean()

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        """Once ``server.params`` is the aggregate of these ``updates``, before the next cohort. By default nothing."""

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        """The model that these K clients use, and are measured with: w [P] by default, or a row for each, [K, P]."""
        return server.params

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[float, float]:
        """Numbers (not bytes) sent (down, up) for one cohort, all its clients together; asked before aggregation.

        What is smaller than a parameter is a fraction: an index of 4 bytes among float64 parameters is half a number.
        """
        return len(cohort) * server.num_parameters, len(cohort) * server.num_parameters

    def describe(self) -> dict[str, Any]:
        """Name and hyper-parameters, for the configuration of a run."""
        return {"name": type(self).__name__, **vars(self)}

    def __str__(self) -> str:
        """Its name and what was chosen, such as "FedSSO(noise=drop)"; a dataclass leaves out what is at its default."""
        return in_words(self)
