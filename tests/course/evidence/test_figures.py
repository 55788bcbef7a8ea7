"""Figures drawn from stored tables, with tables that the tests write."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fedlab_core import plots
from fedlab_course.evidence import figures, forest, judging
from fedlab_course.evidence.charts import StoredChart
from fedlab_course.evidence.configs import Claim, Statement
from fedlab_course.evidence.judging import judge

CHART = StoredChart(
    title="Title",
    table="t",
    measure="test_accuracy",
    lines={
        "FedAvg": {"algorithm": "fedavg"},
        "FedProx μ = 0.1": {"algorithm": "fedprox", "mu": 0.1},
    },
    panels={"few": {"labels": 1}, "many": {"labels": 5}},
    illustration={"FedAvg": ("FedAvg", [0, 10], [0.1, 0.7])},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Curves of FedAvg and FedProx at two μ, at one and five labels: the mean is labels / 10 +
    round / 100.
    """
    rows = [
        (algorithm, mu, labels, r, labels / 10 + r / 100, 0.02, 2 - r / 10, 0.1, 5)
        for algorithm, mu in (("fedavg", None), ("fedprox", 0.1), ("fedprox", 1.0))
        for labels in (1, 5)
        for r in (1, 5, 10)
    ]
    columns = ["algorithm", "mu", "labels", "round", "test_accuracy_mean", "test_accuracy_std"]
    frame = pd.DataFrame(rows, columns=[*columns, "train_loss_mean", "train_loss_std", "n"])
    frame.to_csv(tmp_path / "t_curves.csv", index=False)
    return tmp_path


def test_a_panel_holds_the_mean_of_each_line_and_its_band(folder: Path) -> None:
    figure = figures.chart(CHART, folder)
    curves = {
        (trace.name, trace.yaxis): trace for trace in figure.data if trace.mode == "lines+markers"
    }
    assert {*curves} == {(line, axis) for line in CHART.lines for axis in ("y", "y2")}
    np.testing.assert_allclose(curves["FedAvg", "y2"].y, [0.51, 0.55, 0.6])
    spread = [trace for trace in figure.data if trace.fill == "toself" and trace.yaxis == "y2"]
    error = 2 * 0.02 / 5**0.5  # two standard errors of five seeds
    upper = [0.51 + error, 0.55 + error, 0.6 + error]
    lower = [0.6 - error, 0.55 - error, 0.51 - error]
    np.testing.assert_allclose(spread[0].y, upper + lower)
    assert sum(bool(trace.showlegend) for trace in curves.values()) == 2  # each name once
    dotted = [trace for trace in figure.data if "illustration" in (trace.name or "")]
    assert [(list(trace.x), list(trace.y)) for trace in dotted] == [([0, 10], [0.1, 0.7])]
    assert dotted[0].line.color == curves["FedAvg", "y"].line.color
    assert "few, FedAvg 0.2 ± 0.018" in plots.describe(figure)
    assert figure.layout.meta["table"]["rows"][-1] == [
        "many, FedProx μ = 0.1",
        10,
        "0.6",
        "0.018",
        "0.02",
        5,
    ]


def test_a_line_may_be_from_another_table(folder: Path) -> None:
    frame = pd.DataFrame({"algorithm": ["fedsso"], "round": [1], "test_accuracy_mean": [0.25]})
    frame.assign(test_accuracy_std=0.01, n=3).to_csv(folder / "u_curves.csv", index=False)
    lines = {
        "FedAvg": {"algorithm": "fedavg", "labels": 1},
        "FedSSO": {"table": "u", "algorithm": "fedsso"},
    }
    chart = StoredChart("Title", "t", "test_accuracy", lines)
    drawn = {
        trace.name: list(trace.y) for trace in figures.chart(chart, folder).data if trace.showlegend
    }
    assert drawn["FedSSO"] == [0.25]
    with pytest.raises(ValueError, match=r"'v_curves': has not been measured; there are t_curves"):
        figures.chart(StoredChart("Title", "v", "test_accuracy", CHART.lines), folder)
    with pytest.raises(ValueError, match="has no row with"):
        figures.chart(StoredChart("Title", "t", "test_accuracy", {"FedAvg": {"labels": 3}}), folder)


def test_every_figure_of_the_stored_tables_is_drawn_and_described() -> None:
    with pytest.raises(ValueError, match="figure='002-4-digit': must be one of"):
        figures.draw("002-4-digit")
    for name, title in figures.TITLES.items():
        figure = figures.draw(name)
        assert figure.layout.title.text == title and len(title) <= 45
        assert len(plots.describe(figure)) > 60 and figure.layout.meta["table"]["rows"]


def judged(id: str, values: list[float], margin: float = 0.1) -> judging.JudgedStatement:
    statement = Statement(id=id, says="It is so.", measure="end_accuracy", margin=margin, plus=[{}])
    claim = Claim(
        id=id[:3],
        statements=[statement],
        source="",
        claim="Claim",
        expected="",
        setting="",
        ours="",
    )
    return judging.JudgedStatement(
        claim, statement, judge(id, values, margin, expect="positive", planned=3), 4
    )


def test_a_verdict_is_where_its_mean_in_margins_is() -> None:
    rows = {
        "x-1a": [0.9, 0.9, 0.9],
        "x-1b": [-0.9, -0.9, -0.9],
        "x-2a": [0.0, 1.0, -1.0],
        "x-2b": [],
    }
    figure = forest.forest({id: judged(id, values) for id, values in rows.items()}, title="All")
    found = {
        row[0]: (trace.name, x)
        for trace in figure.data
        if trace.customdata is not None
        for row, x in zip(trace.customdata, trace.x, strict=True)
    }
    assert {id: name for id, (name, _) in found.items()} == {
        "x-1a": "holds",
        "x-1b": "opposite",
        "x-2a": "undecided",
    }
    nine = math.log(1 + 9) / math.log(1 + 400)  # margins; the axis ends at 400
    assert found["x-1a"][1] == pytest.approx(nine)
    assert found["x-1b"][1] == pytest.approx(-nine)
    assert found["x-2a"][1] == pytest.approx(0.0)
    assert list(figure.layout.yaxis.ticktext) == ["x-1a", "x-1b", "x-2a"]
    assert "3 statements with runs, of 4 examined" in plots.describe(figure)


def test_without_a_margin_a_mean_is_at_the_edge() -> None:
    figure = forest.forest({"x-1a": judged("x-1a", [0.2, 0.2, 0.2], margin=0.0)}, title="All")
    assert figure.data[0].x[0] == pytest.approx(max(figure.layout.xaxis.tickvals))
    assert figure.layout.xaxis.ticktext[-1] == "δ = 0"
