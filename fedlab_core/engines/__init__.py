"""Engines: same inputs, same results, different speeds."""

import warnings

from torch import nn

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines import agreement
from fedlab_core.engines.base import Engine
from fedlab_core.engines.reference import ReferenceEngine
from fedlab_core.engines.stacked import StackedEngine, Unstackable
from fedlab_core.engines.threads import number as counted
from fedlab_core.losses import Loss


def create(
    name: str, fed: FederatedDataset, model: nn.Module, loss: Loss, device: str, threads: int | None = None
) -> Engine:
    """Create the engine ``name``; "auto" is stacked if it can train the model, and otherwise reference with a warning.

    ``threads``: see :func:`fedlab_core.engines.threads.number`. Raises ``ValueError`` if "stacked" cannot train it.
    """
    number = counted(threads)
    if name == "reference":
        return ReferenceEngine(fed, model, loss, device, number)
    try:
        engine = StackedEngine(fed, model, loss, device, number)
        agreement.check(engine, model)
        return engine
    except Unstackable as error:
        if name == "stacked":
            raise ValueError(f"engine='stacked': cannot train this model ({error}); use engine='reference'") from error
        warnings.warn(f"the clients are trained one after another, which is slower: {error}", stacklevel=4)
        return ReferenceEngine(fed, model, loss, device, number)
