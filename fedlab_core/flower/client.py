"""The ``ClientApp``: it answers each message with the client's own samples."""

from collections.abc import Callable

import torch
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from torch import nn

from fedlab_core.flower import wire
from fedlab_core.losses import Loss
from fedlab_core.remote import Client


def build(
    load_data: Callable[[int], tuple[torch.Tensor, torch.Tensor]],
    model: nn.Module,
    loss: str | Loss,
) -> ClientApp:
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        if "partition-id" not in context.node_config:
            raise ValueError(
                'this SuperNode has no number: start it with --node-config "partition-id=0" (or 1, '
                "2, …)"
            )
        number = int(context.node_config["partition-id"])
        client = Client(number, load_data(number), model, loss)
        return Message(wire.pack(*client.answer(*wire.unpack(message.content))), reply_to=message)

    return app
