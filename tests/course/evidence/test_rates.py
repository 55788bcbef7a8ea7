"""The stored picture of learning rates: what it reads, and what its figure shows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fedlab_core.plots.style import describe
from fedlab_course.evidence import rates, tables

CHOOSING = """partition,epochs,method,seed,lr,end_accuracy,accuracy_at_bytes
two_labels,5,FedAvg,101,0.1,0.70,0.6
two_labels,5,FedAvg,100,0.1,0.90,0.6
two_labels,5,FedAvg,100,0.4,0.50,0.6
two_labels,5,FedAvg,101,0.4,0.60,0.6
two_labels,1,FedAvg,100,0.1,0.10,0.6
two_labels,5,FedProx 1,100,0.1,0.91,0.6
two_labels,5,FedProx 1,101,0.1,0.70,0.6
two_labels,5,FedProx 1,100,0.4,0.80,0.6
two_labels,5,FedProx 1,101,0.4,0.90,0.6
"""
JUDGED = """partition,epochs,method,best_by,seed,lr,end_accuracy,accuracy_at_bytes
two_labels,5,FedAvg,rounds,201,0.1,0.80,0.5
two_labels,5,FedAvg,rounds,200,0.1,0.90,0.6
two_labels,5,FedAvg,bytes,200,0.4,0.10,0.7
two_labels,5,FedProx 1,rounds,200,0.4,0.95,0.6
two_labels,5,FedProx 1,rounds,201,0.4,0.70,0.9
"""
METHODS = {"FedAvg": "FedAvg", "FedProx μ = 1": "FedProx 1"}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rates_digits.csv").write_text(CHOOSING, encoding="utf-8")
    (tmp_path / "rated_digits.csv").write_text(JUDGED, encoding="utf-8")
    matching = tables.matching
    monkeypatch.setattr(tables, "matching", lambda name, where: matching(name, where, tmp_path))


def test_a_curve_has_the_seeds_of_every_rate_in_their_order(small: None) -> None:
    found = rates.curve("two_labels", "FedAvg")
    assert {rate: values.tolist() for rate, values in found.items()} == {
        0.1: [0.9, 0.7],
        0.4: [0.5, 0.6],
    }


def test_a_lead_is_paired_by_seed_and_each_method_has_its_own_rate(small: None) -> None:
    assert rates.best_rate("two_labels", "FedAvg") == 0.1
    assert rates.best_rate("two_labels", "FedAvg", "bytes") == 0.4
    assert rates.best_rate("two_labels", "FedProx 1") == 0.4
    (ends,) = rates.leads("two_labels", {"μ = 1": "FedProx 1"}).values()
    assert ends == pytest.approx([0.05, -0.1])
    (bytes,) = rates.leads(
        "two_labels", {"μ = 1": "FedProx 1"}, measure="accuracy_at_bytes"
    ).values()
    assert bytes == pytest.approx([0.0, 0.4])


def test_the_figure_has_all_seeds_as_dots_and_marks_differences_beyond_its_axis(
    small: None,
) -> None:
    figure = rates.by_rate("two_labels", METHODS, title="Two labels")
    named = {trace.name: trace for trace in figure.data}
    assert not [name for name in named if "spread" in name], "dots take the place of the band"
    assert sorted(named["FedAvg, one seed each"].y) == pytest.approx([0.5, 0.6, 0.7, 0.9])
    dots = named["FedProx μ = 1, difference, one seed each"]
    assert list(dots.customdata) == pytest.approx([1.0, 0.0, 30.0, 30.0])
    assert list(dots.y) == pytest.approx([1.0, 0.0, 10.0, 10.0])
    assert list(dots.marker.symbol) == ["circle-open"] * 2 + ["triangle-up"] * 2
    assert named["FedProx μ = 1, difference"].customdata == pytest.approx([0.5, 30.0])
    band = next(shape for shape in figure.layout.shapes if shape.fillcolor)
    assert (band.y0, band.y1) == (-1.0, 1.0)
    assert "FedAvg is best at η = 0.1 with 80.0%" in describe(figure)
    assert "FedProx μ = 1 is best at η = 0.4 with 85.0%" in describe(figure)


def test_a_method_alone_has_no_second_panel(small: None) -> None:
    figure = rates.by_rate("two_labels", {"FedAvg": "FedAvg"}, title="Alone")
    assert {trace.yaxis for trace in figure.data} <= {None, "y"}
    assert not figure.layout.shapes


def test_a_setting_that_is_not_stored_is_refused(small: None) -> None:
    with pytest.raises(ValueError, match="no row"):
        rates.curve("one_label", "FedAvg")


def test_the_rate_that_judges_is_the_best_on_validation_samples() -> None:
    """For every method of chapters 2 and 3, in every split."""
    for split in rates.SPLITS.values():
        for method in ("FedAvg", "FedProx 0.1", "FedProx 1", "SCAFFOLD", "SCAFFOLD cohort"):
            rate, _ = rates.top(rates.curve(split, method))
            assert rates.best_rate(split, method) == rate


def test_both_tables_have_seeds_of_their_own() -> None:
    choosing, judging = (
        set(pd.read_csv(tables.TABLES / f"{name}.csv")["seed"])
        for name in ("rates_digits", "rated_digits")
    )
    assert choosing == {100, 101, 102}
    assert judging == set(np.arange(200, 220))
