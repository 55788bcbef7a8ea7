"""Policies for clients in no cluster."""

import numpy as np
import pytest

from fedlab_core.clustering.density import NOISE_POLICIES, settle_noise

LABELS = np.array([0, 0, -1, 1, 1, -1])
POINTS = np.array([[0.0], [2.0], [4.0], [10.0], [12.0], [100.0]])


@pytest.mark.parametrize("policy", NOISE_POLICIES)
def test_only_nearest_changes_labels_and_only_those_of_noise(policy):
    """Centroids 1 and 11. Point 4 is 3 and 7 away; 100 goes to 11."""
    expected = [0, 0, 0, 1, 1, 1] if policy == "nearest" else LABELS.tolist()
    assert settle_noise(LABELS, POINTS, policy).tolist() == expected
    assert LABELS.tolist() == [0, 0, -1, 1, 1, -1]
    assert settle_noise(np.array([1, 0, 1, 0]), np.zeros((4, 2)), policy).tolist() == [1, 0, 1, 0]


def test_nearest_goes_by_the_centroid_not_by_the_nearest_member():
    """Point 5 is 1 from a member of the wide cluster (centroid 15), but nearer to the centroid 2 of
    the narrow one.
    """
    points = np.array([[1.0], [3.0], [6.0], [24.0], [5.0]])
    assert settle_noise(np.array([0, 0, 1, 1, -1]), points, "nearest")[-1] == 0


def test_nearest_breaks_ties_for_the_lower_label():
    assert settle_noise(
        np.array([1, 0, -1]), np.array([[0.0], [4.0], [2.0]]), "nearest"
    ).tolist() == [1, 0, 0]


def test_only_noise_can_be_kept_but_neither_dropped_nor_assigned():
    nothing = np.full(3, -1)
    assert settle_noise(nothing, np.zeros((3, 1)), "keep").tolist() == nothing.tolist()
    for policy in ("drop", "nearest"):
        with pytest.raises(ValueError, match=f"noise='{policy}': there is no cluster"):
            settle_noise(nothing, np.zeros((3, 1)), policy)
