"""An algorithm that is not in the library, as its documentation writes it: the form covers clients with old models."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import fedlab_core as fl
from tests.support import blobs, quadratics, run, scalar_model

PAGE = Path(__file__).parents[3] / "docs" / "algorithms.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
(CODE,) = (block for block in BLOCKS if "class FedAsync" in block)
NAMESPACE: dict = {"fl": fl, "torch": torch}
exec(CODE, NAMESPACE)
FedAsync = NAMESPACE["FedAsync"]
A, B = np.array([1.0, 3.0, 0.5]), np.array([0.0, 1.0, -2.0])
LR, STEPS, START = 0.05, 4, 1.5


def end(k: int, start: float, mu: float) -> float:
    optimum = (A[k] * B[k] + mu * start) / (A[k] + mu)
    return optimum + (1 - LR * (A[k] + mu)) ** STEPS * (start - optimum)


@pytest.mark.parametrize("engine", ["reference", "stacked"])
@pytest.mark.parametrize("max_delay", [0, 3])
def test_every_update_by_hand(engine: str, max_delay: int) -> None:
    alpha, a, mu, rounds, late = 0.6, 0.5, 0.2, 5, 0
    algorithm = FedAsync(alpha, a, mu, max_delay)
    work = {"rounds": rounds, "local_steps": STEPS, "lr": LR, "engine": engine, "seed": 2}
    found = run(quadratics(A, B), scalar_model(START), algorithm, **work)
    past = [START]
    for t in range(1, rounds + 1):
        delays = fl.randomness.stream(2, "delay", round=t).integers(max_delay, size=3, endpoint=True)
        for k in range(3):
            d = min(delays[k], len(past) - 1)
            late += d > 0
            share = alpha * (d + 1) ** -a
            past.append((1 - share) * past[-1] + share * end(k, past[-1 - d], mu))
    assert (late > 5) == (max_delay > 0)
    assert float(found.history.params[0]) == pytest.approx(past[-1], abs=1e-12)
    assert found.history.frame.server_updates.tolist() == [3, 6, 9, 12, 15]


def test_engines_agree_and_a_resumed_run_is_the_same(tmp_path) -> None:
    fed = blobs((3, 17, 8, 30, 1))
    model = fl.models.mlp(fed, (6,), seed=1)
    work = {"rounds": 4, "clients_per_round": 3, "local_epochs": 2, "batch_size": 5, "lr": 0.1, "progress": False}
    stacked, reference = (
        fl.simulate(fed, model, FedAsync(), **work, engine=engine) for engine in ("stacked", "reference")
    )
    torch.testing.assert_close(stacked.params, reference.params, rtol=0, atol=1e-9)
    for record in fl.Simulation(fed, model, FedAsync(), **work, checkpoint=tmp_path / "run.npz"):
        if record.round == 2:
            break
    assert torch.equal(
        fl.simulate(fed, model, FedAsync(), **work, checkpoint=tmp_path / "run.npz").params, stacked.params
    )
