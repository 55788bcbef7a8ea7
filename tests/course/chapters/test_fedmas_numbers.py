"""Chapter 5: stored numbers of its sentences."""

from collections.abc import Mapping

import pytest

from fedlab_course.evidence import best_rates, judging, tables
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
    both = rows[rows["tasks"] == "labels"].groupby(["importance", "strength"])["both"].mean()
    plain = f"{100 * both['uniform', 0.1]:.0f} % at $\\lambda=0.1$"
    omega = f"{100 * both['mas', 1.0]:.0f} % for $\\Omega$ at $\\lambda=1$"
    assert f"in ten stored seeds {plain}, against {omega}" in text


def test_the_setting_for_fifty_updates_is_a_bad_one_for_fifty_rounds(text: str) -> None:
    where = {"method": "FedMas implicit", "best_by": "updates"}
    assert round(percent("rated_digits", where, "accuracy_at_updates")) == 56
    end = percent("tiers_lasting", {"algorithm": "fedmas", "lr": 0.4})
    assert round(end) == round(percent("rated_digits", where)) == 20
    assert "At $\\eta=0.4$ the weights run away" in text
    drifts = {
        best_by: tables.matching("rated_digits", SETTING | where | {"best_by": best_by})["drift"]
        for best_by in ("updates", "rounds")
    }
    assert drifts["updates"].median() > 100 > 2 > drifts["rounds"].median()


def test_on_mnist_tiers_without_a_penalty_are_as_good_at_best_rates(text: str) -> None:
    tiers, fedmas = (
        percent("rated_mnist", {"method": name, "best_by": "rounds"})
        for name in ("TFedAvg", "FedMas implicit")
    )
    assert f"At best rates, after 30 rounds, tiers end at {tiers:.0f} %" in text
    assert 0.4 < fedmas - tiers < 0.6
    lead = 100 * judging.stored()["fair-3k"].finding.mean
    assert f"{lead:.0f} points above FedAvg" in text
