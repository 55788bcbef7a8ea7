"""The stored picture of learning rates: what it reads, and what its figure shows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fedlab_core.plots.style import describe
from fedlab_course.evidence import best_rates, configs, rate_figures, tables

CHOOSING = """partition,epochs,method,configuration,seed,lr,end_accuracy,accuracy_at_bytes
two_labels,5,FedAvg,0,101,0.1,0.70,0.6
two_labels,5,FedAvg,0,100,0.1,0.90,0.6
two_labels,5,FedAvg,0,100,0.4,0.50,0.7
two_labels,5,FedAvg,0,101,0.4,0.60,0.7
two_labels,1,FedAvg,0,100,0.1,0.10,0.6
two_labels,5,FedProx 1,0,100,0.1,0.91,0.6
two_labels,5,FedProx 1,0,101,0.1,0.70,0.6
two_labels,5,FedProx 1,0,100,0.4,0.80,0.6
two_labels,5,FedProx 1,0,101,0.4,0.90,0.6
"""
JUDGED = """partition,epochs,method,best_by,seed,lr,end_accuracy,accuracy_at_bytes
two_labels,5,FedAvg,rounds,201,0.1,0.80,0.5
two_labels,5,FedAvg,rounds,200,0.1,0.90,0.6
two_labels,5,FedAvg,bytes,200,0.4,0.10,0.7
two_labels,5,FedAvg,bytes,201,0.4,0.10,0.5
two_labels,5,FedProx 1,rounds,200,0.4,0.95,0.6
two_labels,5,FedProx 1,rounds,201,0.4,0.70,0.9
two_labels,5,FedProx 1,bytes,200,0.1,0.10,0.6
"""
METHODS = {"FedAvg": "FedAvg", "FedProx μ = 1": "FedProx 1"}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rates_digits.csv").write_text(CHOOSING, encoding="utf-8")
    (tmp_path / "rated_digits.csv").write_text(JUDGED, encoding="utf-8")
    matching, read, groups = tables.matching, tables.read, tables.groups
    monkeypatch.setattr(tables, "matching", lambda name, where: matching(name, where, tmp_path))
    monkeypatch.setattr(tables, "read", lambda name, folder=tmp_path: read(name, folder))
    monkeypatch.setattr(tables, "groups", lambda name, columns: groups(name, columns, tmp_path))
    monkeypatch.setattr(configs, "seeds", lambda name: (200, 201))


def test_a_curve_has_the_seeds_of_every_rate_in_their_order(small: None) -> None:
    found = best_rates.curve("two_labels", "FedAvg")
    assert {rate: values.tolist() for rate, values in found.items()} == {
        0.1: [0.9, 0.7],
        0.4: [0.5, 0.6],
    }


def test_a_chosen_curve_has_one_configuration(tmp_path: Path, small: None) -> None:
    """The one with the highest mean at any rate, here the second at η = 0.4."""
    more = "two_labels,5,FedProx 1,1,{},{},{},0.6\n"
    rows = [(100, 0.1, 0.2), (101, 0.1, 0.4), (100, 0.4, 0.98), (101, 0.4, 0.96)]
    text = CHOOSING + "".join(more.format(*row) for row in rows)
    (tmp_path / "rates_digits.csv").write_text(text, encoding="utf-8")
    found = best_rates.chosen_curve("two_labels", "FedProx 1")
    assert {rate: values.tolist() for rate, values in found.items()} == {
        0.1: [0.2, 0.4],
        0.4: [0.98, 0.96],
    }


def test_a_lead_is_paired_by_seed_and_each_method_has_its_own_rate(small: None) -> None:
    assert best_rates.best_rate("two_labels", "FedAvg") == 0.1
    assert best_rates.best_rate("two_labels", "FedAvg", "bytes") == 0.4
    assert best_rates.best_rate("two_labels", "FedProx 1") == 0.4
    (ends,) = best_rates.leads("two_labels", {"μ = 1": "FedProx 1"}).values()
    assert ends == pytest.approx([0.05, -0.1])


def test_a_method_counts_only_when_all_seeds_have_judged_it(small: None) -> None:
    assert best_rates.judged("two_labels", "FedAvg", "bytes").tolist() == [0.7, 0.5]
    assert best_rates.judged("two_labels", "FedProx 1", "bytes").empty
    assert best_rates.leads("two_labels", {"μ = 1": "FedProx 1"}, "bytes") == {}
    assert best_rates.judged("two_labels", "no such method").empty


def test_the_figure_has_all_seeds_as_dots_and_marks_differences_beyond_its_axis(
    small: None,
) -> None:
    figure = rate_figures.by_rate("two_labels", METHODS, title="Two labels")
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
    figure = rate_figures.by_rate("two_labels", {"FedAvg": "FedAvg"}, title="Alone")
    assert {trace.yaxis for trace in figure.data} <= {None, "y"}
    assert not figure.layout.shapes


def test_a_setting_that_is_not_stored_is_refused(small: None) -> None:
    with pytest.raises(ValueError, match="no row"):
        best_rates.curve("one_label", "FedAvg")


def test_further_seeds_go_on_from_those_of_the_table_of_all_methods() -> None:
    setting = ["partition", "epochs", "method", "best_by", "seed"]
    further = tables.read("rated_further").drop(columns="seconds").set_index(setting)
    seeds = further.index.get_level_values("seed")
    first = further[seeds < 220]
    rated = tables.read("rated_digits").set_index(setting)
    pd.testing.assert_frame_equal(first, rated.loc[first.index, first.columns])
    assert sorted(set(seeds)) == configs.seeds("rated_further") == list(range(200, 240))
    assert len(further) == 2 * len(first)


def test_the_rate_that_judges_is_the_best_on_validation_samples() -> None:
    """For every method of chapters 2, 3 and 5 without a further choice, in every split."""
    proximal = ("FedProx 0.1", "FedProx 1")
    others = ("SCAFFOLD", "SCAFFOLD cohort", "TFedAvg", "one client an update")
    for split in best_rates.SPLITS.values():
        for method in ("FedAvg", *proximal, *others):
            where = {"partition": split, "epochs": 5, "method": method, "best_by": "rounds"}
            (rate,) = set(tables.matching("rated_digits", where)["lr"])
            assert best_rates.best_rate(split, method) == rate
            assert best_rates.top(best_rates.curve(split, method))[0] == rate


def test_both_tables_have_seeds_of_their_own() -> None:
    choosing, judging = (
        set(pd.read_csv(tables.TABLES / f"{name}.csv")["seed"])
        for name in ("rates_digits", "rated_digits")
    )
    assert choosing == {100, 101, 102}
    assert judging == set(np.arange(200, 220))
