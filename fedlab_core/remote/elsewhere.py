"""A run whose clients are elsewhere: the simulation's own loop, with an engine that asks them."""

import copy
import math
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core import losses
from fedlab_core.algorithms import Algorithm
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.configuration import configuration
from fedlab_core.correction import Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Evaluation
from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.reference import ReferenceEngine
from fedlab_core.engines.work import Work
from fedlab_core.history import History
from fedlab_core.losses import Loss
from fedlab_core.remote.messages import Answer, Values, work_message
from fedlab_core.remote.transport import Clients
from fedlab_core.server import Ledger, Server
from fedlab_core.settings import Settings
from fedlab_core.simulation import Simulation


class RemoteFederation(FederatedDataset):
    """Clients whose samples are elsewhere: ``parts[k]`` is [k], not the indices of samples."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = np.array(sizes)
        self.num_clients = len(sizes)
        self.weights = self.sizes / self.sizes.sum()
        self.parts = [np.array([client]) for client in range(len(sizes))]
        self.num_classes = None
        self.bytes_received = 0
        self.recipe = {"law": "remote", "sizes": list(sizes)}
        self.y = torch.empty(0)
        self.dataset = SimpleNamespace(name="remote")  # type: ignore[assignment]

    fingerprint = "the samples are with the clients"


class RemoteEngine:
    """What ``Server`` asks of an engine, asked of the clients."""

    form = "remote"

    def __init__(self, clients: Clients, model: nn.Module, loss: Loss) -> None:
        self.clients = clients
        self.name = clients.name
        self.model = FlatModel(model)
        self.loss = loss
        self.train_loss = math.nan  # of the latest cohort, at the w that it received

    def train(self, params: Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        clients = work.clients.tolist()
        questions = {}
        for place, (client, correction) in enumerate(zip(clients, corrections, strict=True)):
            questions[client] = work_message(params, work, place, correction)
        when = f"round {work.round}" if work.round else "before round 1"
        answers = self.clients.ask(questions, when)
        if work.stream == "probe" and len(answers) < len(clients):
            raise ValueError(
                "a probe needs all its clients; start the run again when all of them are connected"
            )
        rows = torch.stack([vectors["y"] for vectors, _ in answers.values()])
        values = [values for _, values in answers.values()]
        sizes = rows.new_tensor([self.clients.sizes[client] for client in answers])
        client_losses = rows.new_tensor([value["loss"] for value in values])
        self.train_loss = float(sizes @ client_losses / sizes.sum())
        steps = rows.new_tensor([value["steps"] for value in values])
        return LocalUpdates(np.array(list(answers)), rows, steps, sizes, params)

    def losses(self, params: Tensor, clients: np.ndarray) -> Tensor:
        answers = self._all(clients.tolist(), [params] * len(clients), {"kind": "loss"})
        return params.new_tensor([values["loss"] for _, values in answers])

    def mean_gradients(self, params: Tensor, groups: Sequence[np.ndarray]) -> Tensor:
        clients = [int(group[0]) for group in groups]
        answers = self._all(clients, [params] * len(groups), {"kind": "gradient"})
        return torch.stack([vectors["y"] for vectors, _ in answers])

    def moments(
        self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int
    ) -> Tensor:
        norms = {norm: output for output, norm in losses.OUTPUT_NORMS.items()}
        values = {"kind": "moment", "of": norms.get(loss, "loss"), "power": power}
        clients = [int(group[0]) for group in groups]
        answers = self._all(clients, list(params), values)
        return torch.stack([vectors["y"] for vectors, _ in answers])

    def _all(self, clients: list[int], params: Sequence[Tensor], values: Values) -> list[Answer]:
        """The answers of all ``clients``; without one of them the algorithm cannot go on."""
        questions: dict[int, Answer] = {}
        for client, w in zip(clients, params, strict=True):
            questions[client] = {"w": w}, values
        answers = self.clients.ask(questions, f"the {values['kind']} of the clients")
        if len(answers) < len(clients):
            raise ValueError(
                f"this algorithm needs the {values['kind']} of each of the clients {clients}"
            )
        return list(answers.values())


class RemoteSimulation(Simulation):
    """A simulation whose clients are elsewhere.

    Its records, checkpoints and errors are those of any other.
    """

    def __init__(
        self,
        clients: Clients,
        model: nn.Module,
        algorithm: Algorithm,
        settings: Settings,
        test: tuple[Tensor, Tensor] | None,
    ) -> None:
        self.settings = replace(settings, availability=clients)
        self.algorithm = algorithm
        self.clients = clients
        sizes = [clients.sizes[client] for client in range(clients.num_clients)]
        self.fed = self._own = RemoteFederation(sizes)
        algorithm.check(self.fed, self.settings)
        engine: Any = RemoteEngine(clients, model, losses.resolve(settings.loss))
        self._engine = self._remote = engine
        config = configuration(self.fed, model, algorithm, self.settings, torch.empty(0))
        self.history = History(config | {"engine": clients.name}, template=copy.deepcopy(model))
        self._server = Server(self.fed, self._engine, self.settings, Ledger())
        self.cohorts = []
        self._seconds = 0.0
        self._local = None  # evaluates on the server's own samples
        if test is not None:
            samples = FederatedDataset.from_clients([test], test=test)
            self._local = ReferenceEngine(samples, model, self._engine.loss)
        self._begin_checkpoint()

    @property
    def params(self) -> Tensor:
        """The global parameters w [P]."""
        return self._server.params

    def _evaluate(self) -> dict[str, float]:
        test = Evaluation(math.nan, math.nan)
        if self._local is not None:
            test = self._local.evaluate(self._server.params, self._local.x, self._local.y)
        return {
            "test_accuracy": test.accuracy,
            "test_loss": test.loss,
            "train_loss": self._remote.train_loss,
        }
