"""The figure of resting points."""

from fedlab_core.plots import describe
from fedlab_course import figures


def test_curves_the_optimum_and_points_are_drawn_and_told() -> None:
    lines = {"FedAvg": ([1, 10], [0.5, 0.6]), "FedProx μ=1": ([1, 10], [0.55, 0.7])}
    figure = figures.resting_points(lines, optimum=0.75, x_title="μ", points={"simulation": ([10], [0.6])}, log_x=True)
    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name) == ["FedAvg", "FedProx μ=1", "simulation", "optimum"]
    assert list(by_name["optimum"].x) == [1, 10] and list(by_name["optimum"].y) == [0.75, 0.75]
    assert by_name["simulation"].mode == "markers" and figure.layout.xaxis.type == "log"
    assert by_name["FedAvg"].line.color != by_name["FedProx μ=1"].line.color
    text = describe(figure)
    assert "the optimum is 0.75" in text and "from 0.5500 at 1 to 0.7000 at 10" in text


def test_a_long_curve_has_a_short_table_with_both_ends() -> None:
    line = (list(range(200)), [x / 200 for x in range(200)])
    rows = figures.resting_points({"formula": line}, optimum=0, x_title="μ").layout.meta["table"]["rows"]
    assert len(rows) <= 14 and rows[0][1] == "0" and rows[-1][1] == "199"
