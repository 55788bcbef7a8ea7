"""Explorer over stored runs: accuracy against megabytes, by how much is sent and how long a client works."""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.plots.style import BLUE, GREY, VERMILLION, new_figure, set_description
from fedlab_course.evidence import tables
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

TABLE, TARGET, _LIMIT = "c14_compressed_curves", 0.8, 9.0
_KEPT, _EPOCHS = (0.01, 0.1, 1.0), (1, 5, 20)
_MOST = 80.0  # megabytes on the axis


def budget() -> Idea:
    """Test accuracy against what was sent, for stored runs on the digits, Dirichlet 0.3, mean over ten seeds.

    Sliders ``keep``, the share of the entries that a client sends, and ``epochs`` E. The goal: 80 % for at most 9 MB,
    up and down.
    """
    sliders = {
        "keep": slider("share of entries sent", _KEPT, 1.0, "1 is FedAvg; less has error feedback", moving=False),
        "epochs": slider("E", _EPOCHS, 5, "Local epochs", moving=False),
    }
    text = f"reach {TARGET:.0%} mean test accuracy with at most {_LIMIT:g} MB, up and down"
    return Idea(_figure, sliders, goal=Goal(text, lambda keep, epochs: spent(keep, epochs) <= _LIMIT))


def spent(keep: float, epochs: int, what: str = "megabytes") -> float:
    """What has been sent when the mean curve first reaches 80 %: ``what`` "megabytes" in all, or "up"; inf if never."""
    curve = _curve(keep, epochs)
    reached = curve[curve.test_accuracy_mean >= TARGET]
    return float(reached[what].iloc[0]) if len(reached) else float("inf")


def _curve(keep: float, epochs: int) -> Any:
    wanted = {"partition": "dirichlet", "epochs": epochs, "method": "FedAvg" if keep == 1 else f"keep {keep:g}"}
    return tables.matching(TABLE, wanted).sort_values("round")


def _figure(keep: float, epochs: int) -> go.Figure:
    figure = new_figure(title=None, x_title="megabytes sent, up and down", y_title="test accuracy")
    figure.add_hline(y=TARGET, line={"color": GREY, "width": 1.5, "dash": "dot"})
    rows = []
    for name, one, colour, dash in (
        ("FedAvg, E = 5", (1.0, 5), GREY, "9px,3px"),
        (f"here: {keep:.0%} of the entries, E = {epochs}", (keep, epochs), VERMILLION, "solid"),
    ):
        curve = _curve(*one)
        line = {"color": colour, "dash": dash, "width": 2.5}
        figure.add_scatter(x=curve.megabytes, y=curve.test_accuracy_mean, name=name, mode="lines", line=line)
        both = [spent(*one, what) for what in ("megabytes", "up")]
        rows.append([name, *(f"{size:.2f}" if size < float("inf") else "more than were run" for size in both)])
    here = spent(keep, epochs)
    if here < _MOST:
        mark = {"color": BLUE, "symbol": "diamond", "size": 12}
        figure.add_scatter(x=[here], y=[TARGET], name=f"80 % after {here:.1f} MB", mode="markers", marker=mark)
    figure.update_xaxes(range=[0, _MOST])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    text = (
        f"Stored curves, mean over seeds: accuracy against megabytes. With {keep:.0%} of the entries and E = {epochs}, "
        f"80 % takes {rows[1][1]} MB, {rows[1][2]} of them up; FedAvg with E = 5 takes {rows[0][1]}."
    )
    set_description(figure, text, ["curve", "MB to 80 %", "of them up"], rows)
    return figure
