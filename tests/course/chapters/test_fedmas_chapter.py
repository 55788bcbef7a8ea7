"""Chapter 5: best rates, and tiers taken apart."""

import numpy as np
import pytest

from fedlab_course.chapters.ch05_fedmas import turns


def test_the_table_has_a_row_for_each_method_that_was_judged() -> None:
    table = turns.rated()
    assert [name.split(",")[0] for name in table.index] == list(turns.RATED)
    assert table.loc["FedAvg", "updates"] == "50"


def test_the_share_of_the_lead_is_a_ratio_of_paired_means() -> None:
    """At η = 0.01 the stored leads are 0.267 of 0.267 + 0.129, from 05-small and 05-tiers-small."""
    table = turns.shares()
    assert table.loc["mean accuracy", "η = 0.01"] == f"{0.267 / 0.396:.0%}"


def test_taken_apart_each_row_has_its_mean_and_each_arrow_its_difference() -> None:
    figure = turns.apart({0: 0.7, 1: 0.8})
    rows = {row[0]: row for row in figure.layout.meta["table"]["rows"]}
    assert list(rows) == list(turns.ROWS)
    assert rows[turns.YOURS][2] == "75.0%"
    assert rows["FedAvg, 2 clients"][-1] == 10
    words = [note.text for note in figure.layout.annotations if note.text]
    assert words == [
        "<b>updates: +27 points</b>",
        "<b>time: +17 points</b>",
        "<b>likeness: +5 points</b>",
    ]  # as the stored statements 05-small, 05-pairs-apart and 05-orders say
    names = [trace.name for trace in figure.data if trace.showlegend]
    assert names == ["FedAvg: random clients", "two unlike clients", "two like clients"]
    arrow = next(note for note in figure.layout.annotations if note.showarrow is not False)
    assert arrow.x - arrow.ax == pytest.approx(0.27, abs=0.02)
    assert np.isfinite([trace.x[0] for trace in figure.data]).all()
