"""The probe: all clients train once from the first global model.

Their updates show which clients are similar.
"""

import numpy as np
import torch

from fedlab_core.algorithms.base import FederatedDataset, Server
from fedlab_core.clustering import project

CHUNK_VALUES = 20_000_000


def check_enough_clients(name: str, needed: int, fed: FederatedDataset) -> None:
    """Raise ``ValueError`` for fewer clients than the parameter ``name`` of a clustering needs."""
    if fed.num_clients < needed:
        raise ValueError(
            f"{name}={needed}: the federation has only {fed.num_clients} clients; must be at most "
            "that"
        )


def probe_clients(
    server: Server,
    *,
    lr: float,
    batch_size: int | None,
    epochs: int = 0,
    steps: int = 0,
    projection: int | None = None,
) -> tuple[np.ndarray, torch.Tensor]:
    """Train all N clients with plain SGD from w_0, a few at a time.

    The arguments are those of :meth:`Server.probe`. Returns the updates w_1^k − w_0, [N, P] or
    projected [N, D] for ``projection`` D, and the mean w_1 = Σ ρ_k w_1^k [P]. N·P numbers down and
    N·P up are added to the ledger.
    """
    size = server.num_parameters
    start = server.params
    shares = torch.from_numpy(server.fed.weights).to(start)
    dtype = torch.empty(0, dtype=start.dtype).numpy().dtype
    points = np.empty((server.num_clients, projection or size), dtype=dtype)
    mean = torch.zeros_like(start)
    num_chunks = min(-(-server.num_clients * size // CHUNK_VALUES), server.num_clients)
    for clients in np.array_split(np.arange(server.num_clients), num_chunks):
        probed = server.probe(clients, lr=lr, batch_size=batch_size, epochs=epochs, steps=steps)
        mean += shares[clients[0] : clients[-1] + 1] @ probed.params
        updates = probed.params - start
        if projection is not None:
            updates = project(updates, projection, server.seed)
        points[clients] = updates.cpu().numpy()
    server.spend(down=server.num_clients * size, up=server.num_clients * size)
    return points, mean
