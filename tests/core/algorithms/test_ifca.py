"""IFCA: who chooses which model, what the models become, and FedAvg as the case of one model."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.algorithms import IFCA
from tests.support import Trace, blobs, quadratics, run, scalar_model

RAGGED = (3, 17, 8, 30, 2)
MINI_BATCH = {
    "rounds": 4,
    "clients_per_round": 3,
    "local_epochs": 2,
    "batch_size": 5,
    "client_accuracy": True,
}


def models(sim: fl.Simulation) -> list[list[float]]:
    return sim.state_dict()["algorithm"]["models"].tolist()


@dataclass(frozen=True)
class From(IFCA):
    """IFCA from given scalar models, the first of which is w."""

    models: tuple[float, ...] = ()

    def setup(self, server) -> None:
        server.state["models"] = torch.tensor(self.models, dtype=torch.float64)[:, None]


def scalar(b, first, *, a=None, sizes=None, **arguments) -> fl.Simulation:
    fed = quadratics([1.0] * len(b) if a is None else a, b, sizes)
    return run(
        fed,
        scalar_model(first[0]),
        From(len(first), models=tuple(first)),
        **{"rounds": 1, **arguments},
    )


def test_one_round_by_hand() -> None:
    """Clients 0 and 2 are nearest to −1, clients 1 and 3 to 4; nobody chooses 50. Closest in loss,
    not in number.
    """
    a = np.array([1.0, 3.0, 0.5, 2.0])
    b = np.array([0.0, 3.0, -2.0, 1.6])
    sizes = np.array([1, 2, 3, 5])
    q = 0.9
    sim = scalar(b, (-1.0, 4.0, 50.0), a=a, sizes=sizes, local_steps=4, lr=0.05)
    choice = np.array([0, 1, 0, 1])
    assert [int(np.argmin([(m - x) ** 2 for m in (-1.0, 4.0, 50.0)])) for x in b] == choice.tolist()
    start = np.array([-1.0, 4.0])[choice]
    q = (1 - 0.05 * a) ** 4
    ends = b + q * (start - b)
    expected = [np.average(ends[choice == m], weights=sizes[choice == m]) for m in (0, 1)]
    assert np.ravel(models(sim)) == pytest.approx([*expected, 50.0], abs=1e-12)
    # 7 samples against 4
    assert float(sim.history.params[0]) == pytest.approx(expected[1], abs=1e-12)


def test_ties_go_to_the_lowest_index() -> None:
    for first in ((-1.0, 1.0), (1.0, -1.0)):
        sim = scalar([0.0, 0.0], first, local_steps=1, lr=0.5)
        assert np.ravel(models(sim)) == pytest.approx([first[0] / 2, first[1]])
    equal = scalar([1.0, -1.0], (0.0, 0.1, -0.1), local_steps=1, lr=0.5, sizes=[3, 3])
    assert np.ravel(models(equal)) == pytest.approx([0.0, 0.55, -0.55])
    # as many samples stand behind either
    assert float(equal.history.params[0]) == pytest.approx(0.55)


def test_the_first_models() -> None:
    fed = blobs(RAGGED)
    model = fl.models.mlp(fed, (60,), seed=1)
    torch.nn.init.zeros_(model[3].bias)
    work = {"rounds": 1, "clients_per_round": 1, "lr": 1e-12, "local_steps": 1}
    w = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
    drawn = {}
    for seed in (0, 1):
        sim = run(fed, model, IFCA(3), seed=seed, **work)
        drawn[seed] = found = sim.state_dict()["algorithm"]["models"] - w
        layout = sim._server.layout
        for m, ratio in ((0, 0.0), (1, 1.0), (2, 1.0)):
            for name in ("1.weight", "3.weight"):
                moved, own = (
                    vector[layout[name]].square().mean().sqrt() for vector in (found[m], w)
                )
                assert float(moved / own) == pytest.approx(ratio, rel=0.25, abs=1e-9)
        assert found[:, layout["3.bias"]].abs().max() < 1e-9
    for other in (drawn[0][2], drawn[1][1]):
        assert (drawn[0][1] - other).abs().max() > 0.1


def test_clients_are_measured_with_the_model_that_fits_them() -> None:
    fed = blobs(RAGGED)
    model = fl.models.mlp(fed, (6,), seed=1)
    sim = run(fed, model, IFCA(3), **MINI_BATCH)
    accuracy = []
    chosen = set()
    for x, y in map(fed.client, range(5)):
        outputs = []
        for params in sim.state_dict()["algorithm"]["models"]:
            torch.nn.utils.vector_to_parameters(params, model.parameters())
            outputs.append(model(x).detach())
        best = int(
            np.argmin([float(torch.nn.functional.cross_entropy(output, y)) for output in outputs])
        )
        chosen.add(best)
        accuracy.append(float((outputs[best].argmax(1) == y).double().mean()))
    assert sim.history.clients.accuracy.tolist() == accuracy and len(chosen) > 1


def test_no_other_model_can_be_made_from_zero() -> None:
    with pytest.raises(ValueError, match="num_models=2: the first weights are zero"):
        run(quadratics([1.0], [1.0]), scalar_model(0.0), IFCA(2), rounds=1)
    assert run(quadratics([1.0], [1.0]), scalar_model(0.0), IFCA(1), rounds=1).round == 1


def test_a_round_without_anybody() -> None:
    fed = blobs(RAGGED)
    nobody = Trace([[True] * 5, [False] * 5, [True] * 5])
    frame = run(
        fed, fl.models.softmax_regression(fed), IFCA(2), **MINI_BATCH, availability=nobody
    ).history.frame
    assert frame.server_updates.tolist() == [1, 1, 2, 3]
