"""Figures of chapter 3: accuracy by bytes, the leads at best rates, and a patient."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.compare import Interval, price, t_interval
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, METHODS
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.evidence import best_rates

_ = translator(__name__)
SPLITS = {  # of best_rates → its name
    "two_labels": _("two labels"),
    "one_label": _("one label"),
    "dirichlet_0.1": _("Dirichlet 0.1"),
    "dirichlet_0.3": _("Dirichlet 0.3"),
    "iid": _("IID"),
}
TARGET = 0.9
_MEGA = 1e6
_LOW = 0.5  # of the axis of accuracies
_BYTES = Look(GREY, "solid", "square-open")  # SCAFFOLD for equal bytes, and with 1/N beside 1/|S|


def first_at(history: fl.History, x: str, target: float = TARGET) -> float:
    """What a run has spent when it first reaches the ``target``: "rounds", or "bytes"; else NaN."""
    reached = (history.frame["test_accuracy"] >= target).to_numpy()
    spent = price(history, x).to_numpy(dtype=float)
    return float(spent[reached][0]) if reached.any() else float("nan")


def race(histories: Mapping[str, fl.History], x: str, *, title: str) -> go.Figure:
    """Accuracy by round, or by bytes, with a ring where each run first reaches 90 %.

    ``x``: "rounds" or "bytes". By bytes the axis ends where the first run ends.
    """
    unit, axis = (_MEGA, _("megabytes")) if x == "bytes" else (1.0, _("communication round"))
    spent = {name: price(one, x).to_numpy(dtype=float) / unit for name, one in histories.items()}
    most = min(float(along[-1]) for along in spent.values())
    figure = new_figure(title=title, x_title=axis, y_title=_("test accuracy"), legend=False)
    styles = looks({name: name for name in histories})
    ends = {}
    rows = []
    for name, history in histories.items():
        within = spent[name] <= most
        accuracy = history.frame["test_accuracy"].to_numpy()
        _add_run(figure, name, spent[name][within], accuracy[within], styles[name])
        ends[name] = (float(spent[name][within][-1]), float(accuracy[within][-1]))
        first = first_at(history, x) / unit
        _add_ring(figure, first, most, styles[name])
        rows.append(
            [name, _("never") if np.isnan(first) else f"{first:.3g}", f"{ends[name][1]:.1%}"]
        )
    first_place = min(float(along[0]) for along in spent.values())
    dots = {"color": GREY, "width": 1, "dash": "dot"}
    comparison_figures.add_level(figure, (first_place, most), TARGET, "90 %", dots)
    words = {"text": _("ring: first at 90 %"), "font": {"color": GREY, "size": 12}}
    place = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 0.02}
    figure.add_annotation(**words, **place, showarrow=False)
    figure.update_xaxes(range=[first_place, most])
    figure.update_yaxes(range=[_LOW, 1.0], tickformat=".0%")
    colours = {name: style.colour for name, style in styles.items()}
    comparison_figures.name_ends(figure, ends, colours, 1.0 - _LOW)
    _describe_race(figure, axis, most if x == "bytes" else None, rows)
    return figure


def _describe_race(
    figure: go.Figure, axis: str, most: float | None, rows: Sequence[Sequence[str]]
) -> None:
    """Say where each run first reaches 90 %. ``most``: where an axis of bytes ends."""
    phrases = _("; ").join(
        _("{name} at {place}").format(name=name, place=first) for name, first, _end in rows
    )
    text = _("Test accuracy against {axis}. {target:.0%} is first reached by {phrases}.")
    end = _("at the end") if most is None else _("at {most:.3g} megabytes").format(most=most)
    columns = [_("run"), _("{axis} to {target:.0%}").format(axis=axis, target=TARGET), end]
    text = text.format(axis=axis, target=TARGET, phrases=phrases)
    set_description(figure, text, columns, rows)


def _add_run(figure: go.Figure, name: str, x: np.ndarray, y: np.ndarray, style: Look) -> None:
    figure.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line={"color": style.colour, "dash": style.dash, "width": 2.5},
        hovertemplate="%{x:.3~g}: %{y:.1%}<extra>" + name + "</extra>",
    )


def _add_ring(figure: go.Figure, x: float, most: float, style: Look) -> None:
    """Mark where a run reaches the target, unless it does so beyond the axis."""
    if not x <= most:
        return
    figure.add_scatter(
        x=[x],
        y=[TARGET],
        mode="markers",
        name=_("first at 90 %"),
        marker={
            "symbol": "circle-open",
            "size": 15,
            "color": style.colour,
            "line": {"width": 2.5},
        },
        hovertemplate=_("90 % at %{x:.3~g}") + "<extra></extra>",
    )


def at_best() -> go.Figure:
    """SCAFFOLD less FedAvg in all five splits, after equal rounds and for equal bytes."""
    series = {
        _("equal rounds"): ("SCAFFOLD", "rounds", Look(METHODS["scaffold"], "solid", "circle")),
        _("equal bytes"): ("SCAFFOLD", "bytes", _BYTES),
    }
    return _leads(series, title=_("SCAFFOLD − FedAvg at the end, each at its best rate"))


def divisors(axis: str = "bytes") -> go.Figure:
    """SCAFFOLD less FedAvg, with c by 1/N and by 1/|S|, in all five splits.

    ``axis``: "bytes", for equal bytes, or "rounds", after equal rounds.
    """
    series = {
        "1/N": ("SCAFFOLD", axis, _BYTES),
        "1/|S|": ("SCAFFOLD cohort", axis, Look(METHODS["scaffold"], "solid", "diamond")),
    }
    title = {
        "bytes": _("SCAFFOLD − FedAvg for equal bytes: 20 of 100 clients a round"),
        "rounds": _("SCAFFOLD − FedAvg after equal rounds: 20 of 100 clients a round"),
    }[axis]
    return _leads(series, title=title)


def _leads(series: Mapping[str, tuple[str, str, Look]], *, title: str) -> go.Figure:
    """What methods are ahead of FedAvg in each split: mean and 95 % interval, a mark a series.

    ``series``: name → (method in the tables, axis, look).
    """
    x_title = _("points of accuracy; grey: ±δ")
    figure = new_figure(title=title, x_title=x_title, y_title="", height=520, legend=True)
    comparison_figures.add_band(figure, best_rates.MARGIN)
    rows = []
    for number, (name, (method, axis, look)) in enumerate(series.items()):
        found = {
            split: t_interval(100 * best_rates.ahead(stored, method, axis=axis).to_numpy())
            for stored, split in SPLITS.items()
        }
        places = np.arange(len(found)) + 0.3 * number - 0.15
        _add_intervals(figure, name, places, found, look)
        rows += [
            [split, name, *comparison_figures.in_words(one, 1), one.runs]
            for split, one in found.items()
        ]
    names = list(SPLITS.values())
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=names,
        range=[len(names) - 0.5, -0.5],
        ticks="",
        showgrid=False,
    )
    figure.update_layout(margin_r=150)
    _describe_leads(figure, rows)
    return figure


def _describe_leads(figure: go.Figure, rows: Sequence[Sequence[Any]]) -> None:
    """Say the mean and the interval of each row."""
    words = _("{split}, {name}: {mean}, {low} to {high}")
    phrases = _("; ").join(
        words.format(split=split, name=name, mean=mean, low=low, high=high)
        for split, name, mean, low, high, _seeds in rows
    )
    text = _("Mean of paired differences in points and its 95 % interval. {phrases}.")
    columns = [_("split"), "SCAFFOLD", _("mean"), _("low"), _("high"), _("seeds")]
    set_description(figure, text.format(phrases=phrases), columns, rows)


def _add_intervals(
    figure: go.Figure, name: str, places: np.ndarray, found: Mapping[str, Interval], look: Look
) -> None:
    """Add a mark and a bar for each split, and write their numbers to the right of the plot."""
    figure.add_scatter(
        x=[one.mean for one in found.values()],
        y=places,
        name=name,
        mode="markers",
        marker={
            "symbol": look.marker,
            "size": 11,
            "color": look.colour,
            "line": {"color": look.colour, "width": 2},
        },
        error_x={"array": [one.half_width for one in found.values()], "thickness": 2, "width": 6},
        hovertemplate=_("%{x:+.1f} points") + f"<extra>{name}</extra>",
    )
    for place, one in zip(places, found.values(), strict=True):
        mean, low, high = comparison_figures.in_words(one, 1)
        figure.add_annotation(
            text=f"{mean} [{low}, {high}]",
            font={"color": look.colour, "size": 13},
            showarrow=False,
            xref="paper",
            x=1.01,
            xanchor="left",
            y=place,
        )


def examined(
    fed: fl.FederatedDataset, model: Any, rules: Mapping[str, fl.Algorithm], **work: Any
) -> go.Figure:
    """Train algorithms with controls, and draw ‖c‖ / ‖mean of all c_k‖ after each round.

    ``work``: keywords of :func:`fedlab_core.simulate`.
    """
    figure = new_figure(
        title=_("Is c the mean of all controls?"),
        x_title=_("communication round"),
        y_title=_("‖c‖ / ‖mean of all cₖ‖"),
        height=400,
        legend=False,
    )
    styles = looks({name: name for name in rules})
    ends = {}
    rows = []
    for name, rule in rules.items():
        ratios = control_ratios(fed, model, rule, **work)
        _add_run(figure, name, np.arange(1, len(ratios) + 1), ratios, styles[name])
        words = _("round %{x}: %{y:.3~g}")
        figure.data[-1].hovertemplate = f"{words}<extra>{name}</extra>"
        if len(ratios):
            ends[name] = (float(len(ratios)), float(ratios[-1]))
            rows.append([name, f"{ratios[0]:.3g}", f"{ratios[-1]:.3g}"])
    highest = max((end for _place, end in ends.values()), default=1.0)
    figure.update_yaxes(range=[-0.1 * highest, 1.1 * highest])
    colours = {name: style.colour for name, style in styles.items()}
    comparison_figures.name_ends(figure, ends, colours, highest)
    phrases = _("; ").join(
        _("{name}: {values}").format(name=name, values=last) for name, _first, last in rows
    )
    text = _("The length of c over that of the mean of all controls. In the last round {phrases}.")
    columns = [_("algorithm"), _("round 1"), _("last round")]
    set_description(figure, text.format(phrases=phrases), columns, rows)
    return figure


def control_ratios(
    fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, **work: Any
) -> np.ndarray:
    """‖c‖ / ‖mean of all c_k‖ after each round; shorter if the run diverges."""
    ratios = []
    simulation = fl.Simulation(fed, model, rule, **work)
    try:
        for _record in simulation:
            state = simulation.state_dict()["algorithm"]
            ratios.append(float(state["c"].norm() / state["c_clients"].mean(0).norm()))
    except fl.Diverged as stopped:
        words = _("{name} diverged in round {round} at η = {lr:g}.")
        print(words.format(name=stopped.algorithm, round=stopped.round, lr=stopped.lr))
    return np.array(ratios)
