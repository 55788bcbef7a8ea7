"""Stopped, failed and resumed runs of the algorithms that probe, visit tiers or replace their
state.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import Compressed, FedAvgM, FineTune, PowerOfChoice, Private
from fedlab_core.sampling import Bernoulli
from tests.core.engines.test_equality import ALGORITHMS, VARIANTS
from tests.core.test_checkpoints import same
from tests.support import blobs

SIZES = (7, 12, 9, 15, 4, 11, 8)
STATES = [
    fl.FedSSO(projection=8),
    fl.FedMas(0.01, importance_update="accumulate"),
    fl.FedMas(0.01, tiers=[0, 0, 1, 1, 2, 2, 2], importance_update="ema", no_penalty="first_round"),
    Compressed(PowerOfChoice(4), keep=0.3, bits=4),
    Private(Compressed(FedAvgM(), keep=0.3), clip=0.5, noise=0.1),
    FineTune(1),
    *(
        algorithm
        for algorithm in (*ALGORITHMS, *VARIANTS)
        if type(algorithm).__module__.startswith("fedlab_core")
    ),
]
NUMBERED = pytest.mark.parametrize(("number", "algorithm"), [*enumerate(STATES)], ids=str)


def simulation(algorithm: fl.Algorithm, number: int, **changes) -> fl.Simulation:
    fed = blobs(SIZES, dtype=torch.float32)
    arguments = {
        "rounds": 5,
        "clients_per_round": 3,
        "local_epochs": 2,
        "batch_size": 4,
        "lr": 0.1,
        "progress": False,
        "availability": Bernoulli(np.linspace(0.5, 1, len(SIZES))),
        "eval_every": 3,
    }
    arguments["engine"] = ("reference", "stacked")[number % 2]
    return fl.Simulation(fed, fl.models.mlp(fed, (6,)), algorithm, **(arguments | changes))


@NUMBERED
def test_a_stopped_run_goes_on_bit_for_bit_from_a_file_and_from_a_state(
    tmp_path, number: int, algorithm
) -> None:
    path = tmp_path / "run.npz"
    for start, stop in ((0, 1), (1, 3)):
        stopped = simulation(algorithm, number, checkpoint=path)
        assert stopped.round == start
        for record in stopped:
            if record.round == stop:
                break
    dense = simulation(algorithm, number)
    whole = simulation(algorithm, number).run()
    dense.load_state_dict(stopped.state_dict())
    same(dense.run(), whole)
    same(simulation(algorithm, number, checkpoint=path).run(), whole)


@NUMBERED
def test_a_round_that_breaks_off_leaves_no_trace(monkeypatch, number: int, algorithm) -> None:
    """In the first round that means setup, too; for tiers, half a round."""
    whole = simulation(algorithm, number).run()
    broken = simulation(algorithm, number)
    left = [(1, 2, 5)[number % 3]]
    inner = type(algorithm).aggregate

    def aggregate(this, server, updates):
        result = inner(this, server, updates)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return result

    with monkeypatch.context() as context:
        context.setattr(type(algorithm), "aggregate", aggregate)
        with pytest.raises(KeyboardInterrupt):
            broken.run()
    same(broken.run(), whole)
