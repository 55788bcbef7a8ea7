"""Explorer: where FedAvg stops when the clients of one group are often away, and three remedies."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, GROUPS, INK, METHODS, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures, theory
from fedlab_course.evidence import tables
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_SIZE = 10  # clients in each of the four groups
_FEWEST = 0.02
_PRESENCES = np.linspace(1, _FEWEST, 50)
_READ = (1.0, 0.4, 0.1)
_DELTA = 0.1
_LAST = (1.0, 3.0, 7.0, 14.0)
_OF_STORED = 7.0  # the mean of the last group in the stored runs
_LOOKS = {
    "FedAvg": (INK, "solid", "fedavg"),
    "Hájek": (GROUPS[0], "solid", "hajek"),
    "Horvitz–Thompson": (GROUPS[1], "9px,3px", "horvitz-thompson"),
    "one of each group": (METHODS["fedsso"], "4px,2px", "fedsso, one of each"),
}


def absence() -> Idea:
    """Where methods stop in Example 1 of [004] against the presence of its last group. Slider
    ``last``.

    Four groups of ten clients want 0, 1, 2 and ``last``; those of the last are there with a
    probability, and four clients are drawn. A grey band is within 0.1 of the optimum, and dots are
    the means of stored runs over 40 seeds.
    """
    tip = "The others want 0, 1 and 2"
    return Idea(_figure, {"last": slider("the last group wants", _LAST, _OF_STORED, tip)})


def _figure(last: float) -> go.Figure:
    group = theory.AbsentGroup(_SIZE, (0.0, 1.0, 2.0, last))
    ways: dict[str, Callable[[float], float]] = {
        "FedAvg": group.fedavg,
        "Hájek": group.hajek,
        "Horvitz–Thompson": group.horvitz_thompson,
        "one of each group": group.one_of_each,
    }
    title = f"Four groups want 0, 1, 2 and {last:g}"
    figure = new_figure(
        title=title, x_title="presence of the last group, less →", y_title="stops at", legend=False
    )
    band = {"fillcolor": rgba(GREY, 0.18), "line_width": 0, "layer": "below"}
    figure.add_shape(
        type="rect", x0=1, x1=_FEWEST, y0=group.optimum - _DELTA, y1=group.optimum + _DELTA, **band
    )
    words = {"text": f"within {_DELTA:g} of the optimum", "font": {"color": GREY}}
    place = {"x": 0.98, "xanchor": "left", "y": group.optimum + _DELTA, "yanchor": "bottom"}
    figure.add_annotation(**words, **place, showarrow=False)
    means = _stored_means() if last == _OF_STORED else {}
    rows = []
    for name, stops_at in ways.items():
        _add_way(figure, name, [stops_at(presence) for presence in _PRESENCES], means)
        stored = means.get(_LOOKS[name][-1])
        numbers = [*map(stops_at, _READ), *([] if stored is None else [stored])]
        rows.append([name, *(f"{number:.3f}" for number in numbers)])
    ends = {name: (_FEWEST, stops_at(_FEWEST)) for name, stops_at in ways.items()}
    colours = {name: look[0] for name, look in _LOOKS.items()}
    values = np.concatenate([trace.y for trace in figure.data])
    span = float(np.ptp(values)) + 2 * _DELTA
    figure.update_xaxes(range=[1.02, 0])
    comparison_figures.name_ends(figure, ends, colours, 1.1 * span)
    told = "; ".join(f"{name} {', '.join(numbers)}" for name, *numbers in rows)
    text = (
        f"Where methods stop with presence 1, 0.4 and 0.1 of the last group, and the mean of "
        f"stored runs at 0.4; the optimum is {group.optimum:g}, the band ±{_DELTA:g}. {told}."
    )
    heads = ["way", *(f"presence {at:g}" for at in _READ), "stored, 0.4"]
    set_description(figure, text, heads, rows)
    return figure


def _add_way(figure: go.Figure, name: str, values: list[float], means: dict[str, float]) -> None:
    """Add where a method stops at each presence, and a dot at the mean of its stored runs."""
    colour, dash, row = _LOOKS[name]
    line = {"color": colour, "dash": dash, "width": 3}
    figure.add_scatter(x=_PRESENCES, y=values, name=name, mode="lines", line=line)
    if row in means:
        dot = {"size": 11, "color": colour}
        figure.add_scatter(x=[0.4], y=[means[row]], name=f"{name}, stored", marker=dot)
        figure.data[-1].mode = "markers"


def _stored_means() -> dict[str, float]:
    """Where the stored runs at presence 0.4 end, over their seeds: 2.5 is the optimum."""
    rows = tables.matching("strata_absence", {"presence": 0.4})
    means = 2.5 + rows.groupby("method")["off"].mean()
    return {str(method): float(mean) for method, mean in means.items()}
