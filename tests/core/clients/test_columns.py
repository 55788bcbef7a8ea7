"""Columns in blocks: the numbers are those of whole tables; sums may add in another order."""

import numpy as np
import pytest
import torch

from fedlab_core.clients import columns
from fedlab_core.clients.table import ClientTable
from fedlab_core.clients.updates import LocalUpdates


@pytest.fixture(params=[1, 5, 40])
def rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> torch.Tensor:
    """Parameters [K, P] whose columns make several blocks, the last one longer than the others."""
    monkeypatch.setattr(columns, "BLOCK_VALUES", 1)
    return torch.randn(request.param, 5003, generator=torch.Generator().manual_seed(0))


def test_blocks_cover_every_column_once(rows: torch.Tensor) -> None:
    cut = list(columns.blocks(len(rows), rows[0]))
    assert len(cut) == 4
    assert [i for part in cut for i in range(part.start, part.stop)] == list(range(5003))


def test_the_mean_change_is_that_of_the_whole_table(rows: torch.Tensor) -> None:
    received = torch.linspace(-1, 1, rows.shape[1])
    counts = torch.ones(len(rows))
    updates = LocalUpdates(np.arange(len(rows)), rows, counts, counts, received)
    assert torch.equal(updates.mean_change(), (rows - received).mean(0))


def test_tiles_cover_every_number_once(rows: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> None:
    for values in (1_000, 12_000, 10**6):  # parts of a client, some clients, all clients
        monkeypatch.setattr(columns, "TILE_VALUES", values)
        times = torch.zeros_like(rows)
        for places, part in columns.tiles(len(rows), rows[0]):
            times[places, part] += 1
            assert times[places, part].numel() <= max(values, 5003)
        assert (times == 1).all()


@pytest.mark.parametrize("values", [1_000, 12_000, 10**6])
def test_replaced_rows_and_the_sum_of_their_changes_are_those_of_the_whole_table(
    rows: torch.Tensor, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "TILE_VALUES", values)
    table = ClientTable(50, rows[0])
    clients = np.arange(len(rows)) + 3
    factors = torch.linspace(-1, 1, len(rows))[:, None]
    table[clients] = rows
    before = table[clients]
    change = table.replace(clients, lambda r, places, part: r * factors[places] + rows[0, part])
    expected = rows * factors + rows[0]
    assert torch.equal(table[clients], expected)
    assert torch.allclose(change, (expected - before).sum(0), atol=1e-4)
    assert not table[0].any()
