"""Special cases: which algorithm equals which; renumbered clients; communication."""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core import algorithms as al
from tests.support import blobs, renumbered, run

RAGGED = (3, 17, 8, 30, 1)
EQUAL = (12, 12, 12, 12)
MINI_BATCH = {"local_epochs": 2, "batch_size": 5, "rounds": 4, "clients_per_round": 3}
PLAIN = fl.FedAvg()
PROX = fl.FedProx(0.3)
NOVA = fl.FedNova(0.3)
MOMENTUM = al.FedAvgM()


def final(fed: fl.FederatedDataset, algorithm: fl.Algorithm, **arguments) -> torch.Tensor:
    return run(fed, fl.models.mlp(fed, hidden=(6,), seed=1), algorithm, **arguments).history.params


@pytest.mark.parametrize(
    ("special", "plain"),
    [
        (fl.FedProx(0.0), fl.FedAvg()),
        (fl.FedCurv(0.0), fl.FedAvg()),
        (fl.FedMas(0.0, tiers="one"), fl.FedAvg()),
        (al.TFedAvg(tiers="one"), fl.FedAvg()),
        (al.FedAvgMas(0.1), fl.FedMas(0.1, tiers="one")),
        (al.TFedAvg(tiers=[0, 0, 1, 1, 2]), fl.FedMas(0.0, tiers=[0, 0, 1, 1, 2])),
        (al.TFedAvgMas(0.1, tiers=[0, 0, 1, 1, 2]), fl.FedMas(0.1, tiers=[0, 0, 1, 1, 2])),
        (al.IFCA(1), fl.FedAvg()),
        (al.FedPer(()), fl.FedAvg()),
        *(
            (al.Compressed(inner, keep=1.0), inner)
            for inner in (PLAIN, NOVA, MOMENTUM, al.PowerOfChoice(4))
        ),
        *(
            (al.Private(inner, math.inf, 0.0), inner)
            for inner in (PLAIN, PROX, MOMENTUM, al.FedAdam(0.1))
        ),
    ],
    ids=str,
)
def test_a_special_case_is_the_plain_algorithm_bit_for_bit(special, plain) -> None:
    fed = blobs(RAGGED)
    work = {**MINI_BATCH, "client_accuracy": True}
    left, right = (
        run(fed, fl.models.mlp(fed, (6,), seed=1), each, **work).history
        for each in (special, plain)
    )
    assert torch.equal(left.params, right.params)
    assert left.frame.drop(columns="seconds").equals(right.frame.drop(columns="seconds"))
    assert (left.client_accuracy == right.client_accuracy).all()


@pytest.mark.parametrize("algorithm", [al.Ditto(0.3), al.FineTune(3)], ids=str)
def test_personal_models_leave_the_run_as_it_is(algorithm: fl.Algorithm) -> None:
    fed = blobs(RAGGED)
    work = {**MINI_BATCH, "stragglers": 0.5}
    model = fl.models.mlp(fed, (6,), seed=1)
    plain = run(fed, model, fl.FedAvg(), **work).history
    for often in (False, True):
        found = run(fed, model, algorithm, **work, client_accuracy=often).history
        assert torch.equal(found.params, plain.params)
        assert found.frame.drop(columns="seconds").equals(plain.frame.drop(columns="seconds"))
        assert found.clients.accuracy.mean() > plain.clients.accuracy.mean()


