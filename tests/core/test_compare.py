"""Comparison at one price: what counts is what a run had reached when it had spent the budget."""

import numpy as np
import pandas as pd
import pytest

from fedlab_core import compare
from fedlab_core.compare import t_interval
from fedlab_core.history import History, RoundRecord


def run(
    seed: int, accuracy: list[float], *, updates: int = 1, cost: int = 100, every: int = 1
) -> History:
    """A run whose evaluated rounds every, 2·every, … had the ``accuracy``; ``cost`` bytes up and as
    many down each.
    """
    records = [
        RoundRecord(t, updates * t, value, 1 - value, 1 - value, cost * t, cost * t, 1.0, 0.1, 0.0)
        for t, value in zip(range(every, every * len(accuracy) + 1, every), accuracy, strict=True)
    ]
    return History({"seed": seed, "algorithm": {"name": "X"}}, records)


# Four rounds each. B makes three updates a round and sends twice as much.
A = [run(0, [0.1, 0.2, 0.3, 0.4]), run(1, [0.2, 0.3, 0.4, 0.5])]
B = [run(seed, [0.3, 0.6, 0.7, 0.8], updates=3, cost=200) for seed in (0, 1)]
RACE = {"A": A, "B": B}


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
    for end, expected in ((9, 0.2), (10, 0.5)):
        race = {"A": [run(0, [0.2, 0.5], every=5)], "B": [run(0, [0.3], every=end)]}
        assert compare.at_equal(race).loc[0, "A"] == expected


def test_a_few_bytes_more_do_not_cost_a_round():
    one_number_more = [run(seed, [0.1, 0.2, 0.6], cost=100_004) for seed in (0, 1)]
    # the budget is 2 % too small
    for cost, expected in ((100_000, [0.6, 0.6]), (98_000, [0.2, 0.2])):
        race = {
            "A": [run(seed, [0.1, 0.2, 0.3], cost=cost) for seed in (0, 1)],
            "B": one_number_more,
        }
        assert list(compare.at_equal(race, "bytes")["B"]) == expected


def test_a_run_whose_first_round_does_not_fit_in_has_nothing_to_show():
    slow = {"A": [run(s, [0.1, 0.2]) for s in (0, 1)], "B": B}
    values = compare.at_equal(slow, "updates")
    assert list(values["A"]) == [0.2, 0.2] and values["B"].isna().all()
    assert compare.summary(values).loc["B", ["mean", "low", "high", "sd"]].isna().all()
    assert compare.table(slow).loc["B"].tolist() == [
        "0.600 ± 0.000",
        "not one round",
        "0.300 ± 0.000",
    ]


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
    found = compare.summary(values)
    expected = t_interval(values["A"], 0.95)
    assert tuple(found.loc["A", ["mean", "low", "high"]]) == (
        expected.mean,
        expected.low,
        expected.high,
    )
    assert found.loc["A", "sd"] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
    assert found.loc["B", "low"] == found.loc["B", "high"] == 0.5 and found.loc["B", "runs"] == 3


def test_one_run_has_a_mean_and_no_interval():
    found = compare.summary(pd.DataFrame({"A": [0.25], "B": [np.nan]}))
    assert found.loc["A", "mean"] == 0.25 and list(found["runs"]) == [1, 1]
    assert found.loc["A", ["low", "high", "sd"]].isna().all() and np.isnan(found.loc["B", "mean"])
    table = compare.table({"A": A[:1], "B": B[:1]})
    assert list(table.loc["A"]) == ["0.400"] * 3 and list(table.loc["B"]) == [
        "0.800",
        "0.300",
        "0.600",
    ]


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
        ("updates", 1_234_567, "1,234,567 server updates"),
        ("bytes", 999_400, "999 kB"),
        ("bytes", 999_600, "1 MB"),
        ("bytes", 59_760_000, "59.8 MB"),
        ("bytes", 7_654e12, "7,650 TB"),
    ],
)
def test_a_price_in_words(x, amount, text):
    assert compare._in_words(x, amount) == text
