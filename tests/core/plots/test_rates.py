"""The picture of learning rates: its curves, its bands, and the rate of each method."""

import numpy as np
import pytest

import fedlab_core as fl

CURVES = {
    "FedAvg": {0.4: [0.5, 0.7], 0.1: [0.6, 0.8], 0.2: [0.9, 0.5]},
    "SCAFFOLD": {0.1: [0.2, 0.4], 0.2: [0.3, 0.5], 0.4: [0.9, 0.9]},
}


def traces(figure) -> dict:
    return {trace.name: trace for trace in figure.data}


def test_a_curve_is_the_mean_over_seeds_in_order_of_the_rates() -> None:
    found = traces(fl.plots.rates(CURVES))["FedAvg"]
    assert list(found.x) == [0.1, 0.2, 0.4]
    assert np.allclose(found.y, [0.7, 0.7, 0.6])
    assert np.allclose(found.customdata, [[0.6, 0.8], [0.5, 0.9], [0.5, 0.7]])


def test_no_and_full_accuracy_are_drawn() -> None:
    found = traces(fl.plots.rates({"FedAvg": {0.1: [0.0, 0.0], 0.2: [1.0, 1.0]}}))["FedAvg"]
    assert list(found.y) == [0.0, 1.0]


def test_the_band_runs_along_the_highest_and_back_along_the_lowest_values() -> None:
    band = traces(fl.plots.rates(CURVES))["FedAvg, spread over seeds"]
    assert list(band.x) == [0.1, 0.2, 0.4, 0.4, 0.2, 0.1]
    assert list(band.y) == [0.8, 0.9, 0.7, 0.5, 0.5, 0.6]
    assert "band" not in str(traces(fl.plots.rates({"FedAvg": {0.1: [0.5]}})))


def test_the_ring_is_at_the_best_rate_the_lowest_of_equals_or_where_it_is_asked_for() -> None:
    found = traces(fl.plots.rates(CURVES, {"SCAFFOLD": 0.2}))
    first = found["FedAvg, chosen rate"]
    second = found["SCAFFOLD, chosen rate"]
    assert (first.x[0], second.x[0]) == (0.1, 0.2)
    assert np.allclose([first.y[0], second.y[0]], [0.7, 0.4])


def test_words_name_the_chosen_rates_and_an_edge() -> None:
    words = fl.plots.describe(fl.plots.rates({"FedAvg": {0.1: [0.5], 0.2: [0.7], 0.4: [0.6]}}))
    assert "FedAvg 70.0% at η = 0.2." in words
    alone = fl.plots.describe(fl.plots.rates({"FedAvg": {0.1: [0.5]}}))
    assert "FedAvg 50.0% at η = 0.1." in alone  # a single rate has no edge
    assert "SCAFFOLD 90.0% at η = 0.4 at the edge of its rates" in fl.plots.describe(
        fl.plots.rates(CURVES)
    )


@pytest.mark.parametrize(
    ("accuracies", "chosen", "words"),
    [
        ({}, None, "must name a method"),
        ({"FedAvg": {}}, None, "have a rate for every method"),
        ({"FedAvg": {0.0: [0.5]}}, None, "rate"),
        ({"FedAvg": {0.1: [50.0]}}, None, "from 0 to 1"),
        ({"FedAvg": {0.1: [float("nan")]}}, None, "from 0 to 1"),
        ({"FedAvg": {0.1: []}}, None, "from 0 to 1"),
        ({"FedAvg": {0.1: [0.5]}}, {"FedAvg": 0.2}, "was not run; the rates are 0.1"),
        ({"FedAvg": {0.1: [0.5]}}, {"FedProx": 0.1}, "FedProx"),
    ],
)
def test_what_cannot_be_drawn_is_refused(accuracies, chosen, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        fl.plots.rates(accuracies, chosen)
