"""Data that all clients share, in addition to a partition."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import stream


def shared(parts: Sequence[Any], fraction: float, *, seed: int = 0) -> Partition:
    """Add a globally shared set G to each of ``parts``.

    Zhao, Li, Lai, Suda, Civin, Chandra: Federated Learning with Non-IID Data, 2018, section 4, with α = 1: ``fraction``
    is β = |G|/|D|. G is a uniform sample of round(β |D|) of the |D| samples that clients hold, at least one. A client
    receives those that it does not hold yet; a run adds their bytes to bytes_down before round 1. They count in n_k.
    ``held_out`` keeps back no shared sample.

    Deviations: the paper gathers G apart from the clients' data, uniform over the classes. Here G is drawn from their
    data, with their label mix, as if the server had a copy. The paper also trains the first model on G.

    Raises ``ValueError`` unless ``fraction`` lies in (0, 1].
    """
    validation.real("fraction", fraction, maximum=1, exclusive=True)
    arrays = [validation.indices(f"parts[{k}]", part) for k, part in enumerate(parts)]
    if not arrays:
        raise ValueError("parts=[]: must hold at least one client")
    held = np.unique(np.concatenate(arrays))
    common = stream(validation.seed(seed), "shared").choice(held, max(1, round(fraction * len(held))), replace=False)
    together = [np.union1d(part, common) for part in arrays]
    received = sum(map(len, together)) - sum(len(np.unique(part)) for part in arrays)
    recipe = {"law": "shared", "fraction": fraction, "seed": seed, "parts": getattr(parts, "recipe", {"law": "given"})}
    return Partition(together, recipe, received=getattr(parts, "received", 0) + received)
