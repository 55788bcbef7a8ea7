"""A control for clients with few labels: FedAvg that may answer only with a client's own labels."""

from typing import Any

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Ditto
from fedlab_core.engines.flat import FlatModel
from fedlab_core.language import translator

_ = translator(__name__)


def accuracies(
    fed: fl.FederatedDataset, model: torch.nn.Module, setting: dict[str, Any]
) -> tuple[float, float, float]:
    """Mean accuracy on the test images of a client's own labels: of FedAvg, of FedAvg limited to
    these labels, and of clients that train alone.
    """
    flat = FlatModel(model)
    fedavg = _models(fed, model, fl.FedAvg(), setting)
    alone = _models(fed, model, Ditto(0.0), setting)
    rows = []
    with torch.no_grad():
        for k in range(fed.num_clients):
            labels = torch.unique(fed.client(k)[1])
            mine = torch.isin(fed.test.y, labels)
            x, y = fed.test.x[mine], fed.test.y[mine]
            logits = flat(fedavg[k], x)
            answers = (
                logits.argmax(1),
                labels[logits[:, labels].argmax(1)],
                flat(alone[k], x).argmax(1),
            )
            rows.append([float((answer == y).float().mean()) for answer in answers])
    plain, limited, own = np.mean(rows, axis=0).tolist()
    return plain, limited, own


def words(plain: float, limited: float, alone: float) -> str:
    """The three :func:`accuracies` in words."""
    text = _("FedAvg {plain:.1%}, limited {limited:.1%}, alone {alone:.1%}")
    return text.format(plain=plain, limited=limited, alone=alone)


def _models(
    fed: fl.FederatedDataset,
    model: torch.nn.Module,
    algorithm: fl.Algorithm,
    setting: dict[str, Any],
) -> torch.Tensor:
    """The model that each client uses after the last round [N, P]."""
    clients = np.arange(fed.num_clients)
    last = torch.empty(0)

    def keep(record: Any, server: Any) -> None:
        nonlocal last
        if record.round == setting["rounds"]:
            last = algorithm.client_params(server, clients).expand(len(clients), -1).clone()

    fl.simulate(fed, model, algorithm, **setting | {"held_out": 0.25}, on_round=keep)
    return last
