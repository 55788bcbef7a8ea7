"""Chapter 5: best rates, and tiers taken apart."""

import numpy as np
import pytest

from fedlab_course.chapters.ch05_fedmas import turns


def test_the_table_has_each_method_at_the_best_rate_for_each_column() -> None:
    table = turns.rated()
    names = ["FedAvg", "TFedAvg, tiers by DBSCAN", "one client an update"]
    assert list(table.index) == names
    assert list(table["updates in 50 rounds"]) == ["50", "630", "1000"]
    assert list(table["MB in 50 rounds"]) == ["120", "139", "120"]
    assert table.loc["FedAvg", "after 50 updates"] == "89.4% ± 4.1% (η = 0.8)"


def test_the_table_names_a_best_rate_at_the_edge_of_the_grid() -> None:
    cell = turns.rated().loc["one client an update", "after 50 updates"]
    assert cell.endswith("(η = 0.0088, edge of the grid)")


def test_the_penalty_adds_by_updates_and_costs_by_bytes() -> None:
    row = turns.penalty().loc["one label"]
    assert row["after 50 rounds"] == "+0.2 [−0.1, +0.4], softmax"
    assert row["after 50 updates"] == "+27.5 [+23.0, +32.0], implicit"
    assert row["after 120 MB"] == "−6.5 [−7.3, −5.7], implicit"


def test_the_steps_add_up_to_the_lead_of_tiers() -> None:
    table = turns.steps().astype(float)
    assert list(table.index) == [*list(turns.STEPS.values())[1:], "in all"]
    assert table.iloc[:-1].sum().to_numpy() == pytest.approx(table.iloc[-1].to_numpy(), abs=0.2)
    assert table.loc["more updates", "mean accuracy, η = 0.01"] == 26.7


def test_from_fedavg_to_tiers_each_row_has_its_mean_and_each_arrow_its_difference() -> None:
    figure = turns.apart({0: 0.7, 1: 0.8})
    rows = {row[0]: row for row in figure.layout.meta["table"]["rows"]}
    assert list(rows) == list(turns.ROWS)
    assert rows[turns.YOURS][2] == "75.0%"
    assert rows["FedAvg, 2 clients"][-1] == 10
    words = [note.text for note in figure.layout.annotations if note.text.startswith("<b>")]
    assert words == [
        "<b>more updates: +27 points</b>",
        "<b>each label in every round: +12 points</b>",
        "<b>likeness: +5 points</b>",
        "<b>fixed order: −4 points</b>",
    ]
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert names == ["FedAvg: random clients", "two unlike clients", "two like clients"]
    arrow = next(note for note in figure.layout.annotations if note.showarrow is not False)
    assert arrow.x - arrow.ax == pytest.approx(0.27, abs=0.02)
    assert np.isfinite([trace.x[0] for trace in figure.data]).all()
