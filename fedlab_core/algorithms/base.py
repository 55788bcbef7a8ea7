"""The base class of all algorithms.

It says which clients train, how gradients are corrected, and how the server combines.
"""

import difflib
from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.aliases import Config
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import PLAIN, Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.description import in_words
from fedlab_core.server import Server
from fedlab_core.settings import Settings

Needs = Literal["mean", "each", "own"]


class Algorithm:
    """Base class with FedAvg's behaviour; a subclass overrides what differs.

    An instance holds hyper-parameters only; all state is in ``server.state``, so that one instance
    serves many runs. FedProx is:

        class FedProx(Algorithm):
            def __init__(self, mu):
                self.mu = mu

            def correction(self, server, client):
                return Correction(weight=self.mu, anchor=server.params)

    ``needs``: which local parameters the server needs, for ``Compressed`` and ``Private``. "mean":
    only their mean over one uniform cohort per round; "each": those of every client, as the server
    received them; "own": also quantities that clients compute from their exact parameters, such as
    control variates.
    """

    title: ClassVar[str] = ""  # the displayed name, if it is not the name of the class
    needs: ClassVar[Needs] = "own"  # the safe default

    def __init_subclass__(cls) -> None:
        """Refuse a misspelled hook, which would never be called."""
        super().__init_subclass__()
        hooks = [name for name in vars(Algorithm) if not name.startswith("_")]
        own = [name for name in vars(cls) if not name.startswith("_")]
        for name in set(own) - set(dir(Algorithm)):
            near = difflib.get_close_matches(name, hooks, n=1, cutoff=0.8)
            if near:
                raise TypeError(
                    f"{cls.__name__}.{name}: is not a hook of Algorithm. Did you mean {near[0]!r}?"
                )

    def __post_init__(self) -> None:
        """Check the parameters of an algorithm that is a dataclass by their declared types."""
        validation.check_fields(self)

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        """Raise ``ValueError``, before any training, for data or settings that do not fit."""

    def setup(self, server: Server) -> None:
        """Prepare round 1: create entries of ``server.state``, probe clients; here nothing."""

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
        """Yield the cohorts of this round, int64 arrays of clients, trained and aggregated one
        after another.

        Between two of them ``server.params`` becomes the aggregate of the first. A pair (clients,
        tag) sets ``server.tag`` for the methods below.
        """
        yield server.uniform_cohort()

    def correction(self, server: Server, client: int) -> Correction:
        """The correction of this client's local steps; by default plain SGD."""
        return PLAIN

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        """What the server receives: by default everything, without compression or noise."""
        return updates

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        """Compute the next global parameters [P], by default Σ n_k y_k / Σ n_k.

        It may update ``server.state``.
        """
        return updates.weighted_mean()

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        """Act after ``server.params`` became the aggregate, before the next cohort."""

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        """The model that these K clients are measured with.

        By default w [P]; or a row for each client [K, P].
        """
        return server.params

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[float, float]:
        """Count the numbers, not bytes, sent (down, up) for all clients of a cohort; called before
        aggregation.

        Values smaller than a parameter are fractions: an index of 4 bytes beside float64 parameters
        is 0.5.
        """
        return len(cohort) * server.num_parameters, len(cohort) * server.num_parameters

    def describe(self) -> Config:
        """The name and the hyper-parameters, for the configuration of a run."""
        return {"name": type(self).__name__, **vars(self)}

    def __str__(self) -> str:
        """The name and what differs from the defaults, such as "FedSSO(noise=drop)"."""
        return in_words(self)
