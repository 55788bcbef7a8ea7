"""A class of phones gives the numbers of the library, for every algorithm of the course."""

from pathlib import Path

import pytest
import torch

import fedlab_core as fl
from fedlab_core.remote import Values
from fedlab_course.classroom import virtual
from fedlab_course.classroom.simulated import Drawings
from tests.course.classroom.opening import expected, in_own_loop, opened, phones, trained

ALGORITHMS = {
    "fedavg": fl.FedAvg(),
    "fedprox": fl.FedProx(mu=0.5),
    "scaffold": fl.Scaffold(),
    "fednova": fl.FedNova(),
    "fedsso": fl.FedSSO(),
    "fedmas": fl.FedMas(strength=0.5, penalty_step="implicit"),
}
PHONES = 6
OPTIONS = {"mu": 0.5, "strength": 0.5, "rounds": 5, "epochs": 3, "batch": 4, "cohort": 3}
SETTINGS = {"rounds": 5, "local_epochs": 3, "batch_size": 4, "clients_per_round": 3, "lr": 0.1}


def draw(task: Values) -> Drawings:
    """Drawings of a phone: as many as its first label and 5."""
    x, y = virtual.part("two", task["labels"][0], 7)
    number = 5 + task["labels"][0]
    return x[:number], y[:number]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_five_rounds_give_the_parameters_of_the_library(algorithm: str, tmp_path: Path) -> None:
    async def play() -> tuple[torch.Tensor, list[Drawings]]:
        async with opened(tmp_path) as running:
            options = {**OPTIONS, "algorithm": algorithm, "mode": "one", "seed": 3}
            await running.room.order({"do": "set", "value": options})
            async with phones(running, PHONES, draw) as made:
                params = await trained(running, 5)
                held = [virtual.divided(*draw({"labels": [p.seat]}), 1, p.seat)[0] for p in made]
                return params, held

    params, clients = in_own_loop(play())
    history = expected(clients, ALGORITHMS[algorithm], seed=3, **SETTINGS)
    assert len({len(y) for _, y in clients}) > 3
    assert float((params - history.params).abs().max()) < 1e-9
    kept = fl.History.load(tmp_path / f"run-001-{algorithm}.npz")
    assert torch.equal(kept.params, params)
    for name in ("test_accuracy", "test_loss", "drift", "bytes_up", "bytes_down"):
        torch.testing.assert_close(
            torch.tensor(kept.frame[name].to_numpy()),
            torch.tensor(history.frame[name].to_numpy()),
            rtol=1e-8,
            atol=1e-9,
        )
    fl.plots.convergence({"class": kept})
