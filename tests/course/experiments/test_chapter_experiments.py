"""The experiments of chapter 6, in small: budgets by hand."""

import numpy as np
import pandas as pd
import pytest

from fedlab_course.experiments.studies import prices


def curve(accuracies: list[float], updates: int, size: float) -> pd.DataFrame:
    """A point after each round, of which each makes so many
    server updates and sends so many bytes.
    """
    along = np.arange(1, len(accuracies) + 1)
    return pd.DataFrame(
        {"test_accuracy": accuracies, "server_updates": updates * along, "bytes": size * along}
    )


def test_a_budget_pays_for_the_last_point_that_fits() -> None:
    found = prices.prices(0.3, curve([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], 20, 100.0), budget=395.0)
    # two rounds make 40 of 50 server updates, three make 60
    assert found["accuracy_at_updates"] == 0.2
    assert found["accuracy_at_bytes"] == 0.3  # 400 is 1.3 % too much
    assert (
        prices.prices(None, curve([0.1, 0.2], 1, 100.0), budget=199.0)["accuracy_at_bytes"] == 0.2
    )  # 0.5 % is allowed
    assert found["end_accuracy"] == pytest.approx(0.4) and found["mean_accuracy"] == pytest.approx(
        0.35
    )
    assert found["gap"] == pytest.approx(0.1)


@pytest.mark.slow
def test_the_competitor_makes_as_many_updates_and_sends_no_more_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prices, "ROUNDS", 2)
    monkeypatch.setattr(
        prices, "FIELD", {name: prices.FIELD[name] for name in ("fedavg", "fedmas")}
    )
    rows = {row["method"]: row for row in prices.run(3, federation="one_label")}
    assert list(rows) == ["fedavg", "fedmas", "small", "small_bytes"]
    assert rows["small"]["server_updates"] == rows["fedmas"]["server_updates"] > 2
    every = rows["fedmas"]["server_updates"] / 2
    one_round = rows["fedavg"]["bytes"] / (2 * prices.COHORT)
    assert 0 <= rows["fedmas"]["bytes"] - rows["small_bytes"]["bytes"] < every * one_round
