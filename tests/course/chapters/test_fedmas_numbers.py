"""Chapter 5: stored numbers of its sentences."""

from collections.abc import Mapping

import numpy as np
import pytest

from fedlab_core.compare import t_interval
from fedlab_course.evidence import best_rates, tables
from tests.course.check.from_notebook import text_of

SETTING = {"partition": "one_label", "epochs": 5}


@pytest.fixture(scope="module")
def text() -> str:
    """The Markdown of the chapter."""
    return text_of("05_fedmas.ipynb")


def percent(table: str, where: Mapping[str, object], measure: str = "end_accuracy") -> float:
    """The mean of a measure over the stored seeds."""
    rows = tables.matching(table, {**SETTING, **where} if table.startswith("rated") else where)
    return 100 * float(rows[measure].mean())


def test_two_tasks_are_kept_better_by_the_plain_penalty(text: str) -> None:
    rows = tables.read("tasks_in_turn")
    two = rows[rows["tasks"] == "labels"].set_index("seed")
    best = {}
    for name in ("uniform", "mas"):
        strengths = dict(iter(two[two["importance"] == name].groupby("strength")["both"]))
        best[name] = max(strengths.values(), key=lambda values: values.mean())
    gap = t_interval(100 * (best["uniform"] - best["mas"]))
    assert (
        f"{100 * best['uniform'].mean():.0f} % in the mean of both with the plain penalty" in text
    )
    assert f"{gap.mean:.1f} points more than with $\\Omega$ [{gap.low:.1f}, {gap.high:.1f}]" in text


def test_the_setting_for_fifty_updates_is_a_bad_one_for_fifty_rounds() -> None:
    where = {"method": "FedMas implicit", "best_by": "updates"}
    assert round(percent("rated_digits", where, "accuracy_at_updates")) == 56
    end = percent("tiers_lasting", {"algorithm": "fedmas", "strength": 0.1, "lr": 0.4})
    assert round(end) == round(percent("rated_digits", where)) == 20


def test_for_fifty_rounds_the_weakest_penalty_of_the_grid_is_best() -> None:
    where = {"method": "FedMas softmax", "best_by": "rounds"}
    chosen = tables.matching("rated_digits", SETTING | where)["parameter"].unique().tolist()
    assert chosen == [min(best_rates.parameters("one_label", "FedMas softmax"))] == [10.0]
    ends = {"FedMas softmax": 10.0, "TFedAvg": None}
    stored = [
        percent("tiers_lasting", {"algorithm": name, "lr": 0.2828, "strength": strength})
        for name, strength in (("fedmas", 10.0), ("tfedavg", ""))
    ]
    rated = [percent("rated_digits", {"method": name, "best_by": "rounds"}) for name in ends]
    np.testing.assert_allclose(stored, rated, atol=0.2)
