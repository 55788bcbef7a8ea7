"""Real clients: any algorithm of this library, unchanged, on Flower's SuperLink and SuperNodes.

    # server_app.py
    from fedlab_core import FedProx, flower
    app = flower.server_app(model, FedProx(mu=0.1), num_clients=3, out="/data/run.npz",
                            rounds=50, clients_per_round=2, ...)

    # client_app.py
    from fedlab_core import flower
    app = flower.client_app(load_data, model)

The server sends the parameters w, the correction and the amount of work; a client trains with
``one_page.local_sgd``. Samples and labels never leave a client. ``docs/real-clients.md`` shows a
whole run. Install ``'.[flower]'``.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

import torch
from torch import nn

from fedlab_core.algorithms import Algorithm

if TYPE_CHECKING:
    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp

    from fedlab_core.settings import SettingsKeywords

__all__ = ["client_app", "server_app"]
OnFailure = Literal["stop", "continue"]


def server_app(
    model: nn.Module,
    algorithm: Algorithm,
    *,
    num_clients: int,
    out: str | Path,
    on_failure: OnFailure = "stop",
    timeout: float = 600.0,
    test: tuple[torch.Tensor, torch.Tensor] | None = None,
    **settings: "Unpack[SettingsKeywords]",
) -> "ServerApp":
    """Build the ``ServerApp`` that trains ``model`` with ``algorithm`` on ``num_clients``
    SuperNodes.

    ``out``: the file of the ``History``, rewritten after every round, beside a table of the rounds
    (``.csv``) with the bytes that were sent. ``on_failure``: what happens if a client fails or is
    silent for ``timeout`` seconds: "stop" ends the run with an error; "continue" goes on with the
    others, and takes the client back once it answers. ``test``: samples and targets for the server,
    if it has any. ``settings``: those of ``fl.simulate``, by name; engine, device, availability,
    held-out samples and accuracy per client do not apply.

    Raises ``ValueError`` for bad arguments, and ``ImportError`` if Flower is not installed.
    """
    from fedlab_core.flower.server import build

    return build(model, algorithm, settings, num_clients, Path(out), on_failure, timeout, test)


def client_app(
    load_data: Callable[[int], tuple[torch.Tensor, torch.Tensor]],
    model: nn.Module,
    loss: str | Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = "cross_entropy",
) -> "ClientApp":
    """Build the ``ClientApp`` of every client.

    ``load_data``: from the client's number 0 … N − 1, the ``partition-id`` of its SuperNode, to
    samples and targets; called once a message, because Flower starts a process for each. ``model``:
    the architecture; its weights do not matter. ``loss``: the same as that of the server. Raises
    ``ImportError`` if Flower is not installed.
    """
    from fedlab_core.flower.client import build

    return build(load_data, model, loss)
