"""What a round costs depends on the cohort, not on the number of clients; memory follows
participation.
"""

import tracemalloc

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.clients.table import ClientTable
from tests.support import one_sample_each


def test_scaffold_with_ten_thousand_clients_stores_only_participants() -> None:
    fed = one_sample_each(10_000)
    arguments = {
        "rounds": 3,
        "clients_per_round": 20,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.1,
    }
    simulation = fl.Simulation(
        fed, fl.models.mlp(fed, (500,)), fl.Scaffold(), progress=False, **arguments
    )
    simulation.run()
    table = simulation.compact_state()["algorithm"]["c_clients"]
    assert isinstance(table, ClientTable)
    clients, rows = table.stored()
    assert 40 <= len(clients) <= 60 and len(rows) == len(clients)
    assert len(table._rows) <= 120


def test_the_work_of_a_round_does_not_grow_with_the_number_of_clients() -> None:
    """The engine asks for the samples of the cohort only; it is tried on two clients at most before
    the first round.
    """
    seen = []

    class Watched(list):
        def __getitem__(self, client):
            seen.append(int(client))
            return super().__getitem__(client)

    fed = one_sample_each(1_000)
    fed.parts = Watched(fed.parts)
    arguments = {
        "rounds": 1,
        "clients_per_round": 5,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.1,
        "progress": False,
    }
    simulation = fl.Simulation(fed, fl.models.softmax_regression(fed), fl.FedAvg(), **arguments)
    assert len(set(seen)) <= 2
    seen.clear()
    simulation.run()
    assert len(set(seen)) == 5


ALGORITHMS = {
    "FedAvg": lambda n: fl.FedAvg(),
    "SCAFFOLD": lambda n: fl.Scaffold(),
    "FedMas": lambda n: fl.FedMas(0.01, tiers=[k % 50 for k in range(n)]),
}


@pytest.mark.parametrize("make", ALGORITHMS.values(), ids=ALGORITHMS)
def test_a_round_makes_no_array_with_a_place_for_every_client(make):
    """Not a byte per client: what the second round allocates at
    its peak, beside PyTorch's tensors.
    """
    num = 200_000
    fed = fl.FederatedDataset(one_sample_each(num).dataset, np.arange(num)[:, None])
    arguments = {
        "rounds": 3,
        "clients_per_round": 5,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.1,
        "progress": False,
    }
    simulation = fl.Simulation(fed, fl.models.softmax_regression(fed), make(num), **arguments)
    next(simulation)
    tracemalloc.start()
    try:
        next(simulation)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < num / 2


def test_who_is_where_is_found_again_for_other_labels():
    fed = one_sample_each(4)
    arguments = {
        "rounds": 1,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 10,
        "lr": 0.1,
        "progress": False,
    }
    seen = []

    class Regrouping(fl.Algorithm):
        def setup(self, server):
            for labels in ([2, 0, 2, -1], [1, 1, 1, 1]):
                server.state["labels"] = torch.tensor(labels)
                seen.append(
                    {label: members.tolist() for label, members in server.groups("labels").items()}
                )

    fl.simulate(fed, fl.models.softmax_regression(fed), Regrouping(), **arguments)
    assert seen == [{-1: [3], 0: [1], 2: [0, 2]}, {1: [0, 1, 2, 3]}]
