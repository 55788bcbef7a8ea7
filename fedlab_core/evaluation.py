"""The accuracy of each client, with the model that it uses, on its own samples or on held-out
ones.
"""

from typing import Any

import numpy as np
import torch

from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Engine
from fedlab_core.randomness import client_streams
from fedlab_core.server import Server

AT_ONCE_BYTES = 2**29  # of the models of several clients


def hold_out(
    fed: FederatedDataset, share: float, seed: int
) -> tuple[FederatedDataset, FederatedDataset]:
    """Split ``fed`` into training samples and a held-out ``share`` of each client; both have a
    sample of each client.

    A sample that several clients share is never held out, because the others train on it. Raises
    ``ValueError`` for a client with a single sample, or without a sample of its own.
    """
    if min(fed.sizes) < 2:
        client = int(fed.sizes.argmin())
        raise ValueError(
            f"held_out={share}: client {client} has one sample; training and evaluation need one "
            "each"
        )
    holders = np.bincount(fed.indices)
    kept = []
    held = []
    streams = client_streams(seed, "held_out", round=0, clients=range(fed.num_clients))
    for client, (part, rng) in enumerate(zip(fed.parts, streams, strict=True)):
        own = np.flatnonzero(holders[part] == 1)
        if not len(own):
            raise ValueError(
                f"held_out={share}: client {client} shares all its samples with other clients"
            )
        size = min(max(1, round(share * len(part))), len(part) - 1, len(own))
        is_held = np.zeros(len(part), dtype=bool)
        is_held[own[rng.choice(len(own), size, replace=False)]] = True
        kept.append(part[~is_held])
        held.append(part[is_held])
    return FederatedDataset(fed.dataset, kept), FederatedDataset(fed.dataset, held)


def client_accuracy(
    algorithm: Any, server: Server, engine: Engine, fed: FederatedDataset
) -> np.ndarray:
    """Compute the accuracy [N] of each client's model (``algorithm.client_params``) on its samples
    in ``fed``.
    """
    at_once = max(1, AT_ONCE_BYTES // server.params.nbytes)
    hits = []
    for first in range(0, fed.num_clients, at_once):
        clients = np.arange(first, min(first + at_once, fed.num_clients))
        params = algorithm.client_params(server, clients)
        if not isinstance(params, torch.Tensor) or params.shape[:-1] not in ((), (len(clients),)):
            found = getattr(params, "shape", type(params).__name__)
            raise ValueError(
                f"client_params: must be [P], or a row for each of {len(clients)} clients, got "
                f"{found}"
            )
        server.check_vector("client_params", params if params.ndim == 1 else params[0])
        if params.ndim == 1:
            hits.append(
                engine.hits(params, fed.indices[fed.offsets[first] : fed.offsets[clients[-1] + 1]])
            )
        else:
            hits += [
                engine.hits(own, fed.parts[client])
                for own, client in zip(params, clients, strict=True)
            ]
    return np.add.reduceat(np.concatenate(hits).astype(np.float64), fed.offsets[:-1]) / fed.sizes
