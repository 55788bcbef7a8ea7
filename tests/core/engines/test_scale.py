"""What a round costs depends on the cohort, not on the number of clients; memory follows participation."""

import tracemalloc

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import fedlab_core as fl
from fedlab_core import server
from fedlab_core.client_table import ClientTable
from fedlab_core.groups import members_of
from tests.support import one_sample_each


def test_scaffold_with_ten_thousand_clients_stores_only_participants() -> None:
    fed = one_sample_each(10_000)
    arguments = {"rounds": 3, "clients_per_round": 20, "local_epochs": 1, "batch_size": 10, "lr": 0.1}
    simulation = fl.Simulation(fed, fl.models.mlp(fed, (500,)), fl.Scaffold(), progress=False, **arguments)
    simulation.run()
    table = simulation.compact_state()["algorithm"]["c_clients"]
    assert isinstance(table, ClientTable)
    clients, rows = table.stored()
    assert 40 <= len(clients) <= 60 and len(rows) == len(clients)
    assert table.num_rows_in_memory <= 120


def test_the_work_of_a_round_does_not_grow_with_the_number_of_clients() -> None:
    """The engine asks for the samples of the cohort only; it is tried on two clients at most before the first round."""
    seen = []

    class Watched(list):
        def __getitem__(self, client):
            seen.append(int(client))
            return super().__getitem__(client)

    fed = one_sample_each(10_000)
    fed.parts = Watched(fed.parts)
    arguments = {"rounds": 1, "clients_per_round": 5, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    simulation = fl.Simulation(fed, fl.models.softmax_regression(fed), fl.FedAvg(), **arguments)
    assert len(set(seen)) <= 2
    seen.clear()
    simulation.run()
    assert len(set(seen)) == 5


ALGORITHMS = {
    "FedAvg": lambda n: fl.FedAvg(),
    "SCAFFOLD": lambda n: fl.Scaffold(),
    "FedMas": lambda n: fl.FedMas(0.01, tiers=[k % 50 for k in range(n)], fraction=1e-4),
}


@pytest.mark.parametrize("make", ALGORITHMS.values(), ids=ALGORITHMS)
def test_a_round_makes_no_array_with_a_place_for_every_client(make):
    """Not a byte per client: what the second round allocates at its peak, beside PyTorch's tensors."""
    num = 200_000
    fed = fl.FederatedDataset(one_sample_each(num).dataset, np.arange(num)[:, None])
    arguments = {"rounds": 3, "clients_per_round": 5, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    simulation = fl.Simulation(fed, fl.models.softmax_regression(fed), make(num), **arguments)
    next(simulation)
    tracemalloc.start()
    try:
        next(simulation)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < num / 2


def test_fedmas_sorts_the_clients_into_tiers_once(monkeypatch):
    sorted_labels = []

    def watched(labels):
        sorted_labels.append(len(labels))
        return members_of(labels)

    monkeypatch.setattr(server, "members_of", watched)
    fed = one_sample_each(60)
    arguments = {"rounds": 4, "clients_per_round": 5, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    fl.simulate(fed, fl.models.softmax_regression(fed), fl.FedMas(0.01, tiers=[k % 7 for k in range(60)]), **arguments)
    assert sorted_labels == [60]


def test_who_is_where_is_found_again_for_other_labels():
    fed = one_sample_each(4)
    arguments = {"rounds": 1, "clients_per_round": 2, "local_epochs": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    seen = []

    class Regrouping(fl.Algorithm):
        def setup(self, server):
            for labels in ([2, 0, 2, -1], [1, 1, 1, 1]):
                server.state["labels"] = torch.tensor(labels)
                seen.append({label: members.tolist() for label, members in server.groups("labels").items()})

    fl.simulate(fed, fl.models.softmax_regression(fed), Regrouping(), **arguments)
    assert seen == [{-1: [3], 0: [1], 2: [0, 2]}, {1: [0, 1, 2, 3]}]


class Tables(TorchDispatchMode):
    """Keeps every tensor of at least ``size`` values that is made, so that ``count`` tells the memory they took."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.kept = size, []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.numel() >= self.size:
            self.kept.append(result)
        return result

    def count(self, *known: torch.Tensor) -> int:
        """How many of them share no memory with another or with those that are ``known``."""
        made = {tensor.untyped_storage().data_ptr() for tensor in self.kept}
        return len(made - {tensor.untyped_storage().data_ptr() for tensor in known})


@pytest.mark.parametrize("option", [1, 2])
def test_scaffold_combines_a_cohort_in_two_tables_beside_those_it_stores(option):
    """c_k before and after; the updates themselves are the engine's, and rows are stored for those drawn first."""
    fed = one_sample_each(100)
    made = []

    class Watched(fl.Scaffold):
        def aggregate(self, server, updates):
            server.gradients = lambda clients: gradients
            gradients = torch.rand_like(updates.params)
            with Tables(updates.params.numel()) as tables:
                result = super().aggregate(server, updates)
            made.append(tables.count(updates.params, gradients, server.state["c_clients"]._rows))
            return result

    arguments = {"rounds": 2, "clients_per_round": 20, "local_steps": 1, "batch_size": 10, "lr": 0.1, "progress": False}
    fl.simulate(fed, fl.models.softmax_regression(fed), Watched(option=option), **arguments)
    assert max(made) <= (1 if option == 1 else 2)
