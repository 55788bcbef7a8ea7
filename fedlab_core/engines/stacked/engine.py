"""The stacked engine: a whole cohort trained at once.

The idea in one page. A loop over clients spends most of its time on overhead: a step of a small model is a handful of
tiny products. Here every parameter tensor of the K clients of a cohort is one run of memory (``buffers.py``,
``cohort.py``), and every layer is one batch of matrix products over the leading client dimension, so a step costs a
handful of calls for all of them together. What brings it near the cost of the bare products:

1. The SGD step is taken inside the backward pass, layer by layer, and no optimiser passes over the weights. A linear
   layer, a convolution of raw images and the recurrent layer subtract their gradient from the weights in the very
   product that would form it, so that it is never stored (``layers.py``); any other convolution subtracts it at once.
2. A convolution gathers the patches of its input, into buffers that are used again, and is a matrix product too; a
   large one is left to PyTorch, client after client (``convolution.py``).
3. Clients are sorted by their number of steps, so those that still work are always the first A rows (``batches.py``);
   when half of them are done, the memory is packed anew.
4. A cohort is cut into chunks of clients whose parameters and patches stay in the cache.

A module with a layer that has no such form goes through ``torch.func.vmap`` (``network.py``), which forms the whole
gradient [A, P] of a step. Random streams and the order of the samples are the reference engine's; so are the results,
up to rounding.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from fedlab_core.correction import PLAIN, Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Engine
from fedlab_core.engines.stacked.batches import BatchTable
from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.cohort import Cohort, StackedCorrection, uncorrected
from fedlab_core.engines.stacked.layers import UnknownLayer
from fedlab_core.engines.stacked.losses import output_loss
from fedlab_core.engines.stacked.network import CohortModel, Network, VectorisedNetwork
from fedlab_core.engines.work import BatchPlan, Work
from fedlab_core.losses import Loss
from fedlab_core.updates import Rows

CACHE_BYTES = 8_000_000
GATHERED_VALUES = 1_000_000
GRADIENT_VALUES = 2_000_000  # ten times as many take seven times as long: they leave the cache
MOMENT_SAMPLES = 100


class Unstackable(TypeError):
    """A model that only the reference engine can train; the message says why."""


class StackedEngine(Engine):
    """Local training of all clients of a cohort at once.

    ``form`` is "layers" for a model made of known layers and "vmap" for any other. Raises :class:`Unstackable` for a
    model that cannot be trained this way at all; whether one is trained rightly, ``agreement.check`` says.
    """

    name = "stacked"

    def __init__(self, fed: FederatedDataset, model: nn.Module, loss: Loss, device: str = "cpu") -> None:
        super().__init__(fed, model, loss, device)
        if any(isinstance(layer, nn.modules.dropout._DropoutNd) and layer.p > 0 for layer in model.modules()):
            raise Unstackable("dropout draws random numbers for each client on its own")
        self._workspace = Workspace(self.x)
        self._rows = self.x.reshape(len(self.x), -1)
        self._network = self._cohort_model(loss)
        self._moment_network = loss, self._network  # the last one asked for
        self.form = "layers" if isinstance(self._network, Network) else "vmap"

    def _cohort_model(self, loss: Loss) -> CohortModel:
        """A network of known layers, or else the module itself through vmap."""
        try:
            return self._tried(Network(self.model.module, output_loss(loss), self.x[:1]))
        except (UnknownLayer, Unstackable):
            return self._tried(VectorisedNetwork(self.model, loss))

    def _tried(self, network: CohortModel) -> CohortModel:
        """Two clients with the first sample each: what cannot be vectorised fails here and not in the first round."""
        self.model.train()
        try:
            first = torch.from_numpy(self.fed.indices[[0, 0]]).to(self.device)[:, None]
            nothing = StackedCorrection([PLAIN], 0.0, self.model.parameters())
            with torch.no_grad():
                Cohort(network, 2, nothing).step(*self._gather(first), None, lr=0.0)
        except RuntimeError as error:
            raise Unstackable(str(error).splitlines()[0]) from error
        return network

    @torch.no_grad()
    def trained(
        self, params: Tensor, work: Work, plans: Sequence[BatchPlan], corrections: Sequence[Correction]
    ) -> Rows:
        steps = np.array([plan.num_steps for plan in plans])
        num_chunks = self._num_chunks(len(plans), max(plan.batch_size for plan in plans))
        for chunk in np.array_split(np.argsort(-steps, kind="stable"), num_chunks):  # those with most steps first
            table = BatchTable([plans[i] for i in chunk], [self.fed.parts[work.clients[i]] for i in chunk])
            correction = StackedCorrection([corrections[i] for i in chunk], work.lr, params)
            self.model.train()
            yield chunk, self._train_chunk(table, correction, work.lr)

    def _num_chunks(self, clients: int, batch: int) -> int:
        """As many as keep the parameters and the patches of a chunk in the cache; one on a GPU, which needs width."""
        if torch.device(self.device).type != "cpu":
            return 1
        values = self.model.size + batch * self._network.scratch_per_sample
        return min(clients, -(-clients * values * self.model.dtype.itemsize // CACHE_BYTES))

    def _train_chunk(self, table: BatchTable, correction: StackedCorrection, lr: float) -> Tensor:
        """The final parameters [A, P] of the chunk's clients."""
        cohort = Cohort(self._network, table.indices.shape[1], correction)
        indices, counts = (torch.from_numpy(t).to(self.device) for t in (table.indices, table.counts))
        at_once = max(1, GATHERED_VALUES // (indices[0].numel() * self._rows.shape[1]))
        for step, (active, width, is_even) in enumerate(table.steps):
            cohort.keep_first(active)
            if step % at_once == 0:
                x, y = self._gather(indices[step : step + at_once, :active])
            here = x[step % at_once], y[step % at_once]
            if here[1].shape[:2] != (active, width):
                here = here[0][:active, :width], here[1][:active, :width]
            cohort.step(*here, None if is_even else counts[step, :active], lr)
        return cohort.finish()

    def _gather(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """The samples with the indices ``chosen``, of any shape [*]: x [*, …] and y [*, …]."""
        x = self._workspace.empty("x", chosen.numel(), self._rows.shape[1])
        torch.index_select(self._rows, 0, chosen.reshape(-1), out=x)
        return x.view(*chosen.shape, *self.x.shape[1:]), self.y[chosen]

    @torch.no_grad()
    def mean_gradients(self, params: Tensor, groups: Sequence[np.ndarray], training: bool = False) -> Tensor:
        """What a step of size −1 from zero leaves."""
        self.model.train(training)
        result = params.new_empty(len(groups), len(params))
        for chunk in self._chunks(groups):
            rows = params.expand(len(groups[chunk]), -1)
            result[chunk] = self._at_once(self._network, rows, groups[chunk], power=None)
        return result

    @torch.no_grad()
    def moments(self, params: Tensor, groups: Sequence[np.ndarray], loss: Loss, power: int) -> Tensor:
        """Groups are cut into pieces, of one sample each if the model cannot keep samples apart otherwise."""
        self.model.train(False)
        if self._moment_network[0] is not loss:
            self._moment_network = loss, self._cohort_model(loss)
        network = self._moment_network[1]
        size = MOMENT_SAMPLES if network.has_moments else 1
        pieces = [group[start : start + size] for group in groups for start in range(0, len(group), size)]
        owner = np.repeat(np.arange(len(groups)), [-(-len(group) // size) for group in groups])
        result = torch.zeros_like(params)
        for chunk in self._chunks(pieces):
            here = torch.from_numpy(owner[chunk]).to(self.device)
            result.index_add_(0, here, self._at_once(network, params[here], pieces[chunk], power))
        return result / torch.tensor([[len(group)] for group in groups], dtype=params.dtype, device=self.device)

    def _chunks(self, groups: Sequence[np.ndarray]) -> list[slice]:
        """Runs of groups whose samples and whose parameters fit in memory together."""
        largest = max(len(group) for group in groups)
        at_once = max(1, GRADIENT_VALUES // max(largest * self._rows.shape[1], self.model.size))
        return [slice(start, start + at_once) for start in range(0, len(groups), at_once)]

    def _at_once(self, network: CohortModel, params: Tensor, groups: Sequence[np.ndarray], power: int | None) -> Tensor:
        """The mean gradient [G, P] of each group at its row of ``params``; or the sum of its samples' |∇|^power."""
        table = BatchTable.whole(groups)
        x, y = self._gather(torch.from_numpy(table.indices[0]).to(self.device))
        counts, (_, _, is_even) = torch.from_numpy(table.counts[0]).to(self.device), table.steps[0]
        here = network.layout.pack(params)
        target = torch.zeros_like(here)
        bound, bound_target = (network.bind(buffer, len(groups), len(groups)) for buffer in (here, target))
        if power is not None and isinstance(network, Network) and network.has_moments:
            network.moments(bound, bound_target, x, y, counts, power)
        else:
            network.step(bound, bound_target, x, y, None if is_even else counts, -1.0, uncorrected)
            if power is not None:
                target.abs_().pow_(power)
        return network.layout.unpack(target, len(groups), slice(None))
