"""The client: it trains on its own samples, and answers what an algorithm asks of them."""

import copy

import numpy as np
import torch
from torch import nn

from fedlab_core import losses
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.reference import ReferenceEngine
from fedlab_core.engines.work import plan_batches
from fedlab_core.losses import Loss
from fedlab_core.remote.messages import Answer, Values, Vectors, correction_of, work_of


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
    def answer(self, vectors: Vectors, values: Values) -> Answer:
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
            work = work_of(self.number, values)
            plan = plan_batches(work, [len(self.samples[0])])[0]
            loss = float(engine.losses(w, np.array([0]))[0])
            correction = correction_of(vectors, values)
            y = engine.alone(w, work, self.number, self.samples[0], plan, correction)
            return {"y": y}, {"steps": plan.num_steps, "loss": loss}
        if kind == "loss":
            return {}, {"loss": float(engine.losses(w, np.array([0]))[0])}
        if kind == "gradient":
            return {"y": engine.mean_gradients(w, self.samples)[0]}, {}
        function = engine.loss if values["of"] == "loss" else losses.OUTPUT_NORMS[values["of"]]
        return {"y": engine.moments(w[None], self.samples, function, values["power"])[0]}, {}
