"""How long the lead of FedMas lasts: stored runs of fifty rounds."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, add_band, known_slot, look, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.chapters.ch05_fedmas import ideas
from fedlab_course.evidence import tables
from fedlab_course.explore.figures import add_curve

_ = translator(__name__)

Curve = tuple[str, str, float, Look]
# name, algorithm in the table, η, look: a method has one colour, and the smaller rate is dashed
_CURVES: tuple[Curve, ...] = (
    (_("tiers, η = 0.28"), "tfedavg", 0.2828, ideas.TIERS),
    (_("tiers, η = 0.071"), "tfedavg", 0.07071, Look(ideas.TIERS.colour, "9px,3px", "square")),
    ("FedAvg, η = 0.57", "fedavg", 0.5657, look(known_slot("FedAvg") or 0)),
    ("FedMas, η = 0.071", "fedmas", 0.07071, Look(ideas.OMEGA.colour, "9px,3px", "triangle-up")),
    ("FedMas, η = 0.4", "fedmas", 0.4, Look(ideas.OMEGA.colour, "solid", "x")),
)
_SHOWN = (4, 10, 20, 50)  # rounds in the table
_STANDARD_ERRORS = 2
_AT_MOST = 9  # marks of a curve


def fifty_rounds() -> go.Figure:
    """Test accuracy over fifty rounds, mean ± two standard errors over the stored seeds; a dotted
    line where tiers have made 50 updates.
    """
    figure = new_figure(
        title=_("Fifty rounds; FedMas with λ = 0.1"),
        x_title=_("communication round"),
        y_title=_("test accuracy"),
        height=480,
        legend=False,
    )
    ends = {}
    rows = []
    for name, algorithm, lr, style in _CURVES:
        stored = tables.matching("tiers_lasting_curves", {"algorithm": algorithm, "lr": lr})
        stored = stored.set_index("round").sort_index()
        mean = stored["test_accuracy_mean"]
        error = _STANDARD_ERRORS * stored["test_accuracy_std"] / np.sqrt(stored["n"])
        _add(figure, name, mean, error, style)
        ends[name] = (float(mean.index[-1]), float(mean.iloc[-1]))
        rows.append([name, *(f"{mean[number]:.0%}" for number in _SHOWN)])
    colours = {name: style.colour for name, _algorithm, _lr, style in _CURVES}
    comparison_figures.name_ends(figure, ends, colours, 1.04)
    where = _fifty_updates()
    figure.add_vline(x=where, line={"color": GREY, "width": 1, "dash": "dot"})
    note: dict[str, Any] = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "xshift": 4}
    figure.add_annotation(x=where, y=0, text=_("50 updates of tiers"), font={"color": GREY}, **note)
    figure.update_xaxes(range=[0, 50.5])
    figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    text = _(
        "Test accuracy over fifty rounds of five methods, mean and two standard errors over 20 "
        "seeds. A dotted line is where tiers have made 50 updates."
    )
    columns = [_("method"), *(_("round {number}").format(number=number) for number in _SHOWN)]
    set_description(figure, text, columns, rows)
    return figure


def _fifty_updates() -> float:
    """The round, with a fraction, in which tiers make their fiftieth update."""
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
