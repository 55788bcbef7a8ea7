"""What wraps an algorithm: it is asked first and passes on what it does not change."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import torch

from fedlab_core.algorithms.base import Algorithm, Needs
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.server import Server
from fedlab_core.settings import Settings


class Wrapper(Algorithm):
    """Base class: does in everything what ``inner`` does; a subclass overrides what differs.

    Both keep their state in ``server.state``, so the names of their entries must differ. ``describe`` tells of the
    inner algorithm as of any hyper-parameter, and a run can be made again from it.
    """

    refusal: ClassVar[str] = ""  # why an inner algorithm may not fit, for the message
    inner: Algorithm

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return self.inner.needs

    def check_inner(self, *needs: Needs) -> None:
        """Raise ``ValueError`` unless ``inner`` is an algorithm whose server ``needs`` no more of its clients."""
        if not isinstance(self.inner, Algorithm):
            raise ValueError(f"inner={self.inner!r}: must be an algorithm, such as FedAvg()")
        if self.inner.needs not in needs:
            allowed = " or ".join(map(repr, needs))
            raise ValueError(
                f"inner={self.inner}: has needs={self.inner.needs!r}, and {type(self).__name__} must have {allowed}. "
                f"{self.refusal}. (An algorithm that needs less says so in its class, as in needs = 'mean')"
            )

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        self.inner.check(fed, settings)

    def setup(self, server: Server) -> None:
        self.inner.setup(server)

    def cohorts(self, server: Server) -> Iterable[Any]:
        return self.inner.cohorts(server)

    def correction(self, server: Server, client: int) -> Correction:
        return self.inner.correction(server, client)

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        return self.inner.upload(server, updates)

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return self.inner.aggregate(server, updates)

    def after_aggregation(self, server: Server, updates: LocalUpdates) -> None:
        self.inner.after_aggregation(server, updates)

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        return self.inner.client_params(server, clients)

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[float, float]:
        return self.inner.communication(server, cohort)
