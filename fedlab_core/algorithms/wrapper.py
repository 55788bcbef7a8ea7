"""Algorithms that wrap another algorithm and pass on every hook that they do not change."""

from collections.abc import Iterable
from typing import ClassVar

import numpy as np
import torch

from fedlab_core.algorithms.base import (
    Algorithm,
    Correction,
    FederatedDataset,
    LocalUpdates,
    Needs,
    Server,
    Settings,
)


class Wrapper(Algorithm):
    """Base class: behaves as ``inner``; a subclass overrides what differs.

    Both keep their state in ``server.state``, so the names of their entries must differ.
    ``describe`` treats the inner algorithm as a hyper-parameter, so that a run can be repeated from
    its configuration.
    """

    refusal: ClassVar[str] = ""  # why ``inner`` may not fit, for the error message
    inner: Algorithm

    @property
    def needs(self) -> Needs:  # type: ignore[override]
        return self.inner.needs

    def check_inner(self, *needs: Needs) -> None:
        """Raise ``ValueError`` unless ``inner`` is an algorithm with one of these ``needs``."""
        if not isinstance(self.inner, Algorithm):
            raise ValueError(f"inner={self.inner!r}: must be an algorithm, such as FedAvg()")
        if self.inner.needs not in needs:
            raise ValueError(
                f"inner={self.inner}: has needs={self.inner.needs!r}, but {type(self).__name__} "
                f"must have {' or '.join(map(repr, needs))}. {self.refusal}. If the server needs "
                "less, say so in the algorithm's class: needs = 'mean'"
            )

    def check(self, fed: FederatedDataset, settings: Settings) -> None:
        self.inner.check(fed, settings)

    def setup(self, server: Server) -> None:
        self.inner.setup(server)

    def cohorts(self, server: Server) -> Iterable[np.ndarray]:
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
