"""Distances between label mixes, against values worked out by hand and by SciPy."""

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon

from fedlab_core.data.dataset import Dataset, Split
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.data.heterogeneity import measure_heterogeneity


def test_two_clients_with_one_label_each():
    """p_k = (1, 0), p = (½, ½): EMD ½ + ½ = 1; JS² = ½ log₂(4/3) + ½ (½ log₂(2/3) + ½ log₂ 2)."""
    measured = measure_heterogeneity(np.array([0, 0, 1, 1]), np.array([2, 2]), 2, ("cat", "dog"))
    js = np.sqrt(0.5 * np.log2(4 / 3) + 0.25 * np.log2(2 / 3) + 0.25)
    assert list(measured.frame.columns) == ["client", "size", "cat", "dog", "emd", "js"]
    assert measured.frame["emd"].tolist() == [1.0, 1.0]
    assert measured.frame["js"].to_numpy() == pytest.approx(js)
    assert measured.frame[["cat", "dog"]].to_numpy().tolist() == [[1, 0], [0, 1]]
    assert measured.label_counts.tolist() == [[2, 0], [0, 2]]
    assert measured.totals["labels_per_client"] == 1


def test_random_mixes_agree_with_scipy_and_totals_are_weighted_by_size():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 500)
    y[:40] = 5
    parts = np.split(np.arange(480), [7, 40, 41, 300])
    overall = np.bincount(y[:480], minlength=7) / 480
    mixes = [np.bincount(y[part], minlength=7) / len(part) for part in parts]
    sizes = np.array([len(part) for part in parts])
    measured = measure_heterogeneity(y[:480], sizes, 7)
    js = np.array([jensenshannon(mix, overall, base=2) for mix in mixes])
    emd = np.array([np.abs(mix - overall).sum() for mix in mixes])
    assert measured.frame["js"].to_numpy() == pytest.approx(js)
    assert measured.frame["emd"].to_numpy() == pytest.approx(emd)
    assert measured.totals["js"] == pytest.approx((sizes * js).sum() / 480)
    assert measured.totals["emd"] == pytest.approx((sizes * emd).sum() / 480)
    assert [measured.totals[f"size_{name}"] for name in ("min", "mean", "max")] == [1, 96, 259]
    assert measured.totals["clients"] == 5


def test_a_federation_reports_on_itself():
    y = torch.tensor([0, 0, 1, 2])
    data = Dataset(
        "tiny", Split(torch.zeros(4, 1), y), Split(torch.zeros(1, 1), y[:1]), 3, ("a", "b", "c")
    )
    measured = FederatedDataset(data, [np.array([0, 2]), np.array([1, 3])]).heterogeneity()
    assert measured.frame[["a", "b", "c"]].to_numpy().tolist() == [[0.5, 0.5, 0], [0.5, 0, 0.5]]
    assert "clients 2" in repr(measured) and "emd 0.5" in repr(measured)
