"""Engines: same inputs, same results, different speeds."""

import warnings

import torch
from torch import Tensor, nn

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Engine
from fedlab_core.engines.reference import ReferenceEngine
from fedlab_core.engines.stacked import StackedEngine, Unstackable
from fedlab_core.engines.threads import number as counted
from fedlab_core.losses import Loss
from fedlab_core.randomness import torch_generator

SAMPLES = 3
TF32 = 2**-10


def create(
    name: str,
    fed: FederatedDataset,
    model: nn.Module,
    loss: Loss,
    device: str,
    threads: int | None = None,
) -> Engine:
    """Create the engine ``name``; "auto" is stacked if it can train the model, and otherwise
    reference with a warning.

    ``threads``: see :func:`fedlab_core.engines.threads.number`. Raises ``ValueError`` if "stacked"
    cannot train it.
    """
    number = counted(threads)
    if name == "reference":
        return ReferenceEngine(fed, model, loss, device, number)
    try:
        engine = StackedEngine(fed, model, loss, device, number)
        check_agreement(engine, model)
        return engine
    except Unstackable as error:
        if name == "stacked":
            raise ValueError(
                f"engine='stacked': cannot train this model ({error}); use engine='reference'"
            ) from error
        warnings.warn(
            f"the clients are trained one after another, which is slower: {error}", stacklevel=4
        )
        return ReferenceEngine(fed, model, loss, device, number)


def check_agreement(engine: StackedEngine, module: nn.Module) -> None:
    """Compare the gradients of two small unequal batches, twice, with those of ``module`` alone.

    Raises :class:`Unstackable` if they differ by more than √precision of their size.
    """
    parts = engine.fed.parts
    sizes = engine.fed.sizes
    groups = [parts[int(sizes.argmin())][: SAMPLES - 1], parts[int(sizes.argmax())][:SAMPLES]]
    params = engine.model.parameters()
    alone = ReferenceEngine(engine.fed, module, engine.loss, engine.device)
    precision = torch.finfo(params.dtype).eps
    if params.is_cuda and params.dtype == torch.float32:
        precision = TF32  # cuDNN's convolutions round to it
    with torch_generator(params.device):
        expected = alone.mean_gradients(params, groups, training=True)
        tolerance = precision**0.5 * _size(expected)
        if not _is_within(tolerance, alone.mean_gradients(params, groups, training=True), expected):
            raise Unstackable("two calls with the same samples give different gradients")
        try:
            first = engine.mean_gradients(params, groups, training=True)
            second = engine.mean_gradients(params, groups, training=True)
            at_once = torch.stack([first, second])
        except RuntimeError as error:
            raise Unstackable(str(error).splitlines()[0]) from error
    if not _is_within(tolerance, at_once, expected):
        share = float((_size(at_once - expected) / _size(expected)).max())
        raise Unstackable(
            f"the gradients of two clients trained at once are off by {share:.2g} of their size"
        )


def _is_within(tolerance: Tensor, found: Tensor, expected: Tensor) -> bool:
    """Whether all finite rows of ``expected`` are that near to ``found``."""
    return bool((_size(found - expected) <= tolerance)[..., expected.isfinite().all(1)].all())


def _size(rows: Tensor) -> Tensor:
    return torch.linalg.vector_norm(rows, dim=-1)
