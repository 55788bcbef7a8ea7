"""Memory is used again only when nobody holds the tensor that had it, nor a view of it."""

import copy
import pickle

import numpy as np
import pytest
import torch

from fedlab_core.clients import memory
from fedlab_core.clients.memory import Slots, empty
from fedlab_core.clients.table import ClientTable


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LARGE_BYTES", 0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_tensors_are_separate_and_of_the_right_kind(dtype: torch.dtype) -> None:
    like = torch.zeros(7, dtype=dtype)
    tensors = Slots(like).take(3)
    for i, tensor in enumerate(tensors):
        assert (tensor.dtype, tensor.shape) == (dtype, like.shape)
        tensor.fill_(i)
    assert [tensor.tolist() for tensor in tensors] == [[i] * 7 for i in range(3)]
    assert empty(like, 3, 7).shape == (3, 7) and empty(like, 3, 7).dtype == dtype


def test_a_tensor_is_on_the_device_of_the_other_one() -> None:
    assert empty(torch.zeros(7, device="meta"), 3, 7).device.type == "meta"


def test_a_tensor_may_be_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert empty(torch.zeros(7), 0, 7).shape == (0, 7)


def test_the_memory_of_a_dropped_tensor_goes_to_the_next_one() -> None:
    slots = Slots(torch.zeros(1000))
    tensors = slots.take(3)
    addresses = {tensor.data_ptr() for tensor in tensors}
    tensors.clear()
    assert {tensor.data_ptr() for tensor in slots.take(3)} == addresses


def test_the_memory_of_a_held_view_goes_to_nobody() -> None:
    slots = Slots(torch.zeros(1000))
    part = slots.take(1)[0].fill_(5)[10:20]
    others = [tensor.fill_(6) for tensor in slots.take(20)]
    assert len(others) == 20 and part.tolist() == [5] * 10


def test_a_copy_of_the_slots_begins_without_memory() -> None:
    slots = Slots(torch.zeros(1000))
    slots.take(2)  # dropped: free memory
    for copied in (pickle.loads(pickle.dumps(slots)), copy.deepcopy(slots)):
        assert copied._free == [] and copied.take(1)[0].shape == (1000,)


def test_a_table_is_made_of_rows_of_increasing_clients() -> None:
    rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    table = ClientTable.from_rows(4, np.array([0, 2]), rows)
    assert table.dense().tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]
    for clients in ([2, 0], [2, 2], [0, 1, 2]):
        with pytest.raises(ValueError, match="do not fit the clients"):
            ClientTable.from_rows(4, np.array(clients), rows)


@pytest.mark.parametrize(
    "keep", [lambda table: copy.deepcopy(table)[4], lambda table: table[4], lambda t: t.view(4)]
)
def test_rows_that_somebody_keeps_stay_as_they_are(keep) -> None:
    table = ClientTable(10, torch.zeros(1000))
    clients = np.arange(8)
    table[clients] = torch.ones(8, 1000)
    kept = keep(table)
    for _ in range(5):
        table.replace(clients, lambda rows, places, columns: rows + 1)
    assert kept.tolist() == [1.0] * 1000
    assert table[4].tolist() == [6.0] * 1000


def test_a_deep_copy_of_a_table_stays_as_it_is() -> None:
    table = ClientTable(10, torch.zeros(1000))
    table[2] = torch.ones(1000)
    before = copy.deepcopy(table)
    table.replace(np.arange(3), lambda rows, places, columns: rows - 7)
    assert before.dense().sum() == 1000 and before[2].sum() == 1000
    assert table[2].tolist() == [-6.0] * 1000


def test_rows_that_are_replaced_again_and_again_take_the_memory_of_two_generations() -> None:
    table = ClientTable(10, torch.zeros(1000))
    clients = np.arange(8)
    addresses = set()
    for _ in range(20):
        table.replace(clients, lambda rows, places, columns: rows + 1)
        addresses |= {table.view(client).data_ptr() for client in range(8)}
    assert len(addresses) <= 16
