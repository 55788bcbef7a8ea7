"""Forms in which an algorithm may give the same thing: client tables as arrays, vectors of a
correction as numbers or NumPy arrays, and a cohort that is returned and not yielded.
"""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_core.clients.table import ClientTable
from tests.support import blobs

WORK = {
    "rounds": 2,
    "clients_per_round": 2,
    "local_steps": 3,
    "batch_size": None,
    "lr": 0.2,
    "progress": False,
}


@pytest.fixture
def table() -> ClientTable:
    """Rows (1, 2) and (3, 4) of clients 0 and 2 among four."""
    made = ClientTable(4, torch.zeros(2, dtype=torch.float64))
    made[np.array([0, 2])] = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    return made


def test_a_table_of_clients_behaves_like_an_array(table: ClientTable) -> None:
    assert len(table) == 4 and table.shape == (4, 2)
    assert table.mean(0).tolist() == torch.mean(table, dim=0).tolist() == [1.0, 1.5]
    assert table.sum(dim=0).tolist() == sum(table).tolist() == [4.0, 6.0]
    assert [row.tolist() for row in table] == np.asarray(table).tolist() == table.dense().tolist()
    assert (torch.ones(2) - table)[2].tolist() == [-2.0, -3.0]
    assert (table - torch.ones(2))[2].tolist() == [2.0, 3.0]


def test_clients_may_be_a_slice_a_mask_or_a_tensor(table: ClientTable) -> None:
    assert table[1:3].tolist() == [[0, 0], [3, 4]]
    mask = np.array([True, False, True, False])
    assert table[mask].tolist() == table[torch.from_numpy(mask)].tolist() == [[1, 2], [3, 4]]
    assert table[torch.tensor([2])].tolist() == [[3, 4]]
    table[:] = 0.5
    table[1] = np.array([7.0, 8.0])
    assert table.dense().tolist() == [[0.5, 0.5], [7, 8], [0.5, 0.5], [0.5, 0.5]]


def test_what_a_table_cannot_do_is_said_with_what_to_write(table: ClientTable) -> None:
    with pytest.raises(AttributeError, match=r"'zero_': write table\[clients\] = rows"):
        table.zero_()
    with pytest.raises(ValueError, match=r"table\[0, 1\]: .* write table\[clients\]\[:, columns"):
        table[0, 1]
    with pytest.raises(ValueError, match="mask of booleans"):
        table[np.array([True, False])]


class Corrected(fl.Algorithm):
    """Corrects by ``make(server)``."""

    def __init__(self, make) -> None:
        self.make = make

    def correction(self, server, client):
        return self.make(server)

    def describe(self):
        return {"name": "Corrected"}


def end(algorithm: fl.Algorithm, dtype: torch.dtype = torch.float64) -> list[float]:
    fed = blobs([5, 6, 7])
    model = fl.models.softmax_regression(fed).to(dtype)
    return fl.simulate(fed, model, algorithm, **WORK).params.tolist()


@pytest.mark.parametrize(
    "anchor",
    [
        lambda server: None,
        lambda server: 0,
        lambda server: np.zeros(server.num_parameters),
        lambda server: np.zeros(server.num_parameters, dtype=np.float32),
        lambda server: torch.zeros(server.num_parameters),
    ],
    ids=["None", "number", "NumPy", "NumPy float32", "float32"],
)
def test_zeros_of_every_kind_are_an_anchor(anchor) -> None:
    plain = Corrected(
        lambda server: fl.Correction(weight=0.7, anchor=torch.zeros_like(server.params))
    )
    assert end(Corrected(lambda server: fl.Correction(weight=0.7, anchor=anchor(server)))) == end(
        plain
    )


@pytest.mark.parametrize(
    ("anchor", "said"),
    [
        (lambda server: [0.0], "anchor: must be a tensor"),
        (lambda server: np.zeros(3), r"anchor: .* got .* \[3\]"),
        (lambda server: torch.zeros(server.num_parameters, dtype=torch.int64), "got torch.int64"),
    ],
)
def test_an_anchor_that_does_not_fit_is_refused(anchor, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        end(Corrected(lambda server: fl.Correction(weight=0.7, anchor=anchor(server))))


class Returned(fl.Algorithm):
    def cohorts(self, server):
        return server.uniform_cohort()


def test_a_returned_array_of_clients_is_one_cohort() -> None:
    assert end(Returned()) == end(fl.FedAvg())


class Forgotten(fl.Algorithm):
    def cohorts(self, server):
        server.uniform_cohort()


def test_a_forgotten_yield_is_told_so() -> None:
    with pytest.raises(ValueError, match=r"cohorts: .* got None \(is a `yield` missing\?\)"):
        end(Forgotten())
