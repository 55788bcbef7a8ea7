"""The client: it trains on its own samples, and answers what an algorithm asks of them."""

import copy
from collections.abc import Callable

import numpy as np
import torch
from flwr.app import Context, Message
from flwr.clientapp import ClientApp
from torch import nn

from fedlab_core import losses
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.reference import ReferenceEngine
from fedlab_core.engines.work import plan_batches
from fedlab_core.flower import wire
from fedlab_core.losses import Loss


class Client:
    """Client ``number`` with its samples; ``answer`` says what it sends."""

    def __init__(
        self,
        number: int,
        data: tuple[torch.Tensor, torch.Tensor],
        model: nn.Module,
        loss: str | Loss,
    ) -> None:
        x, y = data
        self.number = number
        self.engine = ReferenceEngine(
            FederatedDataset.from_clients([(x, y)], test=(x[:0], y[:0])),
            copy.deepcopy(model),
            losses.resolve(loss),
        )
        self.samples = [np.arange(len(y))]

    @torch.no_grad()
    def answer(self, vectors: wire.Vectors, values: wire.Values) -> wire.Answer:
        """The vectors and values of the reply.

        Raises ``ValueError`` for parameters that do not fit the model.
        """
        engine = self.engine
        kind = values["kind"]
        mine = self.engine.model
        if kind == "hello":
            dtype = str(mine.dtype).removeprefix("torch.")
            return {}, {
                "client": self.number,
                "samples": len(self.samples[0]),
                "parameters": f"{mine.size} {dtype}",
            }
        w = vectors["w"]
        if (w.numel(), w.dtype) != (mine.size, mine.dtype):
            raise ValueError(
                f"the server sent {w.numel()} {w.dtype}, but the model here has {mine.size} "
                f"{mine.dtype}"
            )
        if kind == "train":
            w, work, correction = wire.unpack_work(self.number, vectors, values)
            plan = plan_batches(work, [len(self.samples[0])])[0]
            loss = float(engine.losses(w, np.array([0]))[0])
            y = engine.alone(w, work, self.number, self.samples[0], plan, correction)
            return {"y": y}, {"steps": plan.num_steps, "loss": loss}
        if kind == "loss":
            return {}, {"loss": float(engine.losses(w, np.array([0]))[0])}
        if kind == "gradient":
            return {"y": engine.mean_gradients(w, self.samples)[0]}, {}
        function = engine.loss if values["of"] == "loss" else losses.OUTPUT_NORMS[values["of"]]
        return {"y": engine.moments(w[None], self.samples, function, values["power"])[0]}, {}


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
