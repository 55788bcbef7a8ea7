"""Where a client starts, how it steps, how much it does, and what the server can ask and know
meanwhile.
"""

from typing import ClassVar

import numpy as np
import pytest
import torch
from torch.nn import functional

import fedlab_core as fl
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.engines import base
from fedlab_core.server import Server
from tests.support import blobs

ETA = 0.1
STEPS = 6
WORK = {
    "rounds": 1,
    "clients_per_round": 1.0,
    "local_steps": STEPS,
    "batch_size": None,
    "lr": ETA,
    "progress": False,
}
ENGINES = ("reference", "stacked")


def quadratics(*minima: float) -> tuple[fl.FederatedDataset, torch.nn.Module]:
    """F_k(w) = ½ (w − b_k)² + constant: one weight, one sample x = 1 with the target b_k."""
    clients = [
        (torch.ones(1, 1, dtype=torch.float64), torch.tensor([b], dtype=torch.float64))
        for b in minima
    ]
    fed = fl.FederatedDataset.from_clients(clients, test=clients[0])
    model = torch.nn.Sequential(torch.nn.Linear(1, 1, bias=False)).double()
    torch.nn.init.zeros_(model[0].weight)
    return fed, model


class Fixed(fl.Algorithm):
    """The same correction for everybody."""

    def __init__(self, **fields) -> None:
        self.fields = fields

    def correction(self, server: Server, client: int) -> fl.Correction:
        fields = {
            n: torch.full_like(server.params, v) if n in ("start", "anchor") else v
            for n, v in self.fields.items()
        }
        return fl.Correction(**fields)


def heavy_ball(b: float, *, start=0.0, m=0.0, s=1.0, a=0.0, r=0.0, steps=STEPS, lr=ETA) -> float:
    y = start
    v = 0.0
    for _ in range(steps):
        v = m * v + (y - b) + a * (y - r)
        y -= lr * s * v
    return y


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"start": 3.0}, {"start": 3.0}),
        ({"momentum": 0.9}, {"m": 0.9}),
        ({"amount": 2}, {"steps": 2}),
        ({"scale": 0.25}, {"s": 0.25}),
        (
            {"momentum": 0.5, "weight": 2.0, "anchor": 0.7, "scale": 0.5},
            {"m": 0.5, "a": 2.0, "r": 0.7, "s": 0.5},
        ),
        ({"start": -1.0, "momentum": 0.3, "amount": 9}, {"start": -1.0, "m": 0.3, "steps": 9}),
    ],
    ids=str,
)
def test_the_step_on_a_quadratic(engine: str, fields, expected) -> None:
    fed, model = quadratics(2.0)
    history = fl.simulate(fed, model, Fixed(**fields), engine=engine, **WORK, loss="squared_error")
    assert float(history.params) == pytest.approx(heavy_ball(2.0, **expected), abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_runs_momentum_is_that_of_every_client_that_has_none_of_its_own(engine: str) -> None:
    fed, model = quadratics(2.0)
    work = {**WORK, "engine": engine, "loss": "squared_error", "local_momentum": 0.9}
    for algorithm, m in (
        (fl.FedAvg(), 0.9),
        (Fixed(momentum=0.1), 0.1),
        (Fixed(momentum=0.0), 0.0),
    ):
        params = float(fl.simulate(fed, model, algorithm, **work).params)
        assert params == pytest.approx(heavy_ball(2.0, m=m), abs=1e-12)


class Asking(fl.Algorithm):
    """Asks what it can ask, and keeps the answers where the test finds them."""

    seen: ClassVar[list] = []

    def cohorts(self, server: Server):
        yield np.array([2, 0]), {"model": 1}
        yield np.array([1])

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        at = torch.stack([server.params, updates.params[0]])
        self.seen.append((server.tag, server.params, updates, server.losses(updates.clients), at))
        self.seen[-1] += (server.losses(updates.clients, at), server.stream("noise").random())
        return server.params


@pytest.mark.parametrize(("engine", "limit"), [("reference", 1), ("stacked", 10_000)])
def test_losses_tags_and_streams(engine: str, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "EVALUATION_SAMPLES", limit)
    fed = blobs((9, 5, 12))
    asking = Asking()
    asking.seen.clear()
    model = fl.models.mlp(fed, (4,), seed=1)
    fl.simulate(fed, model, asking, **WORK, engine=engine)
    assert [seen[0] for seen in asking.seen] == [{"model": 1}, None]
    for _, params, updates, losses, at, several, _ in asking.seen:
        assert torch.equal(updates.received, params)

        def loss(vector: torch.Tensor, client: int) -> torch.Tensor:
            torch.nn.utils.vector_to_parameters(vector, model.parameters())
            x, y = fed.client(client)
            return functional.cross_entropy(model(x), y).detach()

        expected = torch.stack(
            [torch.stack([loss(row, client) for client in updates.clients]) for row in at]
        )
        torch.testing.assert_close(several, expected, rtol=0, atol=1e-12)
        torch.testing.assert_close(losses, expected[0], rtol=0, atol=1e-12)
    # one stream for a round, whatever is drawn from others
    assert asking.seen[0][-1] == asking.seen[1][-1]


def test_a_client_that_diverges_ends_the_run() -> None:
    fed, model = quadratics(1.0, 2.0)
    with pytest.raises(fl.Diverged, match="client 0"):
        fl.simulate(fed, model, fl.FedAvg(), **{**WORK, "lr": 1e300}, loss="squared_error")
