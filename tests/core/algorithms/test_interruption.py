"""Stopped, failed and resumed runs of the algorithms that probe, visit tiers or replace their state."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Compressed, FedAvgM, FineTune, PowerOfChoice, Private
from fedlab_core.sampling import Bernoulli
from tests.core.engines.test_equality import ALGORITHMS, VARIANTS
from tests.support import blobs

SIZES = (7, 12, 9, 15, 4, 11, 8)
STATES = [
    fl.FedSSO(projection=8),
    fl.FedMas(0.01, importance_update="accumulate"),
    fl.FedMas(0.01, tiers=[0, 0, 1, 1, 2, 2, 2], importance_update="ema", no_penalty="first_round"),
    Compressed(PowerOfChoice(4), keep=0.3, bits=4),
    Private(Compressed(FedAvgM(), keep=0.3), clip=0.5, noise=0.1),
    FineTune(1),
    *(algorithm for algorithm in (*ALGORITHMS, *VARIANTS) if type(algorithm).__module__.startswith("fedlab_core")),
]


def simulation(algorithm: fl.Algorithm, **changes) -> fl.Simulation:
    fed = blobs(SIZES, dtype=torch.float32)
    arguments = {"rounds": 6, "clients_per_round": 3, "local_epochs": 2, "batch_size": 4, "lr": 0.1, "progress": False}
    arguments["availability"] = Bernoulli(np.linspace(0.5, 1, len(SIZES)))
    return fl.Simulation(fed, fl.models.mlp(fed, (6,)), algorithm, **(arguments | changes))


def same(left: fl.History, right: fl.History) -> None:
    assert torch.equal(left.params, right.params)
    assert left.frame.drop(columns="seconds").equals(right.frame.drop(columns="seconds"))
    assert left.clients.accuracy.tolist() == right.clients.accuracy.tolist()


@pytest.mark.parametrize("algorithm", STATES, ids=str)
@pytest.mark.parametrize("engine", ["reference", "stacked"])
def test_resuming_from_a_file_after_every_round_is_bit_for_bit(tmp_path, algorithm: fl.Algorithm, engine: str) -> None:
    settings = {"algorithm": algorithm, "engine": engine, "checkpoint": tmp_path / "run.npz"}
    for stop in range(1, 6):
        resumed = simulation(**settings)
        assert resumed.round == stop - 1
        for record in resumed:
            assert record.round == stop
            break
    same(simulation(**settings).run(), simulation(algorithm, engine=engine).run())


@pytest.mark.parametrize("algorithm", STATES, ids=str)
def test_a_dense_state_goes_on_as_well(algorithm: fl.Algorithm) -> None:
    first, second = simulation(algorithm), simulation(algorithm)
    for _ in range(3):
        next(first)
    second.load_state_dict(first.state_dict())
    same(second.run(), first.run())


class Failing:
    """Makes the n-th call of ``aggregate`` of an algorithm fail."""

    def __init__(self, monkeypatch, algorithm: fl.Algorithm, call: int) -> None:
        self.left, inner = call, type(algorithm).aggregate

        def aggregate(this, server, updates):
            result = inner(this, server, updates)
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return result

        monkeypatch.setattr(type(algorithm), "aggregate", aggregate)


@pytest.mark.parametrize("algorithm", STATES, ids=str)
@pytest.mark.parametrize("call", [1, 2, 5])
def test_a_round_that_breaks_off_leaves_no_trace(monkeypatch, algorithm: fl.Algorithm, call: int) -> None:
    """In the first round that means setup, too; for tiers, half a round."""
    whole, broken = simulation(algorithm).run(), simulation(algorithm)
    with monkeypatch.context() as context:
        Failing(context, algorithm, call)
        with pytest.raises(KeyboardInterrupt):
            broken.run()
    same(broken.run(), whole)
