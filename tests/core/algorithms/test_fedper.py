"""FedPer: layers that stay, layers that are averaged, and what is sent."""

import numpy as np
import pytest
import torch
from torch import nn

import fedlab_core as fl
from fedlab_core.algorithms import FedPer
from tests.support import Trace, blobs, flat, run

RAGGED = (3, 17, 8, 30, 2)
MINI_BATCH = {
    "rounds": 4,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 5,
    "client_accuracy": True,
}


def own(sim: fl.Simulation) -> torch.Tensor:
    """The model of every client [N, P]."""
    return sim.algorithm.client_params(sim._server, np.arange(sim.fed.num_clients))


def test_with_everything_local_each_client_trains_alone_and_nothing_is_sent() -> None:
    fed = blobs(RAGGED)
    model = fl.models.mlp(fed, (6,), seed=1)
    work = {"rounds": 3, "local_steps": 4}
    sim = run(fed, model, FedPer(("1", "3")), **work)
    assert torch.equal(sim.history.params, flat(model))
    assert sim.history.frame[["bytes_up", "bytes_down"]].to_numpy().tolist() == [[0, 0]] * 3
    for k in range(5):
        alone = fl.FederatedDataset.from_clients([fed.client(k)], test=(fed.test.x, fed.test.y))
        expected = run(alone, model, fl.FedAvg(), **work).history.params
        torch.testing.assert_close(own(sim)[k], expected, rtol=0, atol=1e-12)


B = np.array([2.0, -1.0, 0.5, 3.0])
SIZES = np.array([1, 3, 2, 1])
LR = 0.2
STEPS = 3
START = {"weight": 0.3, "bias": -0.4}
PRESENT = [[True, True, False, False], [True, False, True, False], [False, True, True, False]]


def quadratics(engine: str, local: str) -> fl.Simulation:
    """FedPer on F_k(u, c) = ½ (u + c − b_k)² in weight u and bias c; client 3 never takes part."""
    ones = [torch.ones(n, 1, dtype=torch.float64) for n in SIZES]
    fed = fl.FederatedDataset.from_clients(
        [(x, b_k * x) for x, b_k in zip(ones, B, strict=True)], (ones[0], ones[0])
    )
    model = nn.Linear(1, 1).double()
    nn.init.constant_(model.weight, START["weight"])
    nn.init.constant_(model.bias, START["bias"])
    return fl.Simulation(
        fed,
        model,
        FedPer((local,)),
        rounds=6,
        clients_per_round=2,
        local_steps=STEPS,
        batch_size=None,
        lr=LR,
        engine=engine,
        loss="squared_error",
        availability=Trace(PRESENT),
        progress=False,
    )


def trained(shared: float, local: float, b_k: float) -> tuple[float, float]:
    """Both parameters after a client's gradient steps; their derivatives are equal."""
    for _ in range(STEPS):
        slope = shared + local - b_k
        shared = shared - LR * slope
        local = local - LR * slope
    return shared, local


@pytest.mark.parametrize(("engine", "local"), [("reference", "bias"), ("stacked", "weight")])
def test_every_round_by_hand(engine: str, local: str) -> None:
    """One of the two parameters stays with the client, the other is averaged with n_k weights."""
    sim = quadratics(engine, local)
    averaged = "bias" if local == "weight" else "weight"
    shared = START[averaged]
    stays = np.full(4, START[local])
    names = ["weight", "bias"]  # the order of the parameters
    for record in sim:
        cohort = np.flatnonzero(PRESENT[(record.round - 1) % 3])
        ends = []
        for k in cohort:
            end, stays[k] = trained(shared, stays[k], B[k])
            ends.append(end)
        shared = np.average(ends, weights=SIZES[cohort])
        models = own(sim).numpy()
        assert models[:, names.index(averaged)] == pytest.approx([shared] * 4, abs=1e-12)
        assert models[:, names.index(local)] == pytest.approx(stays, abs=1e-12)
        assert float(sim.history.params[names.index(local)]) == START[local]
    assert stays[3] == models[3, names.index(local)] == START[local]


@pytest.mark.parametrize(
    ("local", "stay"),
    [(("3",), 3 * 6 + 3), (("3.bias", "1.weight"), 3 + 6 * 4), (["1"], 6 * 4 + 6), ((), 0)],
    ids=str,
)
def test_only_what_is_shared_is_sent(local, stay: int) -> None:
    fed = blobs(RAGGED)
    frame = run(fed, fl.models.mlp(fed, (6,), seed=1), FedPer(local), **MINI_BATCH).history.frame
    expected = [3 * (51 - stay) * 8 * t for t in (1, 2, 3, 4)]
    assert frame.bytes_down.tolist() == frame.bytes_up.tolist() == expected


def test_the_server_never_sees_what_stays() -> None:
    seen = []

    class Watched(FedPer):
        def aggregate(self, server, updates):
            place = server.layout["3.weight"]
            seen.append(torch.equal(updates.params[:, place], server.params[place].expand(3, -1)))
            seen.append(torch.equal(updates.params[:, :24], server.params[:24].expand(3, -1)))
            return super().aggregate(server, updates)

    fed = blobs(RAGGED)
    run(fed, fl.models.mlp(fed, (6,), seed=1), Watched(("3",)), **MINI_BATCH)
    assert seen == [True, False] * 4


@pytest.mark.parametrize(
    ("local", "words"),
    [
        (("3.wieght",), r"local='3\.wieght': must be one of .* Did you mean '3\.weight'\?"),
        (("2",), "local='2': must be one of '1', '1.weight', '1.bias', '3', '3.weight', '3.bias'"),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(local, words: str) -> None:
    fed = blobs(RAGGED)
    with pytest.raises(ValueError, match=words):
        run(fed, fl.models.mlp(fed, (6,), seed=1), FedPer(local), rounds=1)


def test_layer_1_is_not_layer_11() -> None:
    layers = [nn.Linear(4, 4) if i % 2 else nn.Tanh() for i in range(11)]
    model = nn.Sequential(*layers, nn.Linear(4, 3)).double()  # layers 1, 3, …, 9 and 11
    frame = run(blobs(RAGGED), model, FedPer(("1",)), rounds=1, clients_per_round=1).history.frame
    assert frame.bytes_up.tolist() == [8 * (4 * 20 + 15)]
