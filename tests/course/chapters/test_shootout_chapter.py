"""Chapter 6: the board's ranking, budgets filled by a reader's rule, and the patient's ledger."""

import re

import numpy as np
import pandas as pd
import pytest
import torch

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course.chapters.ch06_shootout import board, figures
from fedlab_course.check import registry
from fedlab_course.evidence import best_rates, tables
from fedlab_course.methods.one_client import OneClientAnUpdate
from tests.course.check.from_notebook import text_of
from tests.support import blobs, run

WORK = {
    "rounds": 4,
    "clients_per_round": 3,
    "local_epochs": 1,
    "batch_size": 5,
    "lr": 0.05,
    "progress": False,
}


@pytest.fixture(scope="module")
def one_by_one():
    exercise = registry.get("06-class")
    return exercise.build(exercise.solution_source)


@pytest.fixture(scope="module")
def within_budget():
    exercise = registry.get("06-budget")
    return exercise.build(exercise.solution_source)


@pytest.fixture(scope="module")
def race(one_by_one) -> dict[str, fl.History]:
    fed = blobs((6, 9, 12, 5, 8))
    model = fl.models.softmax_regression(fed, seed=1)
    rules = {"FedAvg": fl.FedAvg(), "SCAFFOLD": fl.Scaffold(), "one client": one_by_one()}
    return {name: fl.simulate(fed, model, rule, **WORK) for name, rule in rules.items()}


@pytest.mark.parametrize("federation", board.FEDERATIONS.values())
@pytest.mark.parametrize("axis", board.AXES.values())
def test_the_board_ranks_by_the_mean_over_twenty_seeds(federation: str, axis: str) -> None:
    rows = board.accuracies(federation, axis)
    means = [values.mean() for values in rows.values()]
    assert means == sorted(means, reverse=True)
    assert all(len(values) == 20 for values in rows.values())
    assert "FedAvg" in rows
    absent = board.missing(federation, axis)
    assert not set(rows) & set(absent)
    title = board.board(federation, axis).layout.xaxis.title.text.replace("<br>", " ")
    assert ("no test runs" in title) == bool(set(absent) - {board.COMPETITOR})


def test_a_row_is_the_variant_that_validation_prefers() -> None:
    rows = tables.read("rates_digits")
    mine = rows[(rows.partition == "one_label") & (rows.epochs == 5)]
    variants = board.METHODS["FedProx"]
    means = {
        name: mine[mine.method == name].groupby("lr").end_accuracy.mean().max() for name in variants
    }
    best = max(variants, key=lambda name: means[name])
    assert best_rates.best_of("one_label", variants) == best
    expected = best_rates.judged("one_label", best)
    pd.testing.assert_series_equal(board.accuracies("one_label", "rounds")["FedProx"], expected)


@pytest.mark.parametrize("federation", board.FEDERATIONS.values())
def test_no_two_rows_of_a_board_have_one_colour(federation: str) -> None:
    figure = board.board(federation, competitor=True)
    means = [trace for trace in figure.data if len(trace.x) == 1]
    assert len({trace.marker.color for trace in means}) == len(means)


def test_the_switches_have_words_and_every_position_a_figure() -> None:
    idea = board.switchable()
    assert [text for text, _ in idea.sliders["axis"].options] == list(board.AXES)
    for federation in board.FEDERATIONS.values():
        figure = idea.figure(axis="updates", federation=federation)
        (band,) = figure.layout.shapes
        best = next(iter(board.accuracies(federation, "updates").values())).mean()
        assert (band.x0, band.x1) == pytest.approx((best - 0.01, best))


@pytest.mark.parametrize("axis", board.AXES.values())
def test_the_competitor_is_on_the_board_only_when_it_is_wanted(axis: str) -> None:
    for competitor in (False, True):
        figure = board.board("one_label", axis, competitor=competitor)
        names = [row[0] for row in figure.layout.meta["table"]["rows"]]
        assert (board.COMPETITOR in names) == competitor
        absent = board.missing("one_label", axis)
        assert len(names) == len(board.METHODS) - len(absent) - (not competitor)
    rows = board.accuracies("one_label", axis)
    del rows[board.COMPETITOR]
    (band,) = board.board("one_label", axis).layout.shapes
    assert band.x1 == pytest.approx(max(values.mean() for values in rows.values()))


def test_a_row_has_the_name_of_the_method_and_not_of_the_variant() -> None:
    names = [row[0] for row in board.board().layout.meta["table"]["rows"]]
    assert set(names) <= set(board.METHODS)


def test_the_table_below_the_board_has_what_is_drawn() -> None:
    text = text_of("06_shootout.ipynb")
    for axis, words in (
        ("rounds", "FedAvg, FedProx, FedCurv: 8.5 |"),
        ("updates", "FedAvg, FedProx, FedCurv: 7, FedMas: 17, TFedAvg: 68 |"),
        ("bytes", "FedMas, FedSSO: 4, FedAvg, FedProx: 7, SCAFFOLD: 9, FedCurv: 26 |"),
    ):
        found = board.accuracies("one_label", axis)
        del found[board.COMPETITOR]
        best = max(values.mean() for values in found.values())
        behind = {name: 100 * (best - values.mean()) for name, values in found.items()}
        assert words in text
        for names, points in re.findall(r"((?:[A-Z]\w+(?:, )?)+): ([\d.]+)", words):
            for name in names.split(", "):
                assert behind[name] == pytest.approx(float(points), abs=0.5)
    found = board.accuracies("one_label", "bytes")
    gap = t_interval(100 * (found["FedMas"] - found["FedAvg"]))
    interval = f"[{gap.low:.1f}, {gap.high:.1f}]"
    assert f"FedMas is {gap.mean:.1f} points above FedAvg {interval}" in text
    gap = t_interval(100 * (found["TFedAvg"] - found["FedMas"]))
    assert f"and TFedAvg {gap.mean:.1f} above FedMas" in text


