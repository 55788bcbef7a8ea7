"""The probe: all clients train once from the first global model, and their updates show which clients are similar."""

from typing import Any

import numpy as np
import torch

from fedlab_core.algorithms.base import FederatedDataset, Server
from fedlab_core.clustering import project

CHUNK_VALUES = 20_000_000


def check_enough_clients(name: str, needed: int, fed: FederatedDataset) -> None:
    """Raise ``ValueError`` for fewer clients than the parameter ``name`` of a clustering needs."""
    if fed.num_clients < needed:
        raise ValueError(f"{name}={needed}: the federation has only {fed.num_clients} clients; must be at most that")


def probe_clients(server: Server, *, projection: int | None = None, **work: Any) -> tuple[np.ndarray, torch.Tensor]:
    """Train all N clients with plain SGD from w_0, a few at a time, and count N·P numbers down and N·P up.

    ``work``: the arguments of :meth:`Server.probe`. Returns the updates w_1^k − w_0, [N, P] or projected [N, D] for
    ``projection`` D, and the mean w_1 = Σ ρ_k w_1^k [P].
    """
    size, start = server.num_parameters, server.params
    shares = torch.from_numpy(server.fed.weights).to(start)
    points = np.empty((server.num_clients, projection or size), dtype=torch.empty(0, dtype=start.dtype).numpy().dtype)
    mean = torch.zeros_like(start)
    num_chunks = -(-server.num_clients * size // CHUNK_VALUES)
    for clients in np.array_split(np.arange(server.num_clients), min(num_chunks, server.num_clients)):
        params = server.probe(clients, **work).params
        mean += shares[clients[0] : clients[-1] + 1] @ params
        updates = params - start
        points[clients] = (updates if projection is None else project(updates, projection, server.seed)).cpu().numpy()
    server.spend(down=server.num_clients * size, up=server.num_clients * size)
    return points, mean
