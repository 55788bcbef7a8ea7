"""The figures of chapter 8: paths on two quadratics, and the stored halves of FedDyn."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.colours import GREY
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures as comparison
from fedlab_course.check import on_quadratics
from fedlab_course.evidence import tables

A = [1.0, 3.0]
B = [0.0, 1.0]
OPTIMUM = 0.75  # Σ a_k b_k / Σ a_k
_WORK: dict[str, Any] = {"rounds": 60, "local_steps": 10, "lr": 0.05}
_LEAST = -0.2
_MOST = 2.1
_WHOLE = {"algorithm": "feddyn", "mu": 0.1}
_LESS: dict[str, dict[str, Any]] = {
    "clients' half": {"algorithm": "feddynclients", "mu": 0.1},
    "server's half": {"algorithm": "feddynserver"},
    "neither: FedAvg": {"algorithm": "fedavg"},
}


def paths(rules: dict[str, fl.Algorithm], *, title: str) -> go.Figure:
    """w after each round, on two clients that pull to 0 and 1; their common optimum is 0.75.

    ``rules``: name → algorithm. A path that leaves the picture is drawn to its edge.
    """
    styles = looks({name: name for name in rules})
    figure = new_figure(title=title, x_title="round", y_title="w", legend=False)
    ends = {"optimum": (60.0, OPTIMUM)}
    colours = {"optimum": GREY}
    rows = []
    for name, rule in rules.items():
        path = on_quadratics.path(_made(rule), [], A, B, _WORK)
        shown = path[: next((i + 1 for i, w in enumerate(path) if not _LEAST < w < _MOST), None)]
        _add_path(figure, name, [on_quadratics.START, *shown], styles[name])
        rows.append([name, f"{path[-1]:.4f}", f"{abs(path[-1] - OPTIMUM):.4f}"])
        if len(shown) == len(path):
            ends[name] = (float(len(path)), path[-1])
            colours[name] = styles[name].colour
        else:
            _note_of_escape(figure, name, len(shown), styles[name])
    dots = {"color": GREY, "width": 2, "dash": "dot"}
    comparison.add_level(figure, (0.0, 60.0), OPTIMUM, "optimum", dots)
    comparison.name_ends(figure, ends, colours, _MOST - _LEAST)
    figure.update_yaxes(range=[_LEAST, _MOST])
    phrases = "; ".join(f"{name} at {end}, {gap} from the optimum" for name, end, gap in rows)
    text = f"w round by round on two quadratics with optimum {OPTIMUM}. After 60 rounds: {phrases}."
    set_description(figure, text, ["algorithm", "w after 60 rounds", "from the optimum"], rows)
    return figure


def _add_path(figure: go.Figure, name: str, values: Sequence[float], style: Look) -> None:
    figure.add_scatter(
        x=list(range(len(values))),
        y=values,
        name=name,
        mode="lines",
        line={"color": style.colour, "dash": style.dash, "width": 3},
        hovertemplate="round %{x}: w = %{y:.4f}<extra>" + name + "</extra>",
    )


def _note_of_escape(figure: go.Figure, name: str, last: int, style: Look) -> None:
    """Say beside a path that it leaves the picture in the round ``last``."""
    words: dict[str, Any] = {"text": f"{name} runs away", "font": {"color": style.colour}}
    place: dict[str, Any] = {"yref": "paper", "xanchor": "left", "xshift": 8, "showarrow": False}
    figure.add_annotation(x=last, y=0.97, **words, **place)


def _made(rule: fl.Algorithm) -> Callable[[], fl.Algorithm]:
    return lambda: rule


def halves() -> go.Figure:
    """The stored halves of FedDyn less the whole, a dot for each of 20 seeds."""
    whole = _ends(_WHOLE)
    values = {name: _ends(where) - whole for name, where in _LESS.items()}
    return comparison.differences(
        values, margin=0.01, title="Less than all of FedDyn, 20 seeds", x_title="points less FedDyn"
    )


def _ends(where: dict[str, Any]) -> np.ndarray:
    """The end accuracies of the stored runs, in the order of their seeds."""
    rows = tables.matching("feddyn", where).sort_values("seed")
    found: np.ndarray = rows["end_accuracy"].to_numpy()
    return found
