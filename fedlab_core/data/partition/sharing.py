"""Data that all clients share, in addition to a partition."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import client_streams, stream


def shared(parts: Sequence[Any], fraction: float, *, portion: float = 1.0, seed: int = 0) -> Partition:
    """Add to each of ``parts`` a random ``portion`` of a globally shared set G.

    Zhao, Li, Lai, Suda, Civin, Chandra: Federated Learning with Non-IID Data, 2018, section 4: ``fraction`` is
    β = |G|/|D|, ``portion`` is α. G is a uniform sample of round(β |D|) of the |D| samples that clients hold, at least
    one. Each client receives round(α |G|) of them, at least one, except those it holds already. ``received`` counts
    the samples sent; a run adds their bytes to bytes_down before round 1. They count in n_k. ``held_out`` keeps back
    no shared sample.

    Deviations: the paper gathers G apart from the clients' data, uniform over the classes. Here G is drawn from their
    data, with their label mix, as if the server had a copy. The paper also trains the first model on G.

    Raises ``ValueError`` unless both shares lie in (0, 1].
    """
    for name, value in (("fraction", fraction), ("portion", portion)):
        validation.real(name, value, maximum=1, exclusive=True)
    arrays = [validation.indices(f"parts[{k}]", part) for k, part in enumerate(parts)]
    if not arrays:
        raise ValueError("parts=[]: must hold at least one client")
    held = np.unique(np.concatenate(arrays))
    common = stream(validation.seed(seed), "shared").choice(held, max(1, round(fraction * len(held))), replace=False)
    size = max(1, round(portion * len(common)))
    draws = client_streams(seed, "portion", round=0, clients=range(len(arrays)))
    together = [
        np.union1d(part, rng.choice(common, size, replace=False)) for part, rng in zip(arrays, draws, strict=True)
    ]
    received = sum(map(len, together)) - sum(len(np.unique(part)) for part in arrays)
    inner = getattr(parts, "recipe", {"law": "given"})
    recipe = {"law": "shared", "fraction": fraction, "portion": portion, "seed": seed, "parts": inner}
    left_out = getattr(parts, "left_out", None)
    return Partition(together, recipe, left_out=left_out, received=getattr(parts, "received", 0) + received)
