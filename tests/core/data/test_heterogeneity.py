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
    measured = measure_heterogeneity(np.array([0, 0, 1, 1]), [np.array([0, 1]), np.array([2, 3])], 2, ("cat", "dog"))
    js = np.sqrt(0.5 * np.log2(4 / 3) + 0.25 * np.log2(2 / 3) + 0.25)
    assert list(measured.frame.columns) == ["client", "size", "cat", "dog", "emd", "js"]
    assert measured.frame["emd"].tolist() == [1.0, 1.0]
    assert measured.frame["js"].to_numpy() == pytest.approx(js)
    assert measured.frame[["cat", "dog"]].to_numpy().tolist() == [[1, 0], [0, 1]]
    assert measured.label_counts.tolist() == [[2, 0], [0, 2]]
    assert measured.labels_per_client == 1


def test_one_of_ten_labels_is_1_8_from_uniform():
    """Zhao et al. 2018: one label of ten per client gives 0.9 + 9 · 0.1 = 1.8."""
    measured = measure_heterogeneity(np.repeat(np.arange(10), 5), np.split(np.arange(50), 10), 10)
    assert measured.emd == pytest.approx(1.8)
    equal = measure_heterogeneity(np.tile(np.arange(3), 8), np.split(np.arange(24), 4), 3)
    assert equal.emd == 0 and equal.js == 0 and equal.labels_per_client == 3


def test_a_small_client_far_from_a_large_one_approaches_the_maxima():
    """One sample of a label that a million others lack: EMD → 2, JS → 1."""
    y = np.zeros(1_000_001, dtype=np.int64)
    y[-1] = 1
    frame = measure_heterogeneity(y, [np.arange(1_000_000), np.array([1_000_000])], 2).frame
    assert frame["emd"][1] == pytest.approx(2, abs=1e-5) and frame["js"][1] == pytest.approx(1, abs=1e-4)
    assert frame["emd"].max() <= 2 and frame["js"].max() <= 1


def test_random_mixes_agree_with_scipy_and_totals_are_weighted_by_size():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 500)
    y[:40] = 5
    parts = np.split(np.arange(480), [7, 40, 41, 300])
    measured = measure_heterogeneity(y, parts, 7)
    overall = np.bincount(y[:480], minlength=7) / 480
    mixes = [np.bincount(y[part], minlength=7) / len(part) for part in parts]
    sizes = np.array([len(part) for part in parts])
    js = np.array([jensenshannon(mix, overall, base=2) for mix in mixes])
    emd = np.array([np.abs(mix - overall).sum() for mix in mixes])
    assert measured.frame["js"].to_numpy() == pytest.approx(js)
    assert measured.frame["emd"].to_numpy() == pytest.approx(emd)
    assert measured.js == pytest.approx((sizes * js).sum() / 480)
    assert measured.emd == pytest.approx((sizes * emd).sum() / 480)
    assert (measured.size_min, measured.size_mean, measured.size_max) == (1, 96, 259)
    assert measured.totals["clients"] == 5 and measured.totals["emd"] == measured.emd


def test_a_federation_reports_on_itself():
    y = torch.tensor([0, 0, 1, 2])
    data = Dataset("tiny", Split(torch.zeros(4, 1), y), Split(torch.zeros(1, 1), y[:1]), 3, ("a", "b", "c"))
    measured = FederatedDataset(data, [np.array([0, 2]), np.array([1, 3])]).heterogeneity()
    assert measured.frame[["a", "b", "c"]].to_numpy().tolist() == [[0.5, 0.5, 0], [0.5, 0, 0.5]]
    assert "2 clients" in repr(measured) and "mean EMD 0.500" in repr(measured)
    assert "<table" in measured._repr_html_() and "mean EMD 0.500" in measured._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.array([0, 1]), [], 2), "parts=\\[\\]"),
        ((np.array([0, 1]), [np.array([0]), np.array([], dtype=int)], 2), "parts\\[1\\]: this client is empty"),
        ((np.array([0, 1]), [np.array([0, 1])], 2, ("a",)), "got 1 names for num_classes=2"),
        ((np.array([0, 2]), [np.array([0, 1])], 2), "labels must lie in 0 … 1, got 0 … 2"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        measure_heterogeneity(*arguments)
