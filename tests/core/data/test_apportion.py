"""The integer arithmetic behind the partitioners."""

from collections import Counter

import numpy as np
from scipy.special import digamma

from fedlab_core.data.partition.apportion import _round_table, fit_table, holders_per_label, log_dirichlet


def test_log_dirichlet_is_finite_and_normalised_where_shares_underflow():
    logs = log_dirichlet(np.random.default_rng(0), np.full(10, 1e-6), 1000)
    assert np.isfinite(logs).all() and logs.min() < -1e5
    assert np.allclose(np.exp(logs).sum(1), 1)


def test_log_dirichlet_has_the_mean_of_the_logarithm():
    """E log q_c = ψ(α_c) − ψ(Σ α)."""
    concentration = np.array([0.05, 0.5, 2.0])
    logs = log_dirichlet(np.random.default_rng(0), concentration, 20_000)
    error = logs.std(0) / np.sqrt(20_000)
    assert (np.abs(logs.mean(0) - (digamma(concentration) - digamma(concentration.sum()))) < 4 * error).all()


def test_rounding_moves_no_entry_by_more_than_one():
    """A real table with whole margins has a whole table within one of every entry; this finds such a one."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.dirichlet(np.ones(6), 200) * 60
        for _ in range(500):
            table *= 2000 / table.sum(0)
            table *= 60 / table.sum(1, keepdims=True)
        whole = _round_table(table, np.full(200, 60), np.full(6, 2000))
        assert np.abs(whole - table).max() < 1


def test_fitted_tables_keep_the_odds_ratios_of_the_draws():
    """The Kullback–Leibler projection on given margins multiplies rows and columns only, so odds ratios stay."""
    rng = np.random.default_rng(0)
    log_mix = np.log(rng.dirichlet(np.ones(4), 3))
    rows, columns = np.array([10**9, 2 * 10**9, 10**9]), np.array([10**9] * 4)
    table = np.log(fit_table(log_mix, rows, columns))

    def log_odds(logs):
        return logs[1:, 1:] - logs[:1, 1:] - logs[1:, :1] + logs[:1, :1]

    assert np.allclose(log_odds(table), log_odds(log_mix), atol=1e-6)


def test_holders_are_apportioned_by_webster():
    """Webster's method on 53, 24, 23 with 10 seats: quotients by odd divisors give 5, 3, 2 (53/9 > 23/5 > 53/11)."""
    quotients = sorted(((v / d, i) for i, v in enumerate([53, 24, 23]) for d in range(1, 22, 2)), reverse=True)
    seats = Counter(i for _, i in quotients[:10])
    assert holders_per_label(np.array([53, 24, 23]), 10, 1).tolist() == [seats[0], seats[1], seats[2]]