def test_the_line_below_the_board_names_the_variant_of_fedmas() -> None:
    title = board.board("one_label", "rounds").layout.xaxis.title.text
    assert title.endswith("by validation: FedMas, Ω added up, λ = 0.0001, η = 0.28")
    assert board.setting("one_label", "FedAvg", "bytes") == "FedAvg, η = 0.8"


@pytest.mark.parametrize("federation", board.FEDERATIONS.values())
@pytest.mark.parametrize("axis", board.AXES.values())
def test_feddyn_is_in_the_grey_band_on_every_axis(federation: str, axis: str) -> None:
    means = {name: values.mean() for name, values in board.accuracies(federation, axis).items()}
    assert max(means.values()) - means["FedDyn"] < best_rates.MARGIN


def test_a_budget_is_what_fedavg_spends(race, within_budget) -> None:
    found = figures.filled(race, within_budget)
    accuracy = {name: h.frame.test_accuracy.to_numpy() for name, h in race.items()}
    for axis in found:
        assert found.loc["FedAvg", axis] == accuracy["FedAvg"][-1]
    # Four rounds of SCAFFOLD cost twice the bytes: two rounds fit.
    assert found.loc["SCAFFOLD", "bytes"] == accuracy["SCAFFOLD"][1]
    assert found.loc["SCAFFOLD", "rounds"] == accuracy["SCAFFOLD"][-1]
    # Three updates in a round: one round fits into four.
    assert found.loc["one client", "server updates"] == accuracy["one client"][0]
    assert found.loc["one client", "bytes"] == accuracy["one client"][-1]


def test_the_best_round_never_lies_below_the_last(race, within_budget) -> None:
    last = figures.filled(race, within_budget)
    best = figures.filled(race, figures.best_so_far)
    assert (best >= last).all(axis=None)
    figure = figures.flattered(race, within_budget, ("rounds", "bytes"), title="rules")
    assert len(figure.data) == 2 * len(race)
    for axis, traces in (("rounds", figure.data[:3]), ("bytes", figure.data[3:])):
        found = [list(trace.x) for trace in traces]
        assert found == np.stack([last[axis], best[axis]], axis=1).tolist()


def test_the_patient_takes_one_answer_whole_and_makes_one_update(race) -> None:
    fed = blobs((6, 9, 12, 5, 8))
    model = fl.models.softmax_regression(fed, seed=1)
    patient = run(fed, model, figures.LastAnswer(), **WORK | {"rounds": 1})
    alone = []
    for client in range(5):

        class Alone(fl.Algorithm):
            """One client, the same stream of batches."""

            chosen = client

            def cohorts(self, server):
                yield np.array([self.chosen])

        alone.append(run(fed, model, Alone(), **WORK | {"rounds": 1}).history.params)
    assert any(torch.equal(patient.history.params, one) for one in alone)
    history = fl.simulate(fed, model, figures.LastAnswer(), **WORK)
    table = figures.ledger({"FedAvg": race["FedAvg"], "the patient": history} | race)
    assert table.loc["the patient"].tolist() == table.loc["FedAvg"].tolist()
    assert table.loc["one client", "server updates in a round"] == "3"


def test_a_run_that_diverges_is_left_out_and_told(capsys) -> None:
    fed = blobs((6, 9, 12, 5, 8))
    model = fl.models.mlp(fed, (8,), seed=1)
    rules = {"FedAvg": fl.FedAvg(), "SCAFFOLD": fl.Scaffold()}
    found = figures.run_all(fed, model, rules, {"FedAvg": 0.05, "SCAFFOLD": 1e30}, **WORK)
    assert set(found) == {"FedAvg"}
    assert "SCAFFOLD diverged in round" in capsys.readouterr().out


def test_the_stored_competitor_is_the_readers_class(one_by_one) -> None:
    fed = blobs((6, 9, 12, 5, 8))
    model = fl.models.softmax_regression(fed, seed=1)
    mine, stored = (run(fed, model, rule, **WORK) for rule in (one_by_one(), OneClientAnUpdate()))
    torch.testing.assert_close(mine.history.params, stored.history.params, rtol=0, atol=0)


def test_tiers_and_one_client_are_compared_where_both_are_judged() -> None:
    rows = board.tiers_less_one_client().layout.meta["table"]["rows"]
    names = [row[0] for row in rows]
    assert {"TFedAvg, one label", "TFedAvg, IID"} <= set(names)
    assert all(row[-1] == 20 for row in rows)
    assert set(board.live_rates(["FedAvg", "FedMas"])) == {"FedAvg", "FedMas"}
