"""Compressed uploads: what is sent, what is kept for later, what it costs, and which algorithms
cannot have them.
"""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Compressed, FedDyn, MimeLite, PowerOfChoice, Private
from fedlab_core.algorithms.compressed import largest, quantised
from fedlab_core.clients.updates import LocalUpdates
from tests.support import blobs, run

SIZES = (3, 17, 8, 30, 12)
WORK = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "clients_per_round": 3}


def history(algorithm: fl.Algorithm, **changes) -> fl.History:
    fed = blobs(SIZES)
    return run(fed, fl.models.mlp(fed, (6,), seed=1), algorithm, **(WORK | changes)).history


def started(algorithm: fl.Algorithm, size: int = 4):
    """A server with ``size`` parameters after set-up."""
    x = torch.eye(size, dtype=torch.float64)
    fed = fl.FederatedDataset.from_clients([(x, x[0])] * 3, test=(x, x[0]))
    simulation = run(
        fed, torch.nn.Linear(size, 1, bias=False).double(), algorithm, rounds=1, lr=1e-12
    )
    return simulation._server


def uploaded(
    algorithm: Compressed, server, clients: list[int], changes: list[list[float]]
) -> torch.Tensor:
    """The changes [K, P] that the server receives where the clients have ``changes``."""
    w = server.params
    rows = torch.tensor(changes, dtype=torch.float64)
    counts = torch.ones(len(clients), dtype=torch.float64)
    sent = algorithm.upload(
        server, LocalUpdates(np.array(clients), w + rows, counts, 7 * counts, w)
    )
    assert torch.equal(sent.num_samples, 7 * counts) and torch.equal(sent.num_steps, counts)
    assert sent.clients.tolist() == clients and torch.equal(sent.received, w)
    return sent.params - w


def close(found: torch.Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(
        found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9
    )


def test_the_largest_are_sent_and_the_rest_is_kept_for_later_for_each_client() -> None:
    algorithm = Compressed(fl.FedAvg(), keep=0.5)
    server = started(algorithm)
    close(
        uploaded(algorithm, server, [0, 2], [[3.0, -1.0, 0.5, 2.0], [0.1, 0.2, -0.3, 0.4]]),
        [[3.0, 0.0, 0.0, 2.0], [0.0, 0.0, -0.3, 0.4]],
    )
    close(uploaded(algorithm, server, [0], [[0.0, -1.0, 0.0, 0.1]]), [[0.0, -2.0, 0.5, 0.0]])
    close(
        uploaded(algorithm, server, [2, 1], [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 5.0]]),
        [[0.1, 0.2, 0.0, 0.0], [0.0, 0.0, 0.0, 5.0]],
    )
    residuals = server.state["residuals"].dense()
    close(residuals, [[0.0, 0.0, 0.0, 0.1], [0.0] * 4, [0.0] * 4])


@pytest.mark.parametrize("chosen", [{"bits": 3}, {"keep": 0.5, "bits": 4}], ids=str)
def test_all_is_said_in_the_end(chosen) -> None:
    """Σ c_k = Σ Δ_k − e_k, round after round."""
    algorithm = Compressed(fl.FedAvg(), **chosen)
    server = started(algorithm, 8)
    rng = np.random.default_rng(0)
    said = sent = torch.zeros(1, 8, dtype=torch.float64)
    for t in range(30):
        server.round = t + 1
        change = rng.normal(size=(1, 8)).tolist()
        said = said + torch.tensor(change, dtype=torch.float64)
        sent = sent + uploaded(algorithm, server, [1], change)
        residual = server.state["residuals"][1]
        torch.testing.assert_close(sent[0], said[0] - residual, rtol=0, atol=1e-9)
    assert residual.abs().max() > 1e-3


@pytest.mark.parametrize("bits", [3, 8])
def test_quantisation_is_unbiased_and_on_the_grid_of_each_client(bits: int) -> None:
    """The mean over the draws (j + ½)/m is off by half of 1/m steps at most."""
    values = torch.tensor([[0.7, -0.31, 0.0, 0.123, -1.9, 1.0], [0.0] * 6], dtype=torch.float64)
    steps = 2 ** (bits - 1) - 1
    m = 1000
    unit = 1.9 / steps
    grid = [(j + 0.5) / m for j in range(m)]
    found = torch.stack([quantised(values, bits, torch.full_like(values, draw)) for draw in grid])
    torch.testing.assert_close(found.mean(0), values, rtol=0, atol=0.5001 * unit / m)
    codes = found[:, 0] / unit
    torch.testing.assert_close(codes, codes.round(), rtol=0, atol=1e-9)
    assert (found - values).abs().max() < unit
    assert (found[:, 0, 4] == -1.9).all() and not found[:, :, 2].any() and not found[:, 1].any()
    assert codes.abs().max() <= steps + 1e-9 and 2 * steps + 1 < 2**bits


