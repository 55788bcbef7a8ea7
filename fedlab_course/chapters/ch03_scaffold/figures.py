"""Figures of chapter 3: accuracy by bytes, the divisor of c, old controls, and a patient."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.compare import price
from fedlab_core.plots.colours import GREY, METHODS
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.evidence import best_rates, tables

TARGET = 0.9
_MEGA = 1e6
_LOW = 0.5  # of the axis of accuracies
_FEW: dict[str, Any] = {"clients_per_round": 2}
_LAST = 99.0  # the last stored round of the curves with two clients
# The rounds that pay for a start from the gradients: 100 models down and 100 gradients up, where a
# round of two clients sends 8 vectors.
LATE = (100 + 100) / 8


def first_at(history: fl.History, x: str, target: float = TARGET) -> float:
    """What a run has spent when it first reaches the ``target``: "rounds", or "bytes"; else NaN."""
    reached = (history.frame["test_accuracy"] >= target).to_numpy()
    spent = price(history, x).to_numpy(dtype=float)
    return float(spent[reached][0]) if reached.any() else float("nan")


def race(histories: Mapping[str, fl.History], x: str, *, title: str) -> go.Figure:
    """Accuracy by round, or by bytes, with a ring where each run first reaches 90 %.

    ``x``: "rounds" or "bytes". By bytes the axis ends where the first run ends.
    """
    unit, axis = (_MEGA, "megabytes") if x == "bytes" else (1.0, "communication round")
    spent = {name: price(one, x).to_numpy(dtype=float) / unit for name, one in histories.items()}
    most = min(float(along[-1]) for along in spent.values())
    figure = new_figure(title=title, x_title=axis, y_title="test accuracy", legend=False)
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
        rows.append([name, "never" if np.isnan(first) else f"{first:.3g}", f"{ends[name][1]:.1%}"])
    first_place = min(float(along[0]) for along in spent.values())
    dots = {"color": GREY, "width": 1, "dash": "dot"}
    comparison_figures.add_level(figure, (first_place, most), TARGET, "90 %", dots)
    words = {"text": "ring: first at 90 %", "font": {"color": GREY, "size": 12}}
    place = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 0.02}
    figure.add_annotation(**words, **place, showarrow=False)
    figure.update_xaxes(range=[first_place, most])
    figure.update_yaxes(range=[_LOW, 1.0], tickformat=".0%")
    colours = {name: style.colour for name, style in styles.items()}
    comparison_figures.name_ends(figure, ends, colours, 1.0 - _LOW)
    phrases = "; ".join(f"{name} at {first}" for name, first, _ in rows)
    text = f"Test accuracy against {axis}. {TARGET:.0%} is first reached by {phrases}."
    end = f"at {most:.3g} {axis}" if x == "bytes" else "at the end"
    set_description(figure, text, ["run", f"{axis} to {TARGET:.0%}", end], rows)
    return figure


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
        name="first at 90 %",
        marker={
            "symbol": "circle-open",
            "size": 15,
            "color": style.colour,
            "line": {"width": 2.5},
        },
        hovertemplate="90 % at %{x:.3~g}<extra></extra>",
    )


def divisors() -> go.Figure:
    """SCAFFOLD with c by 1/|S| less SCAFFOLD with 1/N at the end, a dot for each stored seed.

    Twenty of 100 clients in five splits, each at its best rate; and two of 100 at η = 0.05.
    """
    values = {
        f"20 of 100 clients, {name}": best_rates.ahead(split, "SCAFFOLD cohort", "SCAFFOLD")
        for name, split in best_rates.SPLITS.items()
    }
    values["2 of 100 clients, two labels, η = 0.05"] = _few("cohort") - _few("all")
    return comparison_figures.differences(
        values,
        margin=best_rates.MARGIN,
        title="1/|S| − 1/N: accuracy at the end",
        x_title="points at the end",
    )


def _few(control_update: str) -> pd.Series:
    """End accuracy of SCAFFOLD with two of 100 clients a round, by seed."""
    where = _FEW | {"control_update": control_update}
    return tables.matching("scaffold_control", where).set_index("seed")["end_accuracy"]


def starts() -> go.Figure:
    """Two of 100 clients a round: mean accuracy by round of FedAvg, and of SCAFFOLD from c_k = 0
    and from c_k = ∇F_k(w).

    The last curve is drawn again where its bytes put it: ``LATE`` rounds later.
    """
    curves = tables.matching("scaffold_starts_curves", _FEW)
    zero, gradients = "from cₖ = 0", "from cₖ = ∇Fₖ(w)"
    late = f"{gradients}, by bytes"
    orange = METHODS["scaffold"]
    lines = {
        "FedAvg": ("FedAvg", 0.0, Look(METHODS["fedavg"], "solid", "circle")),
        zero: ("zero", 0.0, Look(orange, "solid", "circle")),
        gradients: ("gradients", 0.0, Look(orange, "dash", "circle")),
        late: ("gradients", LATE, Look(GREY, "dot", "circle")),
    }
    figure = new_figure(
        title="SCAFFOLD with two of 100 clients, η = 0.05",
        x_title="communication round",
        y_title="test accuracy",
        legend=False,
    )
    ends = {}
    rows = []
    for name, (start, shift, style) in lines.items():
        found = curves[curves["algorithm"] == start]
        x = found["round"].to_numpy(dtype=float) + shift
        within = x <= _LAST
        y = found["test_accuracy_mean"].to_numpy()[within]
        _add_run(figure, name, x[within], y, style)
        ends[name] = (float(x[within][-1]), float(y[-1]))
        at_20, at_40 = np.interp([20.0, 40.0], x[within], y)
        rows.append([name, f"{at_20:.0%}", f"{at_40:.0%}", f"{y[-1]:.0%}"])
    figure.update_xaxes(range=[0, _LAST])
    figure.update_yaxes(range=[0, 1.0], tickformat=".0%")
    colours = {name: style.colour for name, (_, _, style) in lines.items()}
    comparison_figures.name_ends(figure, ends, colours, 1.0)
    phrases = "; ".join(f"{name}: {early}, {later}, {end}" for name, early, later, end in rows)
    text = f"Mean test accuracy of 20 seeds by round. In rounds 20, 40 and at the end: {phrases}."
    set_description(figure, text, ["run", "round 20", "round 40", "the end"], rows)
    return figure


def examined(
    fed: fl.FederatedDataset, model: Any, rules: Mapping[str, fl.Algorithm], **work: Any
) -> go.Figure:
    """Train algorithms with controls, and draw ‖c‖ / ‖mean of all c_k‖ after each round.

    ``work``: keywords of :func:`fedlab_core.simulate`.
    """
    figure = new_figure(
        title="Is c the mean of all controls?",
        x_title="communication round",
        y_title="‖c‖ / ‖mean of all cₖ‖",
        height=400,
        legend=False,
    )
    styles = looks({name: name for name in rules})
    ends = {}
    rows = []
    for name, rule in rules.items():
        ratios = control_ratios(fed, model, rule, **work)
        _add_run(figure, name, np.arange(1, len(ratios) + 1), ratios, styles[name])
        figure.data[-1].hovertemplate = "round %{x}: %{y:.3~g}<extra>" + name + "</extra>"
        if len(ratios):
            ends[name] = (float(len(ratios)), float(ratios[-1]))
            rows.append([name, f"{ratios[0]:.3g}", f"{ratios[-1]:.3g}"])
    highest = max((end for _, end in ends.values()), default=1.0)
    figure.update_yaxes(range=[-0.1 * highest, 1.1 * highest])
    colours = {name: style.colour for name, style in styles.items()}
    comparison_figures.name_ends(figure, ends, colours, highest)
    phrases = "; ".join(f"{name}: {last}" for name, _, last in rows)
    text = f"The length of c over that of the mean of all controls. In the last round {phrases}."
    set_description(figure, text, ["algorithm", "round 1", "last round"], rows)
    return figure


def control_ratios(
    fed: fl.FederatedDataset, model: Any, rule: fl.Algorithm, **work: Any
) -> np.ndarray:
    """‖c‖ / ‖mean of all c_k‖ after each round; shorter if the run diverges."""
    ratios = []
    simulation = fl.Simulation(fed, model, rule, **work)
    try:
        for _ in simulation:
            state = simulation.state_dict()["algorithm"]
            ratios.append(float(state["c"].norm() / state["c_clients"].mean(0).norm()))
    except fl.Diverged as stopped:
        print(f"{stopped.algorithm} diverged in round {stopped.round} at η = {stopped.lr:g}.")
    return np.array(ratios)
