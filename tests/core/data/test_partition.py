"""The partitioners: exact cover, minimum sizes, and their laws."""

import copy
import inspect
import json
import pickle
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from fedlab_core.data import partition
from fedlab_core.data.partition import Partition
from fedlab_core.data.partition.apportion import holders_per_label
from tests.core.data.partition_checks import BALANCED, assert_exact_cover, label_mix

LAWS = {
    "iid": lambda y, n, seed: partition.iid(y, num_clients=n, seed=seed),
    "shards": lambda y, n, seed: partition.shards(y, num_clients=n, shards_per_client=2, seed=seed),
    "labels": lambda y, n, seed: partition.labels_per_client(
        y, num_clients=n, labels_per_client=2, seed=seed
    ),
    "by client": lambda y, n, seed: partition.dirichlet(y, num_clients=n, alpha=0.3, seed=seed),
    "by class": lambda y, n, seed: partition.dirichlet(
        y, num_clients=n, alpha=0.3, by="class", seed=seed
    ),
    "quantity": lambda y, n, seed: partition.quantity(y, num_clients=n, seed=seed),
}


labels = st.lists(st.integers(0, 6), min_size=1, max_size=80).map(np.array)


seeds = st.integers(0, 2**63 - 1)


@settings(deadline=None, max_examples=40)
@given(y=labels, seed=seeds, data=st.data())
def test_any_data_are_covered_exactly_with_the_minimum_size(y, seed, data):
    num_clients = data.draw(st.integers(1, len(y)))
    min_size = data.draw(st.integers(1, len(y) // num_clients))
    alpha = data.draw(st.sampled_from([1e-6, 0.01, 0.3, 1.0, 100.0, 1e12]))
    common = {"num_clients": num_clients, "seed": seed}
    for parts in (
        partition.iid(y, **common),
        partition.shards(
            y, shards_per_client=data.draw(st.integers(1, len(y) // num_clients)), **common
        ),
        partition.dirichlet(y, alpha=alpha, by="client", min_size=min_size, **common),
        partition.dirichlet(y, alpha=alpha, by="class", min_size=min_size, **common),
        partition.quantity(y, alpha=alpha, min_size=min_size, **common),
    ):
        assert len(parts) == num_clients
        assert_exact_cover(parts, len(y), parts.recipe.get("min_size", 1))


@settings(deadline=None, max_examples=60)
@given(
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=7),
    num_clients=st.integers(1, 12),
    wanted=st.integers(1, 7),
    seed=seeds,
)
def test_labels_per_client_gives_exactly_c_labels_or_says_why_not(
    counts, num_clients, wanted, seed
):
    y = np.repeat(np.arange(len(counts)), counts)
    places = num_clients * wanted
    possible = wanted <= len(counts) and len(counts) <= places <= sum(
        min(count, num_clients) for count in counts
    )
    arguments = {"num_clients": num_clients, "labels_per_client": wanted, "seed": seed}
    if not possible:
        with pytest.raises(ValueError, match=r"labels_per_client|num_clients"):
            partition.labels_per_client(y, **arguments)
        return
    parts = partition.labels_per_client(y, **arguments)
    assert_exact_cover(parts, len(y))
    assert [len(np.unique(y[part])) for part in parts] == [wanted] * num_clients


@pytest.mark.parametrize("deal", LAWS.values(), ids=LAWS.keys())
def test_a_seed_repeats_for_tensors_too_and_the_recipe_is_json(deal):
    np.random.seed(3)
    torch.manual_seed(3)
    before = np.random.get_state()[1].copy(), torch.get_rng_state()
    first = deal(BALANCED, 20, 7)
    other = deal(BALANCED, 20, 8)
    again = deal(torch.from_numpy(BALANCED), np.int64(20), np.int64(7))
    assert not all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    assert np.array_equal(np.random.get_state()[1], before[0]) and torch.equal(
        torch.get_rng_state(), before[1]
    )
    for twin in (again, copy.copy(first), pickle.loads(pickle.dumps(first))):
        assert isinstance(twin, Partition) and json.loads(json.dumps(twin.recipe)) == first.recipe
        assert all(np.array_equal(a, b) for a, b in zip(twin, first, strict=True))


def test_the_seed_is_zero_unless_another_one_is_given():
    laws = (*partition.LAWS.values(), partition.shared)
    given = [inspect.signature(law).parameters for law in laws]
    seeds = [parameters["seed"].default for parameters in given if "seed" in parameters]
    assert seeds and set(seeds) == {0}


def test_iid_sizes_differ_by_at_most_one_and_mixes_are_those_of_random_draws():
    parts = partition.iid(BALANCED[:5999], num_clients=100, seed=0)
    assert {len(part) for part in parts} == {59, 60}
    # Drawing 600 of 6000 without replacement: Var(share) = p(1−p)/600 · (6000 − 600)/5999.
    mixes = [
        label_mix(BALANCED, partition.iid(BALANCED, num_clients=10, seed=seed))
        for seed in range(50)
    ]
    expected = 0.09 / 600 * 5400 / 5999
    variance = np.array([((mix - 0.1) ** 2).mean() for mix in mixes])
    assert abs(variance.mean() - expected) < 4 * variance.std() / np.sqrt(50)


def test_a_shard_is_a_run_of_the_sorted_labels():
    parts = partition.shards(BALANCED, num_clients=100, shards_per_client=2, seed=0)
    for part in parts:
        assert set(np.bincount(BALANCED[part])) <= {0, 30, 60}
    one_label = partition.shards(BALANCED, num_clients=50, shards_per_client=1, seed=0)
    assert all(len(np.unique(BALANCED[part])) == 1 for part in one_label)


def test_two_shards_per_client_give_the_label_pairs_that_the_specification_counts():
    """100 clients × 2 shards of 10 labels: 30.5 ± 2.3 label
    pairs that at least two clients hold.
    """
    pairs = []
    for seed in range(50):
        hands = partition.shards(BALANCED, num_clients=100, shards_per_client=2, seed=seed)
        held = Counter(tuple(np.unique(BALANCED[part])) for part in hands)
        pairs.append(sum(count >= 2 for count in held.values()))
    assert np.mean(pairs) == pytest.approx(30.5, abs=4 * 2.3 / np.sqrt(50))


def test_labels_per_client_is_even_on_balanced_data_and_mixes_all_pairs():
    pairs = Counter()
    for seed in range(60):
        parts = partition.labels_per_client(
            BALANCED, num_clients=30, labels_per_client=2, seed=seed
        )
        assert {len(part) for part in parts} == {200}
        pairs.update(tuple(np.unique(BALANCED[part])) for part in parts)
    assert set(pairs) == set(combinations(range(10), 2))
    assert stats.chisquare(list(pairs.values())).pvalue > 1e-4


def test_quantity_has_the_closed_form_variance():
    """Var(size share) = (N−1)/(N²(Nα+1))."""
    y = np.zeros(10_000)
    num_clients = 20
    alpha = 0.5
    expected = (num_clients - 1) / (num_clients**2 * (num_clients * alpha + 1))
    shares = np.array(
        [
            [
                len(part) / 10_000
                for part in partition.quantity(y, num_clients=num_clients, alpha=alpha, seed=seed)
            ]
            for seed in range(200)
        ]
    )
    variances = ((shares - 1 / num_clients) ** 2).mean(1)
    assert abs(variances.mean() - expected) < 4 * variances.std() / np.sqrt(200)


def test_quantity_keeps_labels_iid():
    """Σ over clients of Pearson's χ² against the global mix has (N−1)(C−1) degrees of freedom."""
    parts = partition.quantity(BALANCED, num_clients=8, alpha=5.0, seed=0)
    table = np.stack([np.bincount(BALANCED[part], minlength=10) for part in parts])
    assert 1e-4 < stats.chi2_contingency(table).pvalue < 1 - 1e-4


def test_quantity_and_iid_take_regression_targets():
    targets = torch.zeros(50, 2, dtype=torch.float64)
    assert_exact_cover(partition.iid(targets, num_clients=7), 50)
    assert_exact_cover(partition.quantity(targets, num_clients=7), 50)


def test_by_user_keeps_large_users():
    users = [np.array([5, 0]), np.array([1]), np.array([2, 3, 4]), np.array([7])]
    parts = partition.by_user(users, min_samples=2)
    assert [part.tolist() for part in parts] == [[0, 5], [2, 3, 4]]
    assert parts.recipe == {"law": "by_user", "num_clients": 2, "min_samples": 2}
    assert len(partition.by_user(users)) == 4


Y = np.arange(100) % 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: partition.iid(Y, num_clients=101), "num_clients=101 .* lower"),
        (
            lambda: partition.shards(Y, num_clients=30, shards_per_client=4),
            "120 shards .* has 100; lower",
        ),
        (
            lambda: partition.shards(Y / 2, num_clients=3, shards_per_client=1),
            "y: must be integer labels",
        ),
        (
            lambda: partition.labels_per_client(Y, num_clients=20, labels_per_client=11),
            "client=11: .* 1 to 10",
        ),
        (
            lambda: partition.labels_per_client(Y, num_clients=4, labels_per_client=2),
            "8 places .* all 10 .* raise",
        ),
        (
            lambda: partition.labels_per_client(Y, num_clients=60, labels_per_client=2),
            "120 places .* rare .* lower",
        ),
        (
            lambda: partition.dirichlet(Y, num_clients=3, alpha=0),
            r"alpha=0: must be .* ≥ 1e-06 and ≤ 1e\+12",
        ),
        (
            lambda: partition.dirichlet(Y, num_clients=20, alpha=1, min_size=6),
            "min_size=6 = 120 .* has 100; lower",
        ),
        (lambda: partition.by_user(None), "users: this data set has no natural clients"),
        (lambda: partition.by_user([np.array([1]), np.array([1, 2])]), "disjoint"),
    ],
)
def test_impossible_settings_say_what_to_change(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_holders_are_apportioned_by_webster():
    """Webster's method on 53, 24, 23 with 10 seats: quotients by odd divisors give 5, 3, 2 (53/9 >
    23/5 > 53/11).
    """
    quotients = sorted(
        ((v / d, i) for i, v in enumerate([53, 24, 23]) for d in range(1, 22, 2)), reverse=True
    )
    seats = Counter(i for _, i in quotients[:10])
    assert holders_per_label(np.array([53, 24, 23]), 10, 1).tolist() == [
        seats[0],
        seats[1],
        seats[2],
    ]
