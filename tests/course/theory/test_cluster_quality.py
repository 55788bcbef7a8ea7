"""Agreement of clusters with true groups, on cases worked out by hand."""

import math

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.theory.cluster_quality import label_groups, quality


def test_the_same_partition_under_other_names_is_perfect():
    found = quality(np.array([2, 2, 0, 0, 1]), np.array([0, 0, 7, 7, 3]))
    assert (found.adjusted_rand, found.purity) == (1.0, 1.0)
    assert (found.num_clusters, found.num_pure, found.num_noise) == (3, 3, 0)


def test_adjusted_rand_and_purity_by_hand():
    """Groups aab|bb, clusters 3 + 2: pairs together in both 1 + 1 = 2, in clusters 3 + 1 = 4, in
    groups 1 + 3 = 4, of
    10. Index (2 − 16/10)/(4 − 16/10) = 1/6; majorities 2 + 2 of 5."""
    found = quality(np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1]))
    assert found.adjusted_rand == pytest.approx(1 / 6)
    assert (found.purity, found.num_clusters, found.num_pure) == (0.8, 2, 1)


def test_noise_counts_as_clusters_of_one_and_not_for_purity():
    """Groups aaa|bb, one pair of a found: together in both 1, in clusters 1, in groups 4 of 10: (1
    − .4)/(2.5 − .4).
    """
    found = quality(np.array([0, 0, -1, -1, -1]), np.array([0, 0, 0, 1, 1]))
    assert found.adjusted_rand == pytest.approx(0.6 / 2.1)
    assert (found.purity, found.num_clusters, found.num_pure, found.num_noise) == (1.0, 1, 1, 3)


def test_one_cluster_of_everything_agrees_only_by_chance_and_all_noise_has_no_purity():
    groups = np.array([0, 0, 1, 1, 2, 2])
    found = quality(np.zeros(6, dtype=int), groups)
    noise = quality(np.full(6, -1), groups)
    assert found.adjusted_rand == 0 and found.purity == pytest.approx(1 / 3)
    assert math.isnan(noise.purity) and noise.adjusted_rand == 0 and noise.num_noise == 6


def test_groups_are_sets_of_labels():
    y = torch.tensor([0, 0, 1, 1, 2, 2, 1, 0])
    parts = [np.array(part) for part in ([0, 2], [3, 1], [4, 5], [6, 7, 2], [0, 4])]
    groups = label_groups(parts, y)
    assert groups.tolist() == [0, 0, 2, 0, 1]  # {0, 1}, {0, 2} and {2}


def test_small_shares_of_a_label_can_be_left_out():
    y = np.array([0] * 9 + [1] * 11)
    parts = [np.arange(0, 10), np.arange(0, 9)]
    assert label_groups(parts, y).tolist() == [1, 0]
    assert label_groups(parts, y, min_share=0.1).tolist() == [1, 0]
    assert label_groups(parts, y, min_share=0.11).tolist() == [0, 0]


def test_two_labels_per_client_make_pairs():
    y = np.repeat(np.arange(10), 300)
    parts = fl.partition.labels_per_client(y, num_clients=100, labels_per_client=2, seed=0)
    groups = label_groups(parts, y)
    by_hand = [tuple(np.unique(y[part])) for part in parts]
    assert all(len(held) == 2 for held in by_hand)
    assert [sorted(set(by_hand))[group] for group in groups] == by_hand
