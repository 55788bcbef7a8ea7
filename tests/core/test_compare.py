"""Comparison at one price: what counts is what a run had reached when it had spent the budget."""

import numpy as np
import pandas as pd
import pytest

from fedlab_core import compare
from fedlab_core.compare import t_interval
from fedlab_core.history import ClientReport, History, RoundRecord


def run(
    seed: int, accuracy: list[float], *, updates: int = 1, cost: int = 100, every: int = 1, clients=None
) -> History:
    """A run whose evaluated rounds every, 2·every, … had the ``accuracy``; ``cost`` bytes up and as many down each."""
    records = [
        RoundRecord(t, updates * t, value, 1 - value, 1 - value, cost * t, cost * t, 1.0, 0.1, 0.0)
        for t, value in zip(range(every, every * len(accuracy) + 1, every), accuracy, strict=True)
    ]
    report = None if clients is None else ClientReport(np.array(clients), np.ones(len(clients)))
    return History({"seed": seed, "algorithm": {"name": "X"}}, records, clients=report)


# Four rounds each. B makes three updates a round and sends twice as much.
A = [run(0, [0.1, 0.2, 0.3, 0.4]), run(1, [0.2, 0.3, 0.4, 0.5])]
B = [run(seed, [0.3, 0.6, 0.7, 0.8], updates=3, cost=200) for seed in (0, 1)]
RACE = {"A": A, "B": B}


def test_the_budget_is_what_every_run_has_spent():
    assert compare.smallest_price(RACE, "rounds") == 4
    assert compare.smallest_price(RACE, "updates") == 4
    assert compare.smallest_price(RACE, "bytes") == 800


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ("rounds", 0.8),  # all four rounds of B
        ("updates", 0.3),  # 4 updates hold one whole round of 3
        ("bytes", 0.6),  # 800 bytes hold two rounds of 400
    ],
)
def test_each_price_has_its_own_result(x, expected):
    values = compare.at_equal(RACE, x)
    assert list(values["A"]) == [0.4, 0.5]
    assert list(values["B"]) == [expected, expected]
    assert list(values.index) == [0, 1] and values.index.name == "seed"


def test_a_run_counts_with_its_last_evaluated_round_within_the_budget():
    coarse = {"A": [run(0, [0.2, 0.5], every=5)]}
    assert compare.at_equal(coarse, "rounds", 9).loc[0, "A"] == 0.2
    assert compare.at_equal(coarse, "rounds", 10).loc[0, "A"] == 0.5


def test_a_few_bytes_more_do_not_cost_a_round():
    one_number_more = [run(seed, [0.1, 0.2, 0.6], cost=100_004) for seed in (0, 1)]
    race = {"A": [run(seed, [0.1, 0.2, 0.3], cost=100_000) for seed in (0, 1)], "B": one_number_more}
    assert list(compare.at_equal(race, "bytes")["B"]) == [0.6, 0.6]
    assert list(compare.at_equal(race, "bytes", 590_000)["B"]) == [0.2, 0.2], "1.7 % too dear"


def test_a_budget_that_a_run_has_not_spent_is_refused():
    with pytest.raises(ValueError, match="must be at most 4 rounds, where A with seed 0"):
        compare.at_equal(RACE, "rounds", 5)


def test_a_run_whose_first_round_does_not_fit_in_has_nothing_to_show():
    values = compare.at_equal(RACE, "updates", 2)
    assert list(values["A"]) == [0.2, 0.3] and values["B"].isna().all()
    assert compare.summary(values).loc["B", ["mean", "low", "high", "sd"]].isna().all()
    slow = {"A": [run(s, [0.1, 0.2]) for s in (0, 1)], "B": B}
    assert compare.table(slow, ["updates"]).loc["B"].item() == "not one round"


def test_runs_are_paired_by_seed_and_not_by_place():
    values = compare.at_equal({"A": A, "A again": A[::-1]})
    assert (values["A"] == values["A again"]).all()


