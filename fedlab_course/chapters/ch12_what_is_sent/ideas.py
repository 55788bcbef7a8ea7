"""Explorer over stored runs: accuracy against megabytes, by how much is sent and how long a client
works.
"""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import tables
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of

TABLE = "compressed_curves"
TARGET = 0.8
_LIMIT = 9.0
_KEPT = (0.01, 0.1, 1.0)
_MOST = 80.0  # megabytes on the axis
_START = (1.0, 5)  # where the sliders begin: all entries, E = 5


def budget() -> Idea:
    """Test accuracy against what was sent, for stored runs on the digits, Dirichlet 0.3, mean over
    all stored seeds.

    Sliders ``keep``, the share of the entries that a client sends, and ``epochs`` E. The goal: 80 %
    for at most 9 MB, up and down.
    """
    sliders = {
        "keep": slider(
            "share of entries sent",
            _KEPT,
            1.0,
            "1 is FedAvg; less has error feedback",
            moving=False,
        ),
        "epochs": slider_of("local_epochs", "compressed", moving=False),
    }
    text = f"reach {TARGET:.0%} mean test accuracy with at most {_LIMIT:g} MB, up and down"
    return Idea(
        _figure, sliders, goal=Goal(text, lambda keep, epochs: spent(keep, epochs) <= _LIMIT)
    )


def spent(keep: float, epochs: int, unit: str = "megabytes") -> float:
    """What has been sent when the mean curve first reaches 80 %: ``unit`` "megabytes" in all, or
    "up"; inf if never.
    """
    curve = _curve(keep, epochs)
    reached = curve[curve.test_accuracy_mean >= TARGET]
    return float(reached[unit].iloc[0]) if len(reached) else float("inf")


def _in_words(megabytes: float) -> str:
    return f"{megabytes:.1f}" if megabytes < float("inf") else "more than were run"


def _curve(keep: float, epochs: int) -> Any:
    wanted = {
        "partition": "dirichlet",
        "epochs": epochs,
        "method": "FedAvg" if keep == 1 else f"keep {keep:g}",
    }
    return tables.matching(TABLE, wanted).sort_values("round")


def _figure(keep: float, epochs: int) -> go.Figure:
    title = "Dirichlet 0.3, η = 0.05, mean of 40 seeds"
    figure = new_figure(
        title=title, x_title="megabytes sent, up and down", y_title="test accuracy", legend=False
    )
    figure.add_hline(y=TARGET, line={"color": GREY, "width": 1.5, "dash": "dot"})
    here = (keep, epochs)
    curves = [("all entries, E = 5", _START, INK, "9px,3px")]
    if here != _START:
        curves.append((f"{_words(keep)}, E = {epochs}", here, GROUPS[2], "solid"))
    rows = []
    for place, (name, position, colour, dash) in enumerate(curves):
        curve = _curve(*position)
        line = {"color": colour, "dash": dash, "width": 2.5}
        figure.add_scatter(
            x=curve.megabytes, y=curve.test_accuracy_mean, name=name, mode="lines", line=line
        )
        rows.append([name, *(_in_words(spent(*position, unit)) for unit in ("megabytes", "up"))])
        _mark(figure, position, colour)
        figure.add_annotation(
            x=0.98,
            y=0.05 + 0.08 * place,
            xref="paper",
            yref="paper",
            text=f"{name}: 80 % after {rows[-1][1]} MB",
            font={"color": colour},
            showarrow=False,
        )
    figure.update_xaxes(range=[0, _MOST])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    told = "; ".join(f"{name}: 80 % after {both} MB, {up} of them up" for name, both, up in rows)
    text = f"Stored curves, mean over 40 seeds: accuracy against megabytes. {told}."
    set_description(figure, text, ["curve", "MB to 80 %", "of them up"], rows)
    return figure


def _mark(figure: go.Figure, position: tuple[float, int], colour: str) -> None:
    """Mark where a mean curve first reaches 80 %, if that is on the axis."""
    megabytes = spent(*position)
    if megabytes < _MOST:
        mark = {"color": colour, "symbol": "diamond", "size": 12}
        figure.add_scatter(x=[megabytes], y=[TARGET], mode="markers", marker=mark)


def _words(keep: float) -> str:
    return {0.01: "a hundredth", 0.1: "a tenth", 1.0: "all entries"}[keep]
