"""A model as a function of one flat parameter vector."""

import copy

import torch
from torch import nn
from torch.func import functional_call


class FlatModel:
    """A module whose P parameters are given as one vector [P], in the order of ``module.parameters()``.

    The module is copied; its own parameters are never changed. Buffers stay as they are.
    """

    def __init__(self, module: nn.Module, device: str | torch.device = "cpu") -> None:
        self.module = copy.deepcopy(module).to(device)
        self._named = [(name, value.shape, value.numel()) for name, value in self.module.named_parameters()]
        self._sizes = [numel for _, _, numel in self._named]
        self.size = sum(self._sizes)
        self.dtype = next(self.module.parameters()).dtype
        # A layer that is used twice must be swapped once; parameters that two layers share, in both of them.
        owned = [id(value) for layer in self.module.modules() for value in layer.parameters(recurse=False)]
        self._tie_weights = len(set(owned)) < len(owned)

    def parameters(self) -> torch.Tensor:
        """The module's own parameters as a vector [P]."""
        return torch.cat([value.detach().reshape(-1) for value in self.module.parameters()])

    def split(self, params: torch.Tensor) -> dict[str, torch.Tensor]:
        """Views of ``params`` [P] in the shapes of the module's parameters."""
        pieces = params.split(self._sizes)
        return {name: piece.view(shape) for (name, shape, _), piece in zip(self._named, pieces, strict=True)}

    def __call__(self, params: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """The module's output on ``x`` with the parameters ``params`` [P]."""
        return functional_call(self.module, self.split(params), (x,), tie_weights=self._tie_weights)

    def with_parameters(self, params: torch.Tensor) -> nn.Module:
        """A copy of the module that holds ``params`` [P]."""
        module = copy.deepcopy(self.module)
        torch.nn.utils.vector_to_parameters(params.clone(), module.parameters())
        return module
