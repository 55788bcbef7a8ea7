"""FedPer: the base layers are averaged; the personal layers stay with each client.

Arivazhagan et al.: Federated Learning with Personalization Layers, 2019, algorithms 1 and 2.

    w = (b, p_k): base b, shared, and personal layers p_k of client k
    (b_k, p_k) ← E epochs of SGD from (b, p_k)                     p_k stays, b_k is sent
    b ← Σ_S n_k b_k / Σ_S n_k

A client is measured with (b, p_k). Only b is sent, down and up. Nothing local is FedAvg exactly;
everything local is training alone. The local layers of w never change, so that the run's test
accuracy, measured with w, means little.

Deviation. In the paper all clients take part in every round; here weights are normalised over the
cohort.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.algorithms.base import Algorithm, Correction, LocalUpdates, Server


@dataclass(frozen=True)
class FedPer(Algorithm):
    """FedPer with the personal layers ``local``: names from ``model.named_parameters()``, or their
    part before a dot.

    ``("3",)`` is the layer 3. State: ``is_local``, bool [P]; ``personal``, the change of each
    client's local layers. Raises ``ValueError`` for a name that the model does not have.
    """

    local: tuple[str, ...]

    def __post_init__(self) -> None:
        is_list = isinstance(self.local, (list, tuple))
        if not is_list or not all(isinstance(name, str) for name in self.local):
            raise ValueError(
                f"local={self.local!r}: must be a tuple of names of layers, such as ('3',)"
            )
        object.__setattr__(self, "local", tuple(self.local))

    def setup(self, server: Server) -> None:
        known = list[str]()  # "3" and "3.weight"
        for name in server.layout:
            parts = name.split(".")
            known += [".".join(parts[: i + 1]) for i in range(len(parts))]
        known = list(dict.fromkeys(known))
        for name in self.local:
            validation.choice("local", name, known)
        mask = torch.zeros_like(server.params, dtype=torch.bool)
        for name, place in server.layout.items():
            mask[place] = any(name == own or name.startswith(f"{own}.") for own in self.local)
        server.state |= {"is_local": mask, "personal": server.client_table(server.params[mask])}

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(start=self.client_params(server, np.array([client]))[0])

    def upload(self, server: Server, updates: LocalUpdates) -> LocalUpdates:
        if not self.local:
            return updates
        is_local = server.state["is_local"]
        moved = updates.params[:, is_local] - server.params[is_local]
        server.state["personal"][updates.clients] = moved
        return replace(updates, params=torch.where(is_local, server.params, updates.params))

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        return torch.where(server.state["is_local"], server.params, updates.weighted_mean())

    def client_params(self, server: Server, clients: np.ndarray) -> torch.Tensor:
        rows = server.params.repeat(len(clients), 1)
        rows[:, server.state["is_local"]] += server.state["personal"][clients]
        return rows

    def communication(self, server: Server, cohort: np.ndarray) -> tuple[int, int]:
        shared = server.num_parameters - int(server.state["is_local"].sum())
        return len(cohort) * shared, len(cohort) * shared
