"""The probe: every client trains once from the initial model, and what comes back shows who is like whom."""

from dataclasses import dataclass

import numpy as np
import torch

from fedlab_core.clustering import RandomProjection
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.server import Server

CHUNK_VALUES = 20_000_000


def check_enough_clients(name: str, needed: int, fed: FederatedDataset) -> None:
    """Raise ``ValueError`` for fewer clients than the parameter ``name`` of a clustering needs."""
    if fed.num_clients < needed:
        raise ValueError(f"{name}={needed}: the federation has only {fed.num_clients} clients")


@dataclass(frozen=True)
class Probed:
    """What the probe found.

    ``points`` float array [N, P], or [N, D] after a projection: the clients' updates w_1^k − w_0, which lie as far
    apart as the w_1^k. ``mean`` [P]: w_1 = Σ ρ_k w_1^k.
    """

    points: np.ndarray
    mean: torch.Tensor


def probe_clients(
    server: Server,
    *,
    lr: float,
    batch_size: int | None,
    epochs: int = 0,
    steps: int = 0,
    projection: int | None = None,
) -> Probed:
    """Plain SGD of all N clients from the global parameters, entered in the ledger as N·P numbers down and N·P up.

    Clients train a few at a time. With ``projection`` D, only [N, D] is kept of their updates, so that memory does not
    grow with N·P.
    """
    size, start = server.num_parameters, server.params
    project = None if projection is None else RandomProjection(size, projection, server.seed)
    shares = torch.from_numpy(server.fed.weights).to(start)
    points = np.empty((server.num_clients, projection or size), dtype=torch.empty(0, dtype=start.dtype).numpy().dtype)
    mean = torch.zeros_like(start)
    num_chunks = -(-server.num_clients * size // CHUNK_VALUES)
    for clients in np.array_split(np.arange(server.num_clients), min(num_chunks, server.num_clients)):
        params = server.probe(clients, lr=lr, batch_size=batch_size, epochs=epochs, steps=steps).params
        mean += shares[clients[0] : clients[-1] + 1] @ params
        updates = params - start
        points[clients] = (updates if project is None else project.apply(updates)).cpu().numpy()
    server.spend(down=server.num_clients * size, up=server.num_clients * size)
    return Probed(points, mean)
