"""The random projection: linear, reproducible, and a near isometry."""

import numpy as np
import pytest
import torch

from fedlab_core.clustering import project
from fedlab_core.clustering.projection import BLOCK


def test_it_is_a_fixed_linear_map():
    rows = torch.randn(5, 300, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    matrix = project(torch.eye(300, dtype=torch.float64), 20, seed=3)
    assert torch.allclose(project(rows, 20, seed=3), rows @ matrix, rtol=0, atol=1e-12)
    assert torch.equal(matrix.abs(), torch.full((300, 20), 20**-0.5, dtype=torch.float64))
    assert not torch.equal(project(rows, 20, seed=4), project(rows, 20, seed=3))
    with pytest.raises(ValueError, match="num_outputs=0"):
        project(rows, 0, seed=3)


@pytest.mark.parametrize("num_inputs", [1, BLOCK + 1])
def test_rows_can_come_in_any_chunks(num_inputs):
    rows = torch.randn(
        9, num_inputs, generator=torch.Generator().manual_seed(1), dtype=torch.float64
    )
    whole = project(rows, 7, seed=0)
    assert torch.allclose(
        torch.cat([project(chunk, 7, seed=0) for chunk in rows.split(4)]), whole, atol=1e-12
    )


def test_signs_are_balanced_and_independent():
    """Entries have mean 0, and different columns, rows and blocks are uncorrelated, within 4.5
    standard errors.
    """
    num = 2 * BLOCK
    outputs = 16
    matrix = project(torch.eye(num), outputs, seed=0) * outputs**0.5
    assert abs(float(matrix.mean())) < 4.5 / (num * outputs) ** 0.5
    columns = (matrix.T @ matrix / num)[np.triu_indices(outputs, 1)]
    assert float(columns.abs().max()) < 4.5 / num**0.5
    first, second = matrix.split(BLOCK)
    assert abs(float((first * second).mean())) < 4.5 / (BLOCK * outputs) ** 0.5
    assert abs(float((matrix[:-1] * matrix[1:]).mean())) < 4.5 / (num * outputs) ** 0.5


def test_squared_lengths_have_the_mean_and_variance_of_the_law():
    """E‖xR‖² = ‖x‖² and Var‖xR‖² = (2/D)(‖x‖⁴ − Σ x_i⁴), over 2,000 seeds."""
    x = torch.tensor([[3.0, -1.0, 2.0, 0.5, 1.0]], dtype=torch.float64)
    squared = np.array([float(project(x, 8, seed).square().sum()) for seed in range(2000)])
    length = float(x.square().sum())
    variance = 2 / 8 * (length**2 - float((x**4).sum()))
    assert abs(squared.mean() - length) < 4.5 * (variance / 2000) ** 0.5
    spread = (squared - length) ** 2
    assert abs(spread.mean() - variance) < 4.5 * spread.std() / 2000**0.5
