"""The experiment on FedAvg in as few rounds as tiers make within fifty updates."""

import pandas as pd

from fedlab_course.evidence import tables
from fedlab_course.experiments.studies import few_rounds


def test_the_best_rate_is_the_one_with_the_highest_mean_and_the_first_of_equals() -> None:
    rows = [("FedAvg", 0.1, 0.2), ("FedAvg", 0.1, 0.4), ("FedAvg", 0.2, 0.3), ("FedAvg", 0.4, 0.1)]
    table = pd.DataFrame(rows, columns=["method", "lr", "accuracy"])
    assert few_rounds.chosen({"few_rounds_rates": table}) == [{"method": "FedAvg", "lr": 0.1}]


def test_a_run_has_as_many_rounds_as_tiers_within_fifty_updates() -> None:
    stored = tables.read("few_rounds").set_index("seed")
    (row,) = few_rounds.judge(210, method="FedAvg", lr=0.8)
    assert row["rounds"] == stored.loc[210, "rounds"] == 5  # ten tiers
    assert abs(row["accuracy"] - stored.loc[210, "accuracy"]) < 0.02
