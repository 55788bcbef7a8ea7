"""Columns in blocks: the numbers are those of whole tables; sums may add in another order."""

import numpy as np
import pytest
import torch

from fedlab_core.clients import columns
from fedlab_core.clients.table import ClientTable


@pytest.fixture(params=[1, 5, 40])
def rows(request: pytest.FixtureRequest) -> torch.Tensor:
    """Parameters [K, P] of one client, of a few and of many."""
    return torch.randn(request.param, 5003, generator=torch.Generator().manual_seed(0))


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