@pytest.mark.parametrize(
    ("histories", "message"),
    [
        ({"A": A, "B": B[:1]}, r"A ran with seeds \[0, 1\], B with \[0\]"),
        ({"A": [A[0], A[0]]}, "same seed"),
        ({}, "at least one"),
        ({"A": []}, "at least one"),
    ],
)
def test_what_cannot_be_paired_is_refused(histories, message):
    with pytest.raises(ValueError, match=message):
        compare.at_equal(histories)


def test_a_summary_is_the_t_interval_of_each_column():
    values = pd.DataFrame({"A": [0.1, 0.2, 0.6], "B": [0.5, 0.5, 0.5]})
    found = compare.summary(values, level=0.9)
    expected = t_interval(values["A"], 0.9)
    assert tuple(found.loc["A", ["mean", "low", "high"]]) == (expected.mean, expected.low, expected.high)
    assert found.loc["A", "sd"] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
    assert found.loc["B", "low"] == found.loc["B", "high"] == 0.5 and found.loc["B", "runs"] == 3


def test_one_run_has_a_mean_and_no_interval():
    found = compare.summary(pd.DataFrame({"A": [0.25], "B": [np.nan]}))
    assert found.loc["A", "mean"] == 0.25 and list(found["runs"]) == [1, 1]
    assert found.loc["A", ["low", "high", "sd"]].isna().all() and np.isnan(found.loc["B", "mean"])
    table = compare.table({"A": A[:1], "B": B[:1]}, ["rounds", "updates"])
    assert list(table.loc["A"]) == ["0.400", "0.400"] and list(table.loc["B"]) == ["0.800", "0.300"]
    assert compare.table({"A": [run(0, [0.1, 0.2])], "B": B[:1]}, ["updates"]).loc["B"].item() == "not one round"


def test_differences_cancel_what_a_seed_does_to_all():
    seed_effect = np.array([0.0, 0.1, 0.5])
    values = pd.DataFrame({"A": seed_effect, "B": seed_effect + 0.02, "C": seed_effect - 0.01})
    gaps = compare.differences(values, "A")
    assert list(gaps.columns) == ["B", "C"]
    np.testing.assert_allclose(gaps, [[0.02, -0.01]] * 3)
    paired, alone = compare.summary(gaps), compare.summary(values)
    assert paired.loc["B", "sd"] < 1e-12 < alone.loc["B", "sd"]


def test_the_table_names_what_each_price_amounts_to():
    table = compare.table(RACE)
    assert list(table.columns) == ["4 rounds", "4 server updates", "800 bytes"]
    assert list(table.index) == ["A", "B"]
    assert list(table.loc["B"]) == ["0.800 ± 0.000", "0.300 ± 0.000", "0.600 ± 0.000"]
    assert table.loc["A", "4 rounds"] == f"0.450 ± {t_interval([0.4, 0.5]).half_width:.3f}"


@pytest.mark.parametrize(
    ("x", "amount", "text"),
    [
        ("rounds", 1, "1 round"),
        ("updates", 1, "1 server update"),
        ("updates", 1_234_567, "1,234,567 server updates"),
        ("bytes", 1, "1 byte"),
        ("bytes", 999, "999 bytes"),
        ("bytes", 999_400, "999 kB"),
        ("bytes", 999_600, "1 MB"),
        ("bytes", 59_760_000, "59.8 MB"),
        ("bytes", 7_654e12, "7,650 TB"),
    ],
)
def test_a_price_in_words(x, amount, text):
    assert compare.price_in_words(x, amount) == text


def test_fairness_is_read_from_the_final_models():
    accuracy = [0.5, *[1.0] * 19]
    race = {"A": [run(0, [0.9], clients=accuracy)], "B": [run(0, [0.9], clients=[0.8] * 20)]}
    assert compare.clients(race).loc[0].tolist() == pytest.approx([0.75, 0.8])
    assert compare.clients(race, "mean").loc[0].tolist() == pytest.approx([0.975, 0.8])
    assert compare.clients(race, "std").loc[0, "B"] == pytest.approx(0)
    with pytest.raises(ValueError, match="not measured"):
        compare.clients(RACE)
    with pytest.raises(ValueError, match="quantity"):
        compare.clients(race, "median")
