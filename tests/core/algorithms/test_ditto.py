"""Ditto: a global model that is FedAvg's, and personal models between it and each client's own
minimum.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Ditto
from tests.support import Trace, blobs, quadratics, run, scalar_model, simulation

RAGGED = (3, 17, 8, 30, 2)
A = np.array([1.0, 3.0, 0.5, 2.0])
B = np.array([0.0, 1.0, -2.0, 4.0])
SIZES = np.array([2, 1, 3, 1])
LR = 0.05
STEPS = 6
START = 1.5


def personal(sim: fl.Simulation) -> torch.Tensor:
    """v_k of every client [N, P]."""
    return sim.algorithm.client_params(sim._server, np.arange(sim.fed.num_clients))


def descend(x: float, a: float, b: float, pull: float, w: float, m: float = 0.0) -> float:
    velocity = 0.0
    for _ in range(STEPS):
        velocity = m * velocity + a * (x - b) + pull * (x - w)
        x -= LR * velocity
    return x


@pytest.mark.parametrize(
    ("engine", "strength", "momentum"), [("reference", 0.7, 0.5), ("stacked", 0.7, 0.0)]
)
def test_every_round_by_hand(engine: str, strength: float, momentum: float) -> None:
    """The pull is to w as it was sent; who is absent keeps v_k; v_k never touches w."""
    present = [[True, True, False, False], [True, False, True, False], [False, True, True, False]]
    work = {
        "rounds": 6,
        "clients_per_round": 2,
        "local_steps": STEPS,
        "lr": LR,
        "local_momentum": momentum,
        "availability": Trace(present),
        "engine": engine,
    }
    sim = simulation(quadratics(A, B, SIZES), scalar_model(START), Ditto(strength), **work)
    w = START
    v = np.full(4, START)
    for record in sim:
        cohort = np.flatnonzero(present[(record.round - 1) % 3])
        for k in cohort:
            v[k] = descend(v[k], A[k], B[k], strength, w, momentum)
        w = np.average(
            [descend(w, A[k], B[k], 0, w, momentum) for k in cohort], weights=SIZES[cohort]
        )
        assert float(sim.history.params[0]) == pytest.approx(w, abs=1e-12)
        assert personal(sim)[:, 0].numpy() == pytest.approx(v, abs=1e-12)
    assert float(personal(sim)[3, 0]) == START


def test_stragglers_do_as_much_for_themselves() -> None:
    """λ = 0, one round, full batches: v_k is the very y_k that was sent, stragglers or not."""
    fed = blobs(RAGGED)
    work = {
        "rounds": 1,
        "clients_per_round": 1.0,
        "local_epochs": 5,
        "batch_size": None,
        "stragglers": 0.9,
    }
    sent = {}

    class Watched(Ditto):
        def aggregate(self, server, updates):
            sent["params"] = updates.params
            return super().aggregate(server, updates)

    sim = run(fed, fl.models.mlp(fed, (6,), seed=1), Watched(0.0), **work)
    torch.testing.assert_close(personal(sim), sent["params"], rtol=0, atol=1e-14)


def test_a_personal_model_that_diverges_ends_the_run_and_is_named() -> None:
    """w is fine; client 1, who has no part in round 1, leaves
    all bounds in round 2 with ηλ = 100.
    """
    work = {"rounds": 3, "clients_per_round": 1, "local_steps": 1}
    work["availability"] = Trace([[True, False], [False, True]])
    sim = simulation(quadratics([1.0, 1.0], [0.0, 1.0]), scalar_model(0.5), Ditto(1000.0), **work)
    next(sim)
    sim._server.state["start"] *= 1e308
    before = sim.state_dict()
    with pytest.raises(
        fl.Diverged, match=r"Ditto\(strength=1000\.0\) diverged in round 2: the loss of client 1"
    ) as error:
        next(sim)
    assert (error.value.round, error.value.client, error.value.lr) == (2, 1, 0.1)
    assert sim.round == 1 and torch.equal(sim.state_dict()["params"], before["params"])
