"""A model as a function of one flat parameter vector."""

import copy
import itertools
from typing import Self

import torch
from torch import Tensor, nn
from torch.func import functional_call

from fedlab_core import inspection
from fedlab_core.losses import Loss


class FlatModel:
    """A copy of a module, called with its trained parameters as one vector [P] in the order of
    ``parameters()``.
    """

    def __init__(self, module: nn.Module, device: str | torch.device = "cpu") -> None:
        self.module = copy.deepcopy(module).to(device)
        for layer in self.module.modules():
            if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
                layer.sparse = False  # gradients are one dense vector here
        self._trainable = inspection.trainable(self.module)
        self._shapes = {name: value.shape for name, value in self._trainable.items()}
        self._sizes = [shape.numel() for shape in self._shapes.values()]
        self.size = sum(self._sizes)
        self.dtype = next(iter(self._trainable.values())).dtype
        # parameters that two layers share are swapped in both
        owned = list[int]()
        for layer in self.module.modules():
            owned += [id(value) for value in layer.parameters(recurse=False)]
        self._tie_weights = len(set(owned)) < len(owned)
        self.writes_input = True  # False: its forward pass is known to leave its input as it is

    def parameters(self) -> Tensor:
        """The module's own parameters as a vector [P]."""
        return torch.cat([value.detach().reshape(-1) for value in self._trainable.values()])

    @property
    def layout(self) -> dict[str, slice]:
        """The slice of each named tensor in the vector."""
        bounds = itertools.pairwise(itertools.accumulate(self._sizes, initial=0))
        return {name: slice(*pair) for name, pair in zip(self._shapes, bounds, strict=True)}

    def train(self, training: bool = True) -> None:
        """Put the module into training or evaluation mode."""
        inspection.set_training(self.module, training)

    def __call__(self, params: Tensor, x: Tensor) -> Tensor:
        """The module's output on ``x`` with the parameters ``params`` [P]."""
        pieces = zip(self._shapes.items(), params.split(self._sizes), strict=True)
        views = {name: piece.view(shape) for (name, shape), piece in pieces}
        return functional_call(self.module, views, (x,), tie_weights=self._tie_weights)

    def gradient(self, params: Tensor, x: Tensor, y: Tensor, loss: Loss) -> Tensor:
        """The gradient [P] of ``loss`` over the samples ``x`` [n, …], ``y`` [n, …] with respect to
        ``params`` [P].
        """
        with torch.enable_grad():
            params = params.detach().requires_grad_()
            return torch.autograd.grad(loss(self(params, x), y), params)[0]

    @torch.no_grad()
    def output(self, params: Tensor, x: Tensor) -> Tensor:
        """The output on ``x`` [n, …], or on a copy of it, in evaluation mode."""
        self.train(False)
        return self(params, x.clone() if self.writes_input else x)

    def twin(self) -> Self:
        """A copy for another thread, which shares all tensors but not what a call stores in a
        module.
        """
        twin = copy.copy(self)
        # such as a tensor that a hook computes
        held = [vars(layer).values() for layer in self.module.modules()]
        tensors = [*self.module.parameters(), *self.module.buffers(), *itertools.chain(*held)]
        twin.module = copy.deepcopy(
            self.module, {id(value): value for value in tensors if isinstance(value, Tensor)}
        )
        return twin

    def with_parameters(self, params: Tensor) -> nn.Module:
        """A copy of the module that holds ``params`` [P]."""
        module = copy.deepcopy(self.module)
        torch.nn.utils.vector_to_parameters(params.clone(), inspection.trainable(module).values())
        return module
