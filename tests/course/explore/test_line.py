"""Who trained in which round: from the run itself to the points of its curve."""

import numpy as np

import fedlab_core as fl
from fedlab_course.explore.explorer import Explorer

SHORT = {"rounds": 6, "num_clients": 11, "clients_per_round": 4, "local_epochs": 1}


def cohorts(explorer: Explorer) -> dict[str, list[list[int]] | None]:
    """The clients of each round of each curve, as the page gets them."""
    traces = explorer.figure().data
    return {
        t.name: None if t.customdata is None else [list(clients) for clients in t.customdata]
        for t in traces
    }


class Turns(fl.Algorithm):
    """Two cohorts a round: the number of the round, then its double."""

    def cohorts(self, server):
        yield np.array([server.round])
        yield np.array([2 * server.round % 11, 0])


def test_the_cohorts_are_those_of_the_run_also_where_it_went_on() -> None:
    explorer = Explorer(own=Turns, algorithms=("fedavg", "scaffold"), **SHORT)
    explorer.run(rounds=4)
    explorer.run(rounds=6)
    found = cohorts(explorer)
    assert found["Turns"] == [sorted({t, 2 * t % 11, 0}) for t in range(1, 7)]
    digits = fl.load_dataset("digits")
    fed = fl.FederatedDataset(
        digits, fl.partition.dirichlet(digits.train.y, num_clients=11, alpha=0.3, seed=0)
    )
    work = {"rounds": 6, "clients_per_round": 4, "local_epochs": 1, "batch_size": 10, "lr": 0.05}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, seed=0), fl.FedAvg(), **work, progress=False)
    assert (
        found["FedAvg"] == found["SCAFFOLD"] == [simulation.cohorts[0].tolist() for _ in simulation]
    )
    explorer.run(rounds=3)
    assert cohorts(explorer)["Turns"] == [sorted({t, 2 * t % 11, 0}) for t in range(1, 4)]


def test_a_kept_curve_of_another_federation_has_no_cohorts() -> None:
    explorer = Explorer(algorithms=("fedavg",), **SHORT | {"rounds": 2})
    explorer.run()
    explorer.keep()
    explorer.run(alpha=1.0)
    assert [clients is None for clients in cohorts(explorer).values()] == [False, True]
