"""Chapter 8: FedDyn, its halves and their rivals, each at its best rate."""

import pytest

import fedlab_core as fl
from fedlab_core.compare import t_interval
from fedlab_course.chapters.ch08_your_own_algorithm import figures
from fedlab_course.evidence import best_rates, judging
from tests.course.check.from_notebook import text_of

SERVERS_HALF = "FedDyn server's half"  # in the tables of best rates
CLIENTS_HALF = "FedDyn clients' half"


@pytest.fixture(scope="module")
def text() -> str:
    """The Markdown of the chapter."""
    return text_of("08_your_own_algorithm.ipynb")


def test_the_leads_at_fair_rates_are_what_the_text_says(text: str) -> None:
    rows = figures.tuned().layout.meta["table"]["rows"]
    assert [row[1:] for row in rows] == [
        ["+2.0", "+1.7", "+2.3", 20],
        ["+0.34", "+0.02", "+0.66", 20],
        ["+0.6", "+0.4", "+0.8", 20],
        ["+2.4", "+2.1", "+2.7", 20],
        ["+1.5", "+1.2", "+1.7", 20],
        ["-0.4", "-0.6", "-0.2", 20],
        ["+1.8", "+1.3", "+2.4", 20],
        ["+4.2", "+3.7", "+4.7", 20],
    ]
    assert "2.0 points [1.7, 2.3]" in text
    assert "is equivalent to FedDyn**: FedDyn ends 0.34 points above it [0.02, 0.66]." in text
    assert (
        "With one label a client they are not equivalent: FedDyn is 1.8 points ahead [1.3, 2.4]."
        in text
    )
    assert [row[0] for row in rows] == [
        "FedDyn − FedAvg",
        "FedDyn − FedAvgM",
        "FedDyn − server's half",
        "FedDyn − clients' half",
        "server's half − FedAvg",
        "clients' half − FedAvg",
        "one label a client: FedDyn − FedAvgM",
        "not fair: FedDyn − FedAvg, both at η = 0.05",
    ]


def test_the_best_rates_are_what_the_text_says(text: str) -> None:
    methods = ("FedAvg", CLIENTS_HALF, SERVERS_HALF, "FedDyn", "FedAvgM")
    best = [f"{best_rates.best_rate('two_labels', method):.2g}" for method in methods]
    assert best == ["0.57", "0.57", "0.4", "0.28", "0.28"]
    assert (
        "0.57 for FedAvg and the clients' half, 0.4 for the server's half, 0.28 for FedDyn and for "
        "FedAvgM" in text
    )


def test_the_halves_at_fair_rates_are_what_the_text_says(text: str) -> None:
    assert "The server's half alone leads by 1.5 [1.2, 1.7]" in text
    below = t_interval(-100 * best_rates.ahead("two_labels", CLIENTS_HALF))
    words = f"{below.mean:.1f} below FedAvg [{below.low:.1f}, {below.high:.1f}], within δ."
    assert f"the clients' half alone ends {words}" in text
    assert "FedDyn leads FedAvg by two points, not four." in text
    lead = best_rates.ahead("two_labels", "FedDyn", SERVERS_HALF)
    verdict = judging.judge("half", lead, 0.01, expect="positive", planned=20).verdict
    assert verdict == "equivalent"


def test_the_best_rates_of_the_halves_are_inside_the_grid() -> None:
    for method in (SERVERS_HALF, CLIENTS_HALF):
        rates = sorted(best_rates.curve("two_labels", method))
        assert len(rates) == 17
        assert rates[0] < best_rates.best_rate("two_labels", method) < rates[-1]


def test_the_settings_that_were_tried_are_what_the_text_says(text: str) -> None:
    """34 settings of FedDyn and of its clients' half, and 17 of the others."""
    for method, mu in (("FedDyn", 0.1), (CLIENTS_HALF, 0.01)):
        assert best_rates.parameters("two_labels", method) == [0.01, 0.1]
        assert best_rates.judged_runs("two_labels", method)["parameter"].unique().tolist() == [mu]
    settings = [
        len(best_rates._means("two_labels", method, "rounds"))
        for method in ("FedDyn", CLIENTS_HALF, SERVERS_HALF, "FedAvg", "FedAvgM")
    ]
    assert settings == [34, 34, 17, 17, 17]
    assert fl.algorithms.FedAvgM().beta == 0.9
    assert "Of μ = 0.01 and 0.1 FedDyn chose 0.1, its clients' half 0.01." in text
    assert "FedAvgM tried one β, 0.9." in text
