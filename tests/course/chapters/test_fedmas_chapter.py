"""Chapter 5: best rates, and tiers taken apart."""

import numpy as np
import pytest
import torch

import fedlab_core as fl
from fedlab_course.chapters.ch05_fedmas import turns


def test_the_table_has_each_method_at_the_best_rate_for_each_column() -> None:
    table = turns.rated()
    assert list(table.index) == [
        "FedAvg",
        "tiers by DBSCAN",
        "one client an update",
        "tiers by DBSCAN − FedAvg",
        "tiers by DBSCAN − one client an update",
    ]
    assert table.loc["FedAvg", "last round within 50 updates"] == "89.4% ± 4.1% (η = 0.8)"
    last = table.loc["tiers by DBSCAN − one client an update"]
    assert last["mean of rounds 46–50"] == "−0.1 [−0.6, +0.4]"


def test_the_table_names_a_best_rate_at_the_edge_of_the_grid() -> None:
    cell = turns.rated().loc["one client an update", "last round within 50 updates"]
    assert cell.endswith("(η = 0.0088, edge of the grid)")


def test_the_penalty_adds_by_updates_and_costs_by_bytes() -> None:
    row = turns.penalty().loc["one label"]
    assert row["mean of rounds 46–50"] == "+0.2 [−0.1, +0.4]"
    assert row["last round within 50 updates"] == "+27.5 [+23.0, +32.0]"
    assert row["last round within 120 MB"] == "−6.5 [−7.3, −5.7]"


def test_two_panels_have_the_same_runs_over_rounds_and_over_updates() -> None:
    y = torch.arange(20) % 2
    fed = fl.FederatedDataset.from_clients(
        [(y[:, None].float(), y)] * 3, test=(y[:, None] + 0.0, y)
    )
    model = torch.nn.Linear(1, 2)
    work = {
        "rounds": 3,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "progress": False,
    }
    figure = turns.by_both({"A": fl.simulate(fed, model, fl.FedAvg(), **work)}, title="two")
    first, second = (figure.data[0], figure.data[len(figure.data) // 2])
    assert (first.xaxis, second.xaxis) == ("x", "x2")
    np.testing.assert_array_equal(first.y, second.y)
    assert [trace.showlegend for trace in (first, second)] == [True, False]


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


def test_two_equal_algorithms_agree_after_a_round(capsys: pytest.CaptureFixture[str]) -> None:
    y = torch.arange(20) % 2
    fed = fl.FederatedDataset.from_clients(
        [(y[:, None].float(), y)] * 3, test=(y[:, None] + 0.0, y)
    )
    work = {
        "rounds": 9,
        "clients_per_round": 2,
        "local_epochs": 1,
        "batch_size": 5,
        "lr": 0.1,
        "seed": 3,
    }
    model = torch.nn.Linear(1, 2)
    assert turns.same(fl.FedProx(mu=0.0), fl.FedAvg(), fed, model, **work) < 1e-6
    assert "`FedProx` and `fl.FedAvg` agree" in capsys.readouterr().out
    assert (
        turns.same(fl.FedProx(mu=5.0), fl.FedAvg(), fed, model, **(work | {"local_epochs": 4}))
        > 1e-6
    )
    assert "differ" in capsys.readouterr().out
