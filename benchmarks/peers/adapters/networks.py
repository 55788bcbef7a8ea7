"""PyTorch modules, weights and accuracy for the adapters that train with PyTorch."""

import multiprocessing

import torch
from torch import nn

from benchmarks.peers.adapters.protocol import Work


def network(work: Work) -> nn.Sequential:
    """The task's network with its initial weights."""
    module = module_of(work.layers)
    module.load_state_dict(
        {name: torch.from_numpy(value.copy()) for name, value in work.start.items()}
    )
    return module


def module_of(layers: list[list[object]]) -> nn.Sequential:
    """A network of these layers."""
    return nn.Sequential(*[_layer(*layer) for layer in layers])


def _layer(kind: str, *sizes: int) -> nn.Module:
    if kind == "convolution":
        return nn.Conv2d(*sizes)
    if kind == "linear":
        return nn.Linear(*sizes)
    return {"relu": nn.ReLU, "flatten": nn.Flatten, "maxpool": lambda: nn.MaxPool2d(2)}[kind]()


class Counted(nn.Module):
    """A network that counts the samples that it is trained on, in forked processes too."""

    total = multiprocessing.get_context("fork").Value("q", 0)

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.training:
            with Counted.total.get_lock():
                Counted.total.value += len(x)
        return self.inner(x)


def tensors(work: Work) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Samples and targets of each client."""
    found = []
    for k in range(len(work.parts)):
        x, y = work.client(k)
        found.append((torch.from_numpy(x), torch.from_numpy(y)))
    return found


@torch.no_grad()
def accuracy(module: nn.Module, work: Work) -> float:
    """The fraction of the test set that the network classifies correctly."""
    module.eval()
    right = 0
    pairs = zip(
        torch.from_numpy(work.test_x).split(1000),
        torch.from_numpy(work.test_y).split(1000),
        strict=True,
    )
    for x, y in pairs:
        right += int((module(x).argmax(1) == y).sum())
    return right / len(work.test_y)
