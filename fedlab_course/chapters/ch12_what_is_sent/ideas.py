"""Explorer over stored runs: accuracy against megabytes, by how much is sent and how long a client
works.
"""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import tables
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of

_ = translator(__name__)
TABLE = "compressed_curves"
TARGET = 0.8
_LIMIT = 9.0
_KEPT = (0.01, 0.1, 1.0)
_MOST = 80.0  # megabytes on the axis
# Four settings that are always drawn: colour, dash, words, and how far from its crossing of 80 %
# these are written, in pixels.
_ALWAYS: dict[tuple[float, int], tuple[str, str, str, tuple[int, int]]] = {
    (1.0, 20): (GROUPS[3], "1.5px,4px", _("E = 20, all entries"), (-18, -46)),
    (0.1, 5): (GROUPS[0], "5px,2px,1px,2px", _("E = 5, a tenth"), (38, 82)),
    (0.01, 5): (GROUPS[2], "5px,3px", _("E = 5, a hundredth"), (60, 118)),
    (1.0, 5): (GREY, "9px,3px", _("E = 5, all entries"), (96, 62)),
}


def budget() -> Idea:
    """Test accuracy against what was sent, for stored runs on the digits, Dirichlet 0.3, mean over
    all stored seeds.

    Sliders ``keep``, the share of the entries that a client sends, and ``epochs`` E. The goal: 80 %
    for at most 9 MB, up and down.
    """
    sliders = {
        "keep": slider(
            _("share of entries sent"),
            _KEPT,
            1.0,
            _("1 is FedAvg; less has error feedback"),
            moving=False,
        ),
        "epochs": slider_of("local_epochs", "compressed", moving=False),
    }
    text = _("reach {target:.0%} mean test accuracy with at most {limit:g} MB, up and down")
    text = text.format(target=TARGET, limit=_LIMIT)
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
    return f"{megabytes:.1f}" if megabytes < float("inf") else _("more than were run")


def _curve(keep: float, epochs: int) -> Any:
    wanted = {
        "partition": "dirichlet",
        "epochs": epochs,
        "method": "FedAvg" if keep == 1 else f"keep {keep:g}",
    }
    return tables.matching(TABLE, wanted).sort_values("round")


def _figure(keep: float, epochs: int) -> go.Figure:
    title = _("Dirichlet 0.3, η = 0.05, mean of 40 seeds")
    axes: dict[str, Any] = {
        "x_title": _("megabytes sent, up and down"),
        "y_title": _("test accuracy"),
    }
    figure = new_figure(title=title, **axes, legend=False)
    figure.add_hline(y=TARGET, line={"color": GREY, "width": 1.5, "dash": "dot"})
    rows = []
    for position, (colour, dash, words, (across, down)) in _ALWAYS.items():
        _add_curve(figure, position, {"color": colour, "dash": dash, "width": 2})
        rows.append(_row(position))
        note = {"text": words, "font": {"color": colour}, "arrowcolor": colour, "arrowwidth": 1}
        place: dict[str, Any] = {"x": spent(*position), "y": TARGET, "ax": across, "ay": down}
        figure.add_annotation(**place, **note, standoff=6)
    here = (keep, epochs)
    _add_curve(figure, here, {"color": INK, "width": 3})
    if here not in _ALWAYS:
        rows.append(_row(here))
    name, both, _up = _row(here)
    after = _("{name}: 80 % after {megabytes} MB").format(name=name, megabytes=both)
    chosen = {"text": after, "font": {"color": INK}}
    figure.add_annotation(x=0.98, y=0.05, xref="paper", yref="paper", showarrow=False, **chosen)
    figure.update_xaxes(range=[0, _MOST])
    figure.update_yaxes(tickformat=".0%", range=[0, 1])
    each = _("{name}: 80 % after {megabytes} MB, {up} of them up")
    told = "; ".join(each.format(name=one, megabytes=mb, up=up) for one, mb, up in rows)
    text = _(
        "{name}, chosen. Stored curves, mean over 40 seeds: accuracy against megabytes. {told}."
    ).format(name=name, told=told)
    set_description(figure, text, [_("curve"), _("MB to 80 %"), _("of them up")], rows)
    return figure


def _row(position: tuple[float, int]) -> list[str]:
    """The name of a setting, its megabytes up to 80 % and those of them that go up."""
    keep, epochs = position
    both = [_in_words(spent(keep, epochs, unit)) for unit in ("megabytes", "up")]
    return [_("{share}, E = {epochs}").format(share=_words(keep), epochs=epochs), *both]


def _add_curve(figure: go.Figure, position: tuple[float, int], line: dict[str, Any]) -> None:
    """Add a mean curve, and a mark where it first reaches 80 %, if that is on the axis."""
    curve = _curve(*position)
    x, y = curve.megabytes, curve.test_accuracy_mean
    figure.add_scatter(x=x, y=y, name=_row(position)[0], mode="lines", line=line)
    megabytes = spent(*position)
    if megabytes < _MOST:
        mark = {"color": line["color"], "symbol": "diamond", "size": 4 + 3 * line["width"]}
        figure.add_scatter(x=[megabytes], y=[TARGET], mode="markers", marker=mark)


def _words(keep: float) -> str:
    return {0.01: _("a hundredth"), 0.1: _("a tenth"), 1.0: _("all entries")}[keep]