def test_the_model_lacks_what_is_left_out_and_a_single_client_reaches_its_optimum() -> None:
    b = torch.tensor([4.0, -3.0, 2.0, 0.5], dtype=torch.float64)
    # the mean over four samples: ½ (w_j − b_j)² in every entry
    x = 2 * torch.eye(4, dtype=torch.float64)
    fed = fl.FederatedDataset.from_clients([(x, 2 * b)], test=(x, 2 * b))
    model = torch.nn.Linear(4, 1, bias=False).double()
    torch.nn.init.zeros_(model.weight)
    for rounds, expected in ((1, [4 * 0.19, 0.0, 0.0, 0.0]), (200, b.tolist())):
        found = run(
            fed, model, Compressed(fl.FedAvg(), keep=0.25), rounds=rounds, local_steps=2
        ).history.params
        torch.testing.assert_close(
            found, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9
        )


@pytest.mark.parametrize("seed", range(2))
def test_both_engines_send_the_same_of_entries_that_are_equal(seed: int) -> None:
    """A softmax model of two classes has gradients in pairs, d and −d, equal up to rounding."""
    fed = blobs((5, 9, 12, 3), classes=2, seed=seed)
    model = fl.models.softmax_regression(fed, seed=seed).double()
    sparse = Compressed(fl.FedAvg(), keep=0.3)
    left, right = (
        run(fed, model, sparse, rounds=5, local_steps=4, batch_size=4, engine=engine).history.params
        for engine in ("reference", "stacked")
    )
    torch.testing.assert_close(left, right, rtol=0, atol=1e-12)


def test_the_first_of_equal_entries_are_kept() -> None:
    values = torch.tensor(
        [[3.0, 1.0, 3.0, 3.0, 9.0], [0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0, 5.0]]
    )
    assert largest(values, 3).tolist() == [[0, 2, 4], [0, 1, 2], [2, 3, 4]]
    nearly = torch.tensor([[1.0, 1.0 + 1e-6, 1.0, 0.99]])
    assert largest(nearly, 2).tolist() == [[0, 1]]


P = 4 * 6 + 6 + 6 * 3 + 3  # 51, of 8 bytes


@pytest.mark.parametrize(
    ("chosen", "size"),
    [
        ({"keep": 0.1}, 5 * 8 + 5 * 4),
        ({"keep": 0.001}, 1 * 8 + 1 * 4),
        ({"keep": 1.0, "bits": 12}, math.ceil(P * 12 / 8) + 8),
        ({"keep": 0.2, "bits": 7}, math.ceil(10 * 7 / 8) + 8 + 10 * 4),
    ],
    ids=str,
)
def test_ledger_counts_bytes(chosen, size: int) -> None:
    frame = history(Compressed(fl.FedAvg(), **chosen)).frame
    assert frame.bytes_up.tolist() == [3 * size * t for t in (1, 2, 3, 4)]
    assert frame.bytes_down.tolist() == [3 * P * 8 * t for t in (1, 2, 3, 4)]
    inner = history(MimeLite(0.5)).frame  # gradients go up and momentum down beside the parameters
    both = history(Compressed(MimeLite(0.5), **chosen)).frame
    assert (both.bytes_up - inner.bytes_up).tolist() == [
        3 * (size - P * 8) * t for t in (1, 2, 3, 4)
    ]
    assert both.bytes_down.equals(inner.bytes_down)


class Silent(fl.Algorithm):
    """Does not say what its server needs."""


@pytest.mark.parametrize(
    "inner",
    [fl.Scaffold(), fl.FedCurv(), FedDyn(1.0), Silent(), Private(fl.FedAvg(), 1.0, 1.0)],
    ids=str,
)
def test_algorithms_whose_clients_need_their_exact_parameters_are_refused(
    inner: fl.Algorithm,
) -> None:
    with pytest.raises(
        ValueError, match=r"inner=.*must have 'mean' or 'each'. Its clients need their exact"
    ):
        Compressed(inner, keep=0.1)


def test_the_inner_algorithm_is_checked_and_its_hooks_run() -> None:
    fed = blobs(SIZES)
    with pytest.raises(ValueError, match="candidates=2"):
        run(fed, fl.models.softmax_regression(fed), Compressed(PowerOfChoice(2), keep=0.1), **WORK)
    frame = history(Compressed(PowerOfChoice(5), keep=0.1)).frame
    assert frame.bytes_down.tolist() == [5 * P * 8 * t for t in (1, 2, 3, 4)]
    assert frame.bytes_up.tolist() == [(3 * 60 + 5 * 8) * t for t in (1, 2, 3, 4)]
    tiers = fl.FedMas(0.01, tiers=[0, 0, 1, 1, 1])  # measures its importance after aggregation
    assert history(Compressed(tiers, keep=1.0)).frame.bytes_up.equals(history(tiers).frame.bytes_up)


def test_each_client_has_a_scale_of_its_own_and_its_own_draws_in_each_round() -> None:
    rows = torch.tensor([[1.0, -0.4], [1e-3, 4e-4]], dtype=torch.float64)
    close(quantised(rows, 3, torch.full_like(rows, 0.5)), [[1.0, -1 / 3], [1e-3, 1e-3 / 3]])
    algorithm = Compressed(fl.FedAvg(), bits=3)
    row = np.random.default_rng(0).uniform(-1, 1, 50).tolist()
    both = uploaded(algorithm, started(algorithm, 50), [0, 2], [row, row])
    later = started(algorithm, 50)
    later.round = 2
    for other in (both[1], uploaded(algorithm, later, [0], [row])[0]):
        assert (other - both[0]).abs().max() > 0.1
