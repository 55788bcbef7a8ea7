"""The two Dirichlet laws against their closed forms, at ordinary and at extreme concentrations."""

import numpy as np
import pytest
from scipy import stats

from fedlab_core.data import partition
from fedlab_core.data.partition.apportion import fit_table
from tests.core.data.partition_checks import BALANCED, assert_exact_cover, label_mix


def variance_ratios(
    counts: np.ndarray, num_clients: int, alpha: float, num_seeds: int
) -> np.ndarray:
    """Var(share) over its closed form p(1−p)/(Cα+1), for each seed and class."""
    y = np.repeat(np.arange(len(counts)), counts)
    p = counts / counts.sum()
    mixes = [
        label_mix(y, partition.dirichlet(y, num_clients=num_clients, alpha=alpha, seed=seed))
        for seed in range(num_seeds)
    ]
    return ((np.array(mixes) - p) ** 2).mean(1) / (p * (1 - p) / (len(counts) * alpha + 1))


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Mean over seeds and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@pytest.mark.parametrize("alpha", [0.01, 10.0])
def test_label_variance_by_client_is_the_closed_form(alpha):
    """Var = (C−1)/(C²(Cα+1)) for the share of a label that one client holds.

    What the exact cover costs with 100 clients is documented as 2 %; the rest is sampling error.
    """
    ratio, error = mean_and_error(
        variance_ratios(np.full(10, 6000), 100, alpha, num_seeds=20).mean(1)
    )
    assert error < 0.015
    assert abs(ratio - 1) < 0.025 + 4 * error


def test_label_variance_by_client_for_unequal_classes():
    """The documented law Dir(αC·p): p_c(1−p_c)/(Cα+1) holds for the large classes and for the small
    ones.
    """
    for ratios in variance_ratios(
        np.array([30000, 15000, 5000, 5000, 5000]), 100, 2.0, num_seeds=40
    ).T:
        ratio, error = mean_and_error(ratios)
        assert error < 0.04 and abs(ratio - 1) < 0.025 + 4 * error


def test_a_share_by_client_has_the_beta_law():
    """One coordinate of Dir_C(α) is Beta(α, (C−1)α)."""
    y = np.tile(np.arange(10), 6000)
    shares = [
        label_mix(y, partition.dirichlet(y, num_clients=100, alpha=1.0, seed=seed))[:, 0]
        for seed in range(30)
    ]
    # 3000 shares: the 0.1 % point of the Kolmogorov–Smirnov distance is 1.95/√3000 = 0.036.
    assert stats.kstest(np.concatenate(shares), stats.beta(1.0, 9.0).cdf).statistic < 0.036


def test_label_variance_by_class_is_the_closed_form():
    """Var = (N−1)/(N²(Nα+1)) for the share of a class that one client receives."""
    y = np.repeat(np.arange(5), 4_000)
    num_clients = 20
    alpha = 0.3
    expected = (num_clients - 1) / (num_clients**2 * (num_clients * alpha + 1))
    variances = []
    for seed in range(40):
        parts = partition.dirichlet(y, num_clients=num_clients, alpha=alpha, by="class", seed=seed)
        share = np.stack([np.bincount(y[part], minlength=5) for part in parts]) / 4_000
        variances.append(((share - 1 / num_clients) ** 2).mean())
    assert abs(np.mean(variances) - expected) < 4 * np.std(variances) / np.sqrt(40)


def test_the_two_dirichlet_laws_differ_in_sizes():
    by_client = partition.dirichlet(BALANCED, num_clients=50, alpha=0.3)
    by_class = partition.dirichlet(BALANCED, num_clients=50, alpha=0.3, by="class")
    assert {len(part) for part in by_client} == {120}
    assert np.std([len(part) for part in by_class]) > 30


@pytest.mark.parametrize("by", ["client", "class"])
def test_infinite_alpha_is_the_global_mix_to_the_sample(by):
    counts = np.array([3000, 1500, 500, 700, 300])
    y = np.repeat(np.arange(5), counts)
    parts = partition.dirichlet(y, num_clients=20, alpha=1e10, by=by)
    held = np.stack([np.bincount(y[part], minlength=5) for part in parts])
    assert np.abs(held - counts / 20).max() <= 1


@pytest.mark.parametrize("by", ["client", "class"])
def test_which_samples_of_a_class_a_client_gets_is_random(by):
    """At infinite α every seed deals the same numbers; the samples must differ all the same."""
    first, second = (
        partition.dirichlet(BALANCED, num_clients=20, alpha=1e10, by=by, seed=seed)
        for seed in (0, 1)
    )
    overlap = [len(np.intersect1d(a, b)) / len(a) for a, b in zip(first, second, strict=True)]
    assert np.mean(overlap) == pytest.approx(1 / 20, abs=4 * np.std(overlap) / np.sqrt(20))


@pytest.mark.parametrize("by", ["client", "class"])
def test_tiny_alpha_with_a_thousand_clients_is_dealt(by):
    y = np.tile(np.arange(10), 6000)
    assert_exact_cover(
        partition.dirichlet(y, num_clients=1000, alpha=1e-6, by=by, min_size=10),
        60_000,
        min_size=10,
    )


def test_clients_below_the_minimum_size_are_filled_from_the_largest():
    parts = partition.dirichlet(BALANCED, num_clients=600, alpha=0.01, by="class", min_size=10)
    assert {len(part) for part in parts} == {10}
    bare = partition.dirichlet(BALANCED, num_clients=600, alpha=0.01, by="class", min_size=1)
    assert min(map(len, bare)) == 1 and max(map(len, bare)) > 100


def test_fitted_tables_keep_the_odds_ratios_of_the_draws():
    """The Kullback–Leibler projection on given margins multiplies rows and columns only, so odds
    ratios stay.
    """
    rng = np.random.default_rng(0)
    log_mix = np.log(rng.dirichlet(np.ones(4), 3))
    rows = np.array([10**9, 2 * 10**9, 10**9])
    columns = np.array([10**9] * 4)
    table = np.log(fit_table(log_mix, rows, columns))

    def log_odds(logs):
        return logs[1:, 1:] - logs[:1, 1:] - logs[1:, :1] + logs[:1, :1]

    assert np.allclose(log_odds(table), log_odds(log_mix), atol=1e-6)
