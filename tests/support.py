"""Small federations with known answers, shared by the tests."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.sampling import Availability


def quadratics(
    a: Sequence[float], b: Sequence[float], sizes: Sequence[int] | None = None
) -> fl.FederatedDataset:
    """f_i(x) = a_i/2 (x − b_i)²: a linear model without bias on the sample √a_i → √a_i·b_i,
    repeated n_i times.
    """
    sizes = [1] * len(a) if sizes is None else sizes
    clients = []
    for a_i, b_i, n_i in zip(a, b, sizes, strict=True):
        x = torch.full((n_i, 1), math.sqrt(a_i), dtype=torch.float64)
        clients.append((x, x * b_i))
    return fl.FederatedDataset.from_clients(clients, test=clients[0])


def scalar_model(start: float = 0.0) -> nn.Module:
    """x ↦ start·x in float64."""
    model = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(model.weight, start)
    return model


def simulation(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **arguments: Any
) -> fl.Simulation:
    """A simulation that has not begun; full participation, full batch and ten local steps unless
    said otherwise.
    """
    if "local_epochs" not in arguments:
        arguments.setdefault("local_steps", 10)
    loss = "squared_error" if fed.num_classes is None else "cross_entropy"
    defaults = {
        "clients_per_round": 1.0,
        "batch_size": None,
        "lr": 0.1,
        "loss": loss,
        "progress": False,
    }
    return fl.Simulation(fed, model, algorithm, **{**defaults, **arguments})


def run(
    fed: fl.FederatedDataset, model: nn.Module, algorithm: fl.Algorithm, **arguments: Any
) -> fl.Simulation:
    """A finished :func:`simulation`."""
    finished = simulation(fed, model, algorithm, **arguments)
    finished.run()
    return finished


def renumbered(fed: fl.FederatedDataset, order: Sequence[int]) -> fl.FederatedDataset:
    """The same clients in another order."""
    return fl.FederatedDataset.from_clients(
        [fed.client(k) for k in order], test=(fed.test.x, fed.test.y)
    )


def limit(
    fed: fl.FederatedDataset,
    algorithm: fl.Algorithm,
    *,
    rounds: int = 100,
    start: float = 0.0,
    **arguments: Any,
) -> float:
    """Where a scalar run ends."""
    arguments.setdefault("eval_every", rounds)
    return float(
        run(fed, scalar_model(start), algorithm, rounds=rounds, **arguments).history.params[0]
    )


def path(
    fed: fl.FederatedDataset, algorithm: fl.Algorithm, *, start: float = 0.0, **arguments: Any
) -> np.ndarray:
    """The parameter of a scalar :func:`simulation` after each round."""
    begun = simulation(fed, scalar_model(start), algorithm, **arguments)
    return np.array([float(begun.history.params[0]) for _ in begun])


def blobs(
    sizes: Sequence[int], *, classes: int = 3, dim: int = 4, seed: int = 0, dtype=torch.float64
) -> fl.FederatedDataset:
    """Overlapping Gaussian classes dealt out with the given sizes; each client lacks one class."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(classes, dim))

    def draw(n: int, missing: int | None) -> tuple[torch.Tensor, torch.Tensor]:
        allowed = [c for c in range(classes) if c != missing]
        y = rng.choice(allowed, size=n)
        x = centres[y] + rng.normal(size=(n, dim))
        return torch.tensor(x, dtype=dtype), torch.tensor(y)

    clients = [draw(n, k % classes) for k, n in enumerate(sizes)]
    return fl.FederatedDataset.from_clients(clients, test=draw(50, None))


def one_sample_each(num_clients: int) -> fl.FederatedDataset:
    """As many clients as one likes, with 50 random features and one of ten labels."""
    generator = torch.Generator().manual_seed(0)
    train = Split(torch.rand(num_clients, 50, generator=generator), torch.arange(num_clients) % 10)
    return fl.FederatedDataset(Dataset("many", train, train, 10), [[k] for k in range(num_clients)])


def flat(model: nn.Module) -> torch.Tensor:
    """The parameters of a module as one vector."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach()


class Trace(Availability):
    """A given record of who is there: ``table`` bool [rounds, N], its first row for round 1,
    repeated after its end.
    """

    def __init__(self, table: Any) -> None:
        self.table = np.asarray(table)

    def available(self, round: int, rng: np.random.Generator) -> np.ndarray:
        return self.table[(round - 1) % len(self.table)]
