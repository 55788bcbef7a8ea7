"""Data that all clients share, on top of what any law has dealt them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedlab_core import validation
from fedlab_core.data.partition.parts import Partition
from fedlab_core.randomness import client_streams, stream


def shared(parts: Sequence[Any], fraction: float, *, portion: float = 1.0, seed: int = 0) -> Partition:
    """``parts``, and for every client a random ``portion`` of a globally shared set G beside them.

    Zhao, Li, Lai, Suda, Civin, Chandra: Federated Learning with Non-IID Data, 2018, section 4: β = |G|/|D| is
    ``fraction``, the share of G that a client gets, α, is ``portion``. G is a uniform sample of round(β |D|) of the |D|
    samples that the clients hold, at least one; each client gets round(α |G|) of them, at least one, and what it holds
    already is not sent to it. ``received`` counts what is: a run enters these bytes in its ledger before round 1, as
    sent to the clients. They count among a client's n_k samples; ``held_out`` keeps back none that others hold too.

    Deviations. In the paper G is gathered beside the clients' data, uniform over the classes; here it is drawn from
    their data, whose label mix it has, and stands for a copy at the server: nothing is sent up for it. The paper also
    trains the first model on G; here the run begins with whatever model it is given.

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
