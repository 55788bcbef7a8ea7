"""The random projection: linear, reproducible, and a near isometry."""

import numpy as np
import pytest
import torch

from fedlab_core.clustering import RandomProjection
from fedlab_core.clustering import projection as module


def test_it_is_a_fixed_linear_map():
    projection = RandomProjection(300, 20, seed=3)
    rows = torch.randn(5, 300, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrix = projection.apply(torch.eye(300, dtype=torch.float64))
    assert torch.allclose(projection.apply(rows), rows @ matrix, rtol=0, atol=1e-12)
    assert torch.equal(matrix.abs(), torch.full((300, 20), 20**-0.5, dtype=torch.float64))
    assert torch.equal(RandomProjection(300, 20, seed=3).apply(rows), projection.apply(rows))
    assert not torch.equal(RandomProjection(300, 20, seed=4).apply(rows), projection.apply(rows))


@pytest.mark.parametrize("num_inputs", [1, 4097])
def test_rows_can_come_in_any_chunks(num_inputs):
    projection = RandomProjection(num_inputs, 7, seed=0)
    rows = torch.randn(9, num_inputs, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    whole = projection.apply(rows)
    for size in (1, 2, 4):
        assert torch.allclose(torch.cat([projection.apply(chunk) for chunk in rows.split(size)]), whole, atol=1e-12)


def test_signs_are_balanced_and_independent():
    """Entries have mean 0, and different columns, rows and blocks are uncorrelated, within 4.5 standard errors."""
    num, outputs = 2 * module.BLOCK, 16
    matrix = RandomProjection(num, outputs, seed=0).apply(torch.eye(num)) * outputs**0.5
    assert abs(float(matrix.mean())) < 4.5 / (num * outputs) ** 0.5
    columns = (matrix.T @ matrix / num)[np.triu_indices(outputs, 1)]
    assert float(columns.abs().max()) < 4.5 / num**0.5
    first, second = matrix.split(module.BLOCK)
    assert abs(float((first * second).mean())) < 4.5 / (module.BLOCK * outputs) ** 0.5
    assert abs(float((matrix[:-1] * matrix[1:]).mean())) < 4.5 / (num * outputs) ** 0.5


def test_squared_lengths_have_the_mean_and_variance_of_the_law():
    """E‖xR‖² = ‖x‖² and Var‖xR‖² = (2/D)(‖x‖⁴ − Σ x_i⁴), over 2,000 seeds."""
    x = torch.tensor([[3.0, -1.0, 2.0, 0.5, 1.0]], dtype=torch.float64)
    squared = np.array([float(RandomProjection(5, 8, seed).apply(x).square().sum()) for seed in range(2000)])
    length = float(x.square().sum())
    variance = 2 / 8 * (length**2 - float((x**4).sum()))
    assert abs(squared.mean() - length) < 4.5 * (variance / 2000) ** 0.5
    spread = (squared - length) ** 2
    assert abs(spread.mean() - variance) < 4.5 * spread.std() / 2000**0.5


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"rows: must be \[K, 5\], got \[2, 4\]"):
        RandomProjection(5, 5, 0).apply(torch.zeros(2, 4))
