"""The stacked engine: a cohort trained at once. Start reading here.

Every parameter tensor of the K clients is one run of memory (``buffers.py``, ``cohort.py``), and
every layer is one batch of matrix products over the clients (``layers.py``, ``convolution.py``),
which also subtracts the gradient. Clients are sorted by their number of steps, so that the active
ones are the first A rows (``batches.py``). Threads train chunks that fit into the cache
(``cutting.py``). Other modules go through ``torch.func.vmap`` (``network.py``).
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core.clients.memory import empty
from fedlab_core.correction import PLAIN, Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Engine
from fedlab_core.engines.cutting import chunks, pieces, useful_chunks
from fedlab_core.engines.stacked.batches import BatchTable
from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.cohort import Cohort, StackedCorrection, uncorrected
from fedlab_core.engines.stacked.layers import UnknownLayer
from fedlab_core.engines.stacked.losses import output_loss
from fedlab_core.engines.stacked.network import CohortModel, Network, VectorisedNetwork
from fedlab_core.engines.work import BatchPlan, Work
from fedlab_core.losses import Loss

CACHE_BYTES = 16_000_000
GATHERED_VALUES = 1_000_000
GRADIENT_VALUES = 2_000_000  # more would leave the cache
MOMENT_SAMPLES = 100


class Unstackable(TypeError):
    """A model that only the reference engine can train; the message has the reason."""


class StackedEngine(Engine):
    """Local training of all clients of a cohort at once. Raises :class:`Unstackable` for an unfit
    model.
    """

    name = "stacked"

    def __init__(
        self,
        fed: FederatedDataset,
        model: nn.Module,
        loss: Loss,
        device: str = "cpu",
        threads: int = 1,
    ) -> None:
        super().__init__(fed, model, loss, device, threads)
        if any(
            isinstance(layer, nn.modules.dropout._DropoutNd) and layer.p > 0
            for layer in model.modules()
        ):
            raise Unstackable("dropout needs separate random numbers for each client")
        self._workspace = Workspace(self.x)
        self._chunk_workspace = Workspace(self.model.parameters())
        self._rows = self.x.reshape(len(self.x), -1)
        self._network = self._cohort_model(loss)
        self._moment_network = loss, self._network  # the last one used
        self.form = "layers" if isinstance(self._network, Network) else "vmap"

    def twin(self) -> Self:
        twin = super().twin()
        twin._workspace = Workspace(self.x)
        twin._chunk_workspace = Workspace(self.model.parameters())
        twin._network = twin._network_like(self._network, self.loss)
        twin._moment_network = self.loss, twin._network
        return twin

    def _network_like(self, network: CohortModel, loss: Loss) -> CohortModel:
        if isinstance(network, Network):
            return Network(self.model.module, output_loss(loss), self.x[:1])
        return VectorisedNetwork(self.model, loss)

    def _cohort_model(self, loss: Loss) -> CohortModel:
        try:
            return self._tried(Network(self.model.module, output_loss(loss), self.x[:1]))
        except (UnknownLayer, Unstackable):
            return self._tried(VectorisedNetwork(self.model, loss))

    def _tried(self, network: CohortModel) -> CohortModel:
        """Try a step of two clients, so that an impossible model fails here and not in the first
        round.
        """
        self.model.train()
        try:
            first = torch.from_numpy(self.fed.indices[[0, 0]]).to(self.device)[:, None]
            params = self.model.parameters()
            nothing = StackedCorrection([PLAIN], 0.0, params, self._chunk_workspace)
            with torch.no_grad():
                cohort = Cohort(
                    network, params.new_empty(2, len(params)), nothing, self._chunk_workspace
                )
                cohort.step(*self._gather(network, first), None, lr=0.0)
        except RuntimeError as error:
            raise Unstackable(str(error).splitlines()[0]) from error
        return network

    def train_into(
        self,
        rows: Tensor,
        params: Tensor,
        work: Work,
        plans: Sequence[BatchPlan],
        corrections: Sequence[Correction],
    ) -> None:
        def train(twin: StackedEngine, chunk: np.ndarray) -> None:
            own = [corrections[i] for i in chunk]
            correction = StackedCorrection(own, work.lr, params, twin._chunk_workspace)
            samples = [self.fed.parts[work.clients[i]] for i in chunk]
            table = BatchTable([plans[i] for i in chunk], samples)
            twin.model.train()
            is_run = bool((np.diff(chunk) == 1).all())
            trained = (
                rows[chunk[0] : chunk[-1] + 1] if is_run else empty(rows, len(chunk), len(params))
            )
            twin._train_chunk(trained, table, correction, work.lr)
            if not is_run:
                rows[torch.from_numpy(chunk).to(rows.device)] = trained

        steps, sizes = (
            np.array([getattr(plan, name) for plan in plans])
            for name in ("num_steps", "batch_size")
        )
        cut = chunks(steps, self._num_chunks(steps, sizes))
        samples = 3 * int(steps @ sizes)  # a step costs three forward passes
        for _ in self.each(train, cut, samples):
            pass

    def _num_chunks(self, steps: np.ndarray, sizes: np.ndarray) -> int:
        """One chunk on a GPU; otherwise enough for each to fit into the cache, and more if each has
        enough work.
        """
        if self.x.device.type != "cpu":
            return 1
        clients = len(steps)
        values = self.model.size + int(sizes.max()) * self._network.scratch_per_sample
        products = int(steps @ sizes) * self.size.products // int(steps.max())  # of an average step
        cache = pieces(clients * values * self.model.dtype.itemsize, CACHE_BYTES)
        return min(clients, max(cache, useful_chunks(clients, products, self.size.calls)))

    def _train_chunk(
        self, rows: Tensor, table: BatchTable, correction: StackedCorrection, lr: float
    ) -> None:
        """Write the local parameters of the clients of a chunk to ``rows`` [A, P]."""
        cohort = Cohort(self._network, rows, correction, self._chunk_workspace)
        indices, counts = (
            torch.from_numpy(t).to(self.device) for t in (table.indices, table.counts)
        )
        per_sample = max(self._rows.shape[1], self._network.outputs)
        at_once = max(1, GATHERED_VALUES // (indices[0].numel() * per_sample))
        for step, (active, width, is_even) in enumerate(table.steps):
            cohort.keep_first(active)
            if step % at_once == 0:
                block = self._gather(self._network, indices[step : step + at_once, :active])
                batches = zip(*(values.unbind() for values in block), strict=True)
            x, y = next(batches)
            if y.shape[:2] != (active, width):
                x = x[:active, :width]
                y = y[:active, :width]
            cohort.step(x, y, None if is_even else counts[step, :active], lr)
        cohort.finish()

    def _gather(self, network: CohortModel, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """The samples with the indices ``chosen`` [*]: x [*, …], and y in the form that ``network``
        takes.
        """
        x = self._workspace.empty("x", chosen.numel(), self._rows.shape[1])
        torch.index_select(self._rows, 0, chosen.reshape(-1), out=x)
        return x.view(*chosen.shape, *self.x.shape[1:]), network.targets(self.y[chosen])

    def mean_gradients(
        self, params: Tensor, groups: Sequence[np.ndarray], training: bool = False
    ) -> Tensor:
        def gradients(twin: StackedEngine, chunk: slice) -> Tensor:
            twin.model.train(training)
            rows = params.expand(len(groups[chunk]), -1)
            return twin._at_once(twin._network, rows, groups[chunk], power=None)

        result = params.new_empty(len(groups), len(params))
        cut = self._chunks(groups)
        for chunk, rows in zip(
            cut, self.each(gradients, cut, 3 * sum(map(len, groups))), strict=True
        ):
            result[chunk] = rows
        return result

    @torch.no_grad()
    def moments(
        self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int
    ) -> Tensor:
        if self._moment_network[0] is not loss:
            self._moment_network = loss, self._cohort_model(loss)
        network = self._moment_network[1]
        size = MOMENT_SAMPLES if network.has_moments else 1  # samples per piece of a group
        parts = [
            group[start : start + size] for group in groups for start in range(0, len(group), size)
        ]
        owner = np.repeat(np.arange(len(groups)), [-(-len(group) // size) for group in groups])

        def sums(twin: StackedEngine, chunk: slice) -> tuple[Tensor, Tensor]:
            if twin._moment_network[0] is not loss:
                twin._moment_network = loss, twin._network_like(network, loss)
            twin.model.train(False)
            here = torch.from_numpy(owner[chunk]).to(self.device)
            return here, twin._at_once(twin._moment_network[1], params[here], parts[chunk], power)

        result = torch.zeros_like(params)
        for here, rows in self.each(sums, self._chunks(parts), 3 * sum(map(len, groups))):
            result.index_add_(0, here, rows)
        return result / torch.tensor(
            [[len(group)] for group in groups], dtype=params.dtype, device=self.device
        )

    def _chunks(self, groups: Sequence[np.ndarray]) -> list[slice]:
        """Runs of groups whose samples and parameters fit into the cache."""
        largest = max(len(group) for group in groups)
        at_once = max(1, GRADIENT_VALUES // max(largest * self._rows.shape[1], self.model.size))
        return [slice(start, start + at_once) for start in range(0, len(groups), at_once)]

    def _at_once(
        self, network: CohortModel, params: Tensor, groups: Sequence[np.ndarray], power: int | None
    ) -> Tensor:
        """The mean gradient [G, P] of each group at its row of ``params``, or the sum of its
        samples' |∇|^power.

        The gradient is the result of a step of size −1 from zero.
        """
        table = BatchTable.whole(groups)
        x, y = self._gather(network, torch.from_numpy(table.indices[0]).to(self.device))
        counts, (_, _, is_even) = torch.from_numpy(table.counts[0]).to(self.device), table.steps[0]
        here = network.layout.pack(params)
        target = torch.zeros_like(here)
        bound, bound_target = (
            network.bind(buffer, len(groups), len(groups)) for buffer in (here, target)
        )
        if power is not None and isinstance(network, Network) and network.has_moments:
            network.moments(bound, bound_target, x, y, counts, power)
        else:
            network.step(bound, bound_target, x, y, None if is_even else counts, -1.0, uncorrected)
            if power is not None:
                target.abs_().pow_(power)
        return network.layout.unpack(target, len(groups), slice(None), torch.empty_like(params))
