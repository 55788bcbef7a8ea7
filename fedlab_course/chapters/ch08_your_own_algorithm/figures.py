"""The figures of chapter 8: paths on two quadratics, the stored halves of FedDyn, and its leads
at fair rates.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.colours import GREY, GROUPS
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course import comparison_figures as comparison
from fedlab_course.check import on_quadratics
from fedlab_course.evidence import best_rates, tables

A = [1.0, 3.0]
B = [0.0, 1.0]
OPTIMUM = 0.75  # Σ a_k b_k / Σ a_k
_ROUNDS = 60
_WORK: dict[str, Any] = {"rounds": _ROUNDS, "local_steps": 10, "lr": 0.05}
_LEAST = -0.2  # beyond it a path is said to run away
_MOST = 2.1
_SEEN = (0.2, 1.25)  # of w on the axis, so that the ends can be told apart
# FedDyn and its server's half nearly coincide: one is solid, the other dashed.
HALVES = {
    "FedDyn": Look(GROUPS[0], "solid", "circle"),
    "server's half": Look(GROUPS[2], "9px,3px", "square"),
    "clients' half": Look(GROUPS[3], "solid", "diamond"),
}
# Mine less FedAvg in test images of 355, for the seeds 0 to 4, by ``compare(Mine(), fl.FedAvg())``
# with the defaults of the chapter. Both have their best rate at η = 0.4, for 12 rounds and for 50.
LEADS = {
    12: (15, 13, 15, 16, 5),
    50: (10, 2, 6, 4, 4),
}
_TEST_IMAGES = 355
# Row of the figure at fair rates → (the method that FedDyn is compared with, the axis).
_RIVALS = {
    "FedDyn − FedAvg, by rounds, each at its best": ("FedAvg", "rounds"),
    "FedDyn − SCAFFOLD, for equal bytes, each at its best": ("SCAFFOLD", "bytes"),
    "FedDyn − SCAFFOLD, by rounds, each at its best": ("SCAFFOLD", "rounds"),
    "FedDyn − FedAvgM, by rounds, each at its best": ("FedAvgM", "rounds"),
}
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
    ends = {"optimum": (float(_ROUNDS), OPTIMUM)}
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
    comparison.add_level(figure, (0.0, float(_ROUNDS)), OPTIMUM, "optimum", dots)
    comparison.name_ends(figure, ends, colours, _SEEN[1] - _SEEN[0])
    figure.update_yaxes(range=list(_SEEN))
    start: dict[str, Any] = {"text": f"↑ start: w = {on_quadratics.START:g}", "showarrow": False}
    corner = {"xref": "paper", "yref": "paper", "xanchor": "right", "yanchor": "top"}
    figure.add_annotation(x=1, y=0.99, **start, **corner)
    phrases = "; ".join(f"{name} at {end}, {gap} from the optimum" for name, end, gap in rows)
    text = (
        f"w round by round on two quadratics with optimum {OPTIMUM}. After {_ROUNDS} rounds: "
        f"{phrases}."
    )
    set_description(
        figure, text, ["algorithm", f"w after {_ROUNDS} rounds", "from the optimum"], rows
    )
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
    values = {name: _less_whole(name) for name in _LESS}
    return comparison.differences(
        values,
        margin=0.01,
        title="Each half minus all of FedDyn, 20 seeds",
        x_title="points minus FedDyn",
    )


def tuned() -> go.Figure:
    """FedDyn less its rivals, a dot for each of 20 seeds: at η = 0.05, and at their best rates."""
    values = {"FedDyn − FedAvg, by rounds, both at η = 0.05": -_less_whole("neither: FedAvg")}
    for name, (rival, axis) in _RIVALS.items():
        feddyn, other = (
            best_rates.judged("two_labels", method, axis) for method in ("FedDyn", rival)
        )
        values[name] = (feddyn - other).to_numpy()
    return comparison.differences(values, margin=0.01, title="FedDyn's leads, 20 seeds each")


def leads() -> go.Figure:
    """The shipped ``Mine`` minus FedAvg after 12 and 50 rounds, and how far the lead falls."""
    early, late = (np.array(images) / _TEST_IMAGES for images in LEADS.values())
    values = {
        "Mine − FedAvg after 12 rounds": early,
        "Mine − FedAvg after 50 rounds": late,
        "the fall, seed by seed": early - late,
    }
    return comparison.differences(values, margin=0.01, title="The lead of the shipped Mine")


def _less_whole(name: str) -> np.ndarray:
    """The stored ends of one row of ``_LESS`` less those of all of FedDyn, seed by seed."""
    return _ends(_LESS[name]) - _ends(_WHOLE)


def _ends(where: dict[str, Any]) -> np.ndarray:
    """The end accuracies of the stored runs, in the order of their seeds."""
    rows = tables.matching("feddyn", where).sort_values("seed")
    found: np.ndarray = rows["end_accuracy"].to_numpy()
    return found
