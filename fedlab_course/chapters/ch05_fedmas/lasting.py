"""How long the lead of FedMas lasts: stored runs of fifty rounds."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, add_band, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.evidence import tables
from fedlab_course.explore.figures import add_curve

_ = translator(__name__)

_RETUNED = "FedMas (softmax), η = 0.28"
# name → columns of the table and look: a method has one colour. η = 0.071 and 0.4 are the best of
# TFedAvg and of FedMas for fifty updates, 0.28 the best of both for fifty rounds.
_CURVES: dict[str, tuple[dict[str, Any], Look]] = {
    "TFedAvg, η = 0.28": ({"algorithm": "tfedavg", "lr": 0.2828}, ideas.TIERS),
    _RETUNED: (
        {"algorithm": "fedmas", "lr": 0.2828, "strength": 10.0},
        Look(ideas.OMEGA.colour, "2px,6px", "diamond"),
    ),
    "TFedAvg, η = 0.071": (
        {"algorithm": "tfedavg", "lr": 0.07071},
        Look(ideas.TIERS.colour, "9px,3px", "square"),
    ),
    "FedMas, η = 0.071": (
        {"algorithm": "fedmas", "lr": 0.07071, "strength": 0.1},
        Look(ideas.OMEGA.colour, "9px,3px", "triangle-up"),
    ),
    "FedMas, η = 0.4": (
        {"algorithm": "fedmas", "lr": 0.4, "strength": 0.1},
        Look(ideas.OMEGA.colour, "9px,3px", "x"),
    ),
}
_SHOWN = (4, 10, 20, 50)  # rounds in the table
_STANDARD_ERRORS = 2
_AT_MOST = 9  # marks of a curve


def fifty_rounds() -> go.Figure:
    """Test accuracy over fifty rounds, mean ± two standard errors over the stored seeds; a dotted
    line where TFedAvg has made 50 updates.
    """
    figure = new_figure(
        title=_("Fifty rounds, 20 seeds"),
        x_title=_("communication round"),
        y_title=_("test accuracy"),
        height=480,
        legend=False,
    )
    ends = {}
    rows = []
    for name, (columns, style) in _CURVES.items():
        stored = tables.matching("tiers_lasting_curves", columns).set_index("round").sort_index()
        mean = stored["test_accuracy_mean"]
        error = _STANDARD_ERRORS * stored["test_accuracy_std"] / np.sqrt(stored["n"])
        _add(figure, name, mean, error, style)
        ends[name] = (float(mean.index[-1]), float(mean.iloc[-1]))
        rows.append([name, *(f"{mean[number]:.0%}" for number in _SHOWN)])
    colours = {name: style.colour for name, (_columns, style) in _CURVES.items()}
    comparison_figures.name_ends(figure, ends, colours, 1.04, leader=20)
    where = _fifty_updates()
    figure.add_vline(x=where, line={"color": GREY, "width": 1, "dash": "dot"})
    note: dict[str, Any] = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "xshift": 4}
    words = _("50 updates of TFedAvg")
    figure.add_annotation(x=where, y=0, text=words, font={"color": GREY}, **note)
    figure.update_xaxes(range=[0, 50.5])
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    text = _(
        "Test accuracy over fifty rounds of TFedAvg and FedMas at several settings, mean and two "
        "standard errors over 20 seeds. A dotted line is where TFedAvg has made 50 updates."
    )
    heads = [_("method"), *(_("round {number}").format(number=number) for number in _SHOWN)]
    set_description(figure, text, heads, rows)
    return figure


def _fifty_updates() -> float:
    """The round, with a fraction, in which TFedAvg makes its fiftieth update."""
    runs = tables.matching("tiers_lasting", {"algorithm": "tfedavg", "lr": 0.2828})
    return 50 * 50 / float(runs["server_updates"].mean())


def _add(figure: go.Figure, name: str, mean: Any, error: Any, style: Look) -> None:
    """Add the band and the curve of a method, with marks on some of its points."""
    x = mean.index.to_numpy()
    low, high = (mean - error).to_numpy(), (mean + error).to_numpy()
    add_band(figure, x, low, high, style, group=name, name=name)
    hover = _("{name}, round %{{x}}: %{{y:.1%}}").format(name=name) + "<extra></extra>"
    add_curve(figure, x, mean.to_numpy(), name, style, legendgroup=name, hovertemplate=hover)
    figure.data[-1].update(marker_maxdisplayed=_AT_MOST)
