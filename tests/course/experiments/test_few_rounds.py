"""The experiments on FedAvg in as few rounds as tiers make within fifty updates, and in as many
rounds as tiers make updates.
"""

import pandas as pd

from fedlab_course.evidence import tables
from fedlab_course.experiments.studies import few_rounds


def test_the_best_rate_is_the_one_with_the_highest_mean_and_the_first_of_equals() -> None:
    rows = [("FedAvg", 0.1, 0.2), ("FedAvg", 0.1, 0.4), ("FedAvg", 0.2, 0.3), ("FedAvg", 0.4, 0.1)]
    table = pd.DataFrame(rows, columns=["method", "lr", "accuracy"])
    for experiment in (few_rounds.FEW_ROUNDS, few_rounds.FULL_TIERS):
        assert experiment.cases({experiment.after: table}) == [{"method": "FedAvg", "lr": 0.1}]


def test_a_run_has_as_many_rounds_as_tiers_within_fifty_updates() -> None:
    stored = tables.read("few_rounds").set_index("seed")
    (row,) = few_rounds.FEW_ROUNDS.rows(210, method="FedAvg", lr=0.8)
    assert row["rounds"] == stored.loc[210, "rounds"] == 6  # ten tiers, and the search
    assert abs(row["accuracy"] - stored.loc[210, "accuracy"]) < 0.02


def test_rounds_are_counted_from_the_number_of_tiers() -> None:
    assert [few_rounds.whole(tiers) for tiers in (10, 13, 17)] == [5, 3, 2]
    assert [few_rounds.few(tiers) for tiers in (10, 13, 17)] == [6, 4, 3]
    assert [few_rounds.many(tiers) for tiers in (10, 13, 17)] == [500, 650, 850]
