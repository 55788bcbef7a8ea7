"""The base class of the engines: evaluation, and training on threads."""

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core.clients.memory import empty
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines import threads
from fedlab_core.engines.cutting import pieces, size_of
from fedlab_core.engines.flat import FlatModel
from fedlab_core.engines.work import BatchPlan, Work, plan_batches
from fedlab_core.losses import LOSSES, Loss

EVALUATION_SAMPLES = 2000  # per forward pass
Task = TypeVar("Task")
Result = TypeVar("Result")


class Evaluation(NamedTuple):
    """Mean loss and accuracy; NaN without samples; accuracy NaN for regression."""

    loss: float
    accuracy: float


class Engine(ABC):
    """Local training and evaluation of one model on one federation, equal for any ``threads``.

    ``form``: "loop" (one client after another), "layers" (a cohort at once) or "vmap" (through
    ``torch.func``).
    """

    name: str
    form: str

    def __init__(
        self,
        fed: FederatedDataset,
        model: nn.Module,
        loss: Loss,
        device: str = "cpu",
        threads: int = 1,
    ) -> None:
        self.model = FlatModel(model, device)
        self.loss = loss
        self.device = device
        self.fed = fed
        self.x = fed.x.to(device)
        self.y = fed.y.to(device)
        self.threads = threads if self.x.device.type == "cpu" else 1
        sample = self.x[:1].clone()
        self.size = size_of(self.model.twin().module, sample)
        self.model.writes_input = sample._version > 0
        self._twins: list[Self] = []  # those that no thread uses now

    def twin(self) -> Self:
        """A copy for another thread, with the same data and parameters and its own buffers."""
        twin = copy.copy(self)
        twin.model = self.model.twin()
        return twin

    def each(
        self, work: Callable[[Self, Task], Result], tasks: Sequence[Task], samples: int
    ) -> Iterator[Result]:
        """``work(twin, task)`` for each task in order, on threads unless all ``samples`` together
        are little work.
        """

        @torch.no_grad()
        def by_twin(task: Task) -> Result:
            try:
                twin = self._twins.pop()
            except IndexError:
                twin = self.twin()
            try:
                return work(twin, task)
            finally:
                self._twins.append(twin)

        is_little = len(tasks) == 1 or samples * self.size.products < threads.LITTLE
        return threads.each(by_twin, tasks, 1 if is_little else self.threads)

    def train(self, params: Tensor, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        """Local SGD from ``params`` w [P] on every client of ``work``, with one correction per
        client.
        """
        sizes = self.fed.sizes[work.clients]
        plans = plan_batches(work, sizes.tolist())
        rows = empty(params, len(plans), len(params))
        self.train_into(rows, params, work, plans, corrections)
        steps = rows.new_tensor([plan.num_steps for plan in plans])
        return LocalUpdates(work.clients, rows, steps, rows.new_tensor(sizes), params)

    @abstractmethod
    def train_into(
        self,
        rows: Tensor,
        params: Tensor,
        work: Work,
        plans: Sequence[BatchPlan],
        corrections: Sequence[Correction],
    ) -> None:
        """Write the local parameters of the clients of ``work`` after their ``plans`` to ``rows``
        [K, P].
        """

    @abstractmethod
    def mean_gradients(
        self, params: Tensor, groups: Sequence[np.ndarray], training: bool = False
    ) -> Tensor:
        """Gradients [G, P] of the mean loss over each group of sample indices, in evaluation or
        ``training`` mode.
        """

    @abstractmethod
    def moments(
        self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int
    ) -> Tensor:
        """The mean over each group of |∇ loss(one sample)|^``power`` at the group's row of
        ``params``, [G, P].
        """

    @torch.no_grad()
    def evaluate(self, params: Tensor, x: Tensor, y: Tensor) -> Evaluation:
        """Mean loss and accuracy of ``params`` [P] on samples ``x`` [n, …], ``y`` [n, …], exact for
        any n.
        """
        if not len(y):
            return Evaluation(math.nan, math.nan)
        number = min(len(y), pieces(len(y), EVALUATION_SAMPLES))
        parts = x.tensor_split(number)
        outputs = list(self.each(lambda twin, part: twin.model.output(params, part), parts, len(y)))
        output = torch.cat(outputs)
        if self.loss in LOSSES.values():
            pairs = zip(outputs, y.tensor_split(number), strict=True)
            loss = sum(
                float(self.loss(own, targets) * len(targets)) for own, targets in pairs
            ) / len(y)
        else:
            loss = float(self.loss(output, y))  # it may weight or skip samples
        return Evaluation(
            loss, math.nan if y.is_floating_point() else int((output.argmax(1) == y).sum()) / len(y)
        )

    def losses(self, params: Tensor, clients: np.ndarray) -> Tensor:
        """F_k [K] of the given clients at ``params`` [P] on all their samples."""

        def of_group(twin: Engine, group: np.ndarray) -> list[Tensor]:
            own = torch.from_numpy(np.concatenate([self.fed.parts[client] for client in group])).to(
                self.device
            )
            outputs = torch.cat(
                [twin.model.output(params, self.x[part]) for part in own.split(EVALUATION_SAMPLES)]
            )
            sizes = self.fed.sizes[group].tolist()
            pairs = zip(outputs.split(sizes), self.y[own].split(sizes), strict=True)
            return [self.loss(output, targets) for output, targets in pairs]

        ends = np.cumsum(self.fed.sizes[clients])
        groups = np.split(clients, np.flatnonzero(np.diff(ends // EVALUATION_SAMPLES)) + 1)
        return torch.stack(
            [loss for losses in self.each(of_group, groups, int(ends[-1])) for loss in losses]
        )

    def hits(self, params: Tensor, indices: np.ndarray) -> np.ndarray:
        """Whether ``params`` [P] predict each training sample of ``indices`` [m] correctly, bool
        [m].
        """

        def of_part(twin: Engine, own: Tensor) -> Tensor:
            return twin.model.output(params, self.x[own]).argmax(1) == self.y[own]

        number = min(len(indices), pieces(len(indices), EVALUATION_SAMPLES))
        parts = torch.from_numpy(indices).to(self.device).tensor_split(number)
        return torch.cat(list(self.each(of_part, parts, len(indices)))).cpu().numpy()