@pytest.mark.parametrize(
    ("algorithm", "sizes", "changes"),
    [
        (al.FedAvgM(beta=0.0), RAGGED, {}),
        (al.MimeLite(0.0), EQUAL, {}),
        (al.QFedAvg(0.0), EQUAL, {}),
        (al.PowerOfChoice(4), EQUAL, {"clients_per_round": 4}),
        (al.Private(fl.FedAvg(), clip=1e6, noise=0.0), EQUAL, {}),
        (fl.FedNova(), RAGGED, {"local_steps": 6}),
        (fl.FedProx(3.0), RAGGED, {"local_steps": 1}),  # a penalty is zero in the first local step
        (al.FedAvgMas(0.3), RAGGED, {"local_steps": 1}),
        (fl.Scaffold(), EQUAL, {"rounds": 1}),  # the controls are zero in the first round
        (fl.Scaffold(option=1), EQUAL, {"rounds": 1}),
    ],
    ids=str,
)
def test_a_special_case_is_fedavg_up_to_rounding(algorithm: fl.Algorithm, sizes, changes) -> None:
    fed = blobs(sizes)
    work = {**MINI_BATCH, **changes}
    if "local_steps" in work:
        del work["local_epochs"]
    torch.testing.assert_close(
        final(fed, algorithm, **work), final(fed, fl.FedAvg(), **work), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize(
    "algorithm",
    [
        fl.FedAvg(),
        fl.FedProx(0.4),
        fl.Scaffold(),
        fl.Scaffold(option=1),
        fl.FedNova(),
        fl.FedCurv(0.5),
        fl.FedSSO(probe="full_batch"),
        al.FedAvgM(),
        al.FedAdam(0.05),
        al.FedYogi(0.05),
        al.FedDyn(0.5),
        al.MimeLite(0.7),
        al.QFedAvg(1.5),
        al.PowerOfChoice(5),
        al.Compressed(fl.FedAvg(), keep=0.3),
        al.Private(fl.FedAvg(), clip=0.05, noise=0.1),
        al.IFCA(2),
        al.Ditto(0.3),
        al.FedPer(("3",)),
    ],
    ids=str,
)
def test_renumbering_the_clients_changes_nothing(algorithm: fl.Algorithm) -> None:
    """A server that lets the last client overwrite the sum fails here; personal models are
    renumbered too.
    """
    fed = blobs(RAGGED)
    order = [3, 0, 4, 2, 1]
    model = fl.models.mlp(fed, hidden=(6,), seed=1)
    left, right = (
        run(data, model, algorithm, local_steps=5, rounds=6)
        for data in (fed, renumbered(fed, order))
    )
    torch.testing.assert_close(right.history.params, left.history.params, rtol=0, atol=1e-12)
    rows, others = (
        algorithm.client_params(each._server, np.arange(5)).expand(5, -1) for each in (left, right)
    )
    torch.testing.assert_close(others, rows[order], rtol=0, atol=1e-12)


P = 4 * 3 + 3


@pytest.mark.parametrize(
    ("algorithm", "down", "up"),
    [
        (fl.FedAvg(), P, P),
        (fl.FedProx(0.1), P, P),
        (fl.Scaffold(), 2 * P, 2 * P),
        (fl.FedNova(), P, P + 1),
        (al.FedAvgM(), P, P),
        (al.FedAdam(0.1), P, P),
        (al.FedDyn(1.0), P, P),
        (al.MimeLite(0.5), 2 * P, 2 * P),
        (al.QFedAvg(1.0), P, P + 1),
        (al.IFCA(1), P, P),
        (al.IFCA(3), 3 * P, P + 1),
        (al.FedPer(("1.bias",)), P - 3, P - 3),
        (al.Private(fl.FedAvg(), 1.0, 1.0), P, P),
    ],
    ids=str,
)
def test_numbers_sent_down_and_up_per_client(algorithm: fl.Algorithm, down: int, up: int) -> None:
    fed = blobs((3, 17, 8, 30))
    work = {"local_steps": 2, "rounds": 3, "clients_per_round": 2}
    frame = run(fed, fl.models.softmax_regression(fed), algorithm, **work).history.frame
    assert frame.bytes_down.tolist() == [2 * down * 8 * t for t in (1, 2, 3)]
    assert frame.bytes_up.tolist() == [2 * up * 8 * t for t in (1, 2, 3)]
    assert frame.server_updates.tolist() == [1, 2, 3]
