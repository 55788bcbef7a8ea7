"""Who trained in which round: from the run itself, through the bitmap that the browser reads."""

import base64

import numpy as np

import fedlab_core as fl
from fedlab_course.explore.explorer import Explorer
from fedlab_course.explore.training import about

SHORT = {"rounds": 6, "num_clients": 11, "clients_per_round": 4, "local_epochs": 1}


def cohorts(said: dict, name: str) -> list[list[int]]:
    """The bitmap of a curve, read bit by bit."""
    data = base64.b64decode(said["bitmaps"][said["cohorts"][name]])
    bits = "".join(f"{byte:08b}" for byte in data)
    n = said["clients"]
    rows = [bits[start : start + n] for start in range(0, len(bits) - n + 1, n)]
    return [[k for k, bit in enumerate(row) if bit == "1"] for row in rows]


def said(explorer: Explorer) -> dict:
    return about(explorer._shown(), explorer.choice.federation)


class Turns(fl.Algorithm):
    """Two cohorts a round: the number of the round, then its double."""

    def cohorts(self, server):
        yield np.array([server.round])
        yield np.array([2 * server.round % 11, 0])


def test_the_cohorts_are_those_of_the_run_also_where_it_went_on() -> None:
    explorer = Explorer(own=Turns, algorithms=("fedavg", "scaffold"), **SHORT)
    explorer.run(rounds=4)
    explorer.run(rounds=6)
    found = said(explorer)
    assert cohorts(found, "Turns") == [sorted({t, 2 * t % 11, 0}) for t in range(1, 7)]
    digits = fl.load_dataset("digits")
    fed = fl.FederatedDataset(digits, fl.partition.dirichlet(digits.train.y, num_clients=11, alpha=0.3, seed=0))
    work = {"rounds": 6, "clients_per_round": 4, "local_epochs": 1, "batch_size": 10, "lr": 0.05}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=0), fl.FedAvg(), **work, progress=False)
    assert cohorts(found, "FedAvg") == [simulation.cohorts[0].tolist() for _ in simulation]
    assert found["cohorts"]["FedAvg"] == found["cohorts"]["SCAFFOLD"]  # paired, and stored once
    assert len(found["bitmaps"]) == 2
    explorer.run(rounds=3)
    assert cohorts(said(explorer), "Turns") == [sorted({t, 2 * t % 11, 0}) for t in range(1, 4)]


def test_the_accuracy_of_clients_is_that_of_the_final_model_and_says_after_which_round() -> None:
    explorer = Explorer(algorithms=("fedavg",), **SHORT)
    explorer.run()
    report = explorer.histories["FedAvg"].clients
    assert np.allclose(said(explorer)["accuracy"]["FedAvg"], 100 * report.accuracy, atol=0.5)
    assert said(explorer)["round"] == {"FedAvg": 6}
    explorer.run(rounds=3)  # the model after round 3 is not known any more
    assert said(explorer)["accuracy"] == {}


def test_a_kept_curve_of_another_federation_lights_nobody() -> None:
    explorer = Explorer(algorithms=("fedavg",), **SHORT)
    explorer.run()
    explorer.keep()
    explorer.run(lr=0.2)
    assert len(said(explorer)["cohorts"]) == 2
    explorer.run(alpha=1.0)
    assert list(said(explorer)["cohorts"]) == ["FedAvg"]
    assert about({}, explorer.choice.federation) == {}
