"""Figures that a reader moves: SCAFFOLD's arrows, the scene, and SCAFFOLD at every rate."""

from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import INK, METHODS
from fedlab_core.plots.style import set_description
from fedlab_course.chapters.ch03_scaffold import figures, scaffold_plane
from fedlab_course.evidence import rate_figures
from fedlab_course.explore import quadratics as plane
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import CLIENTS, COLOURS, START, SYMBOLS, Quadratics
from fedlab_course.explore.widgets import named_slider, slider, slider_of

_ = translator(__name__)
STEPS = 5  # of the opening, and where the slider τ of the scene begins
ROUNDS = (0, 1)  # of the opening: later the arrows only shrink
LOWEST = {"one_label": 0.5}  # accuracy at the bottom of the figure over rates
_LOWEST = 0.8  # in other splits
_DEGREES = 10  # of the goal
_SHORT = 0.05  # an arrow that is shorter has no label
_WITH_CURVES = ("two_labels", "one_label", "dirichlet_0.1")
SPLITS = {figures.SPLITS[split]: split for split in _WITH_CURVES}
AXES = {_("equal rounds"): "rounds", _("FedAvg's bytes"): "bytes"}
METHODS_SHOWN = ("FedAvg", "SCAFFOLD")


def corrections() -> Idea:
    """SCAFFOLD's arrows: the local gradient g_k, the correction c − c_k and their sum, each drawn
    with a minus, as a client steps downhill.

    Clients, start and rate are those of :func:`scene_of`, with five local steps. Sliders:
    ``rounds``, how many are done, and ``step``, how many local steps of the next round are done.
    The goal is a place at which both clients step in one direction.
    """
    sliders = {
        "rounds": slider(_("rounds done"), ROUNDS, 1, _("Rounds before this one")),
        "step": slider(_("local steps done"), range(STEPS), 0, _("Local steps of the next round")),
    }
    text = _("find a step at which the two clients walk in one direction, to {degrees}°")
    return Idea(_arrows, sliders, goal=Goal(text.format(degrees=_DEGREES), _side_by_side))


def scene_of(
    scaffold: scaffold_plane.Scaffold, local_update: scaffold_plane.LocalUpdate, new_control: Any
) -> Idea:
    """The reader's SCAFFOLD in the plane, beside FedAvg. Sliders ``tau`` and ``round``.

    ``scaffold``: (w, tau, rounds, gradient, eta) → (w, c, the c_k) before each round and after the
    last. ``local_update`` and ``new_control``: the functions of the exercises.
    """
    sliders = {
        "tau": slider_of("local_steps", value=STEPS),
        "round": slider(_("round"), scaffold_plane.ROUNDS, 1, _("Rounds so far")),
    }
    return Idea(partial(scaffold_plane.draw, scaffold, local_update, new_control), sliders)


def over_rates() -> Idea:
    """End accuracy against η: FedAvg and SCAFFOLD, from 80 % up, or from 50 % with one label.

    Sliders ``split``, and ``axis``: after equal rounds, or for FedAvg's bytes.
    """
    sliders = {
        "split": named_slider(_("split"), SPLITS, "two_labels", _("How the images are dealt")),
        "axis": named_slider(_("compared"), AXES, "rounds", _("What is equal for all")),
    }
    return Idea(_over_rates, sliders)


def divisors() -> Idea:
    """SCAFFOLD less FedAvg in five splits, with c by 1/N and by 1/|S|; slider ``axis``."""
    sliders = {"axis": named_slider(_("compared"), AXES, "bytes", _("What is equal for all"))}
    return Idea(figures.divisors, sliders)


def _over_rates(split: str, axis: str) -> go.Figure:
    equal = _("equal rounds") if axis == "rounds" else _("FedAvg's bytes")
    figure = rate_figures.by_rate(
        split,
        {name: name for name in METHODS_SHOWN},
        title=_("Every rate: {split}, {equal}").format(split=figures.SPLITS[split], equal=equal),
        axis=axis,
        y_title=_("accuracy for {equal}").format(equal=equal),
    )
    rate_figures.zoom(figure, LOWEST.get(split, _LOWEST))
    # beside the ring: above it SCAFFOLD's curve crosses the words
    figure.for_each_annotation(
        lambda note: note.update(ax=110, ay=-12) if note.text.startswith("FedAvg") else None
    )
    return figure


def _side_by_side(rounds: int, step: int) -> bool:
    gradient, offset = _state(rounds, step)[2:]
    return _angle(*(gradient + offset)) <= _DEGREES


def scaffold_rounds(
    clients: Quadratics, start: np.ndarray, rounds: int, steps: int, lr: float
) -> tuple[np.ndarray, np.ndarray]:
    """w [D] and the corrections c − c_k [N, D] after ``rounds`` of SCAFFOLD (option 2) in which all
    take part.
    """
    w = start
    offset = np.zeros_like(clients.b)
    for _round in range(rounds):
        y = clients.walk(w, steps, lr, offset)[-1]
        controls = -offset + (w - y) / (steps * lr)
        w = y.mean(0)
        offset = controls.mean(0) - controls
    return w, offset


def _state(rounds: int, step: int) -> tuple[np.ndarray, ...]:
    """The server's w [D] after ``rounds``, the clients' path from there to the ``step``
    [step + 1, N, D], and at its end their gradients and c − c_k, both [N, D].
    """
    w, offset = scaffold_rounds(CLIENTS, START, rounds, STEPS, scaffold_plane.RATE)
    path = CLIENTS.walk(w, step, scaffold_plane.RATE, offset)
    return w, path, CLIENTS.gradient(path[-1]), offset


def _arrows(rounds: int, step: int) -> go.Figure:
    w, path, gradient, offset = _state(rounds, step)
    vectors = {
        _("local gradient g"): gradient,
        _("correction c − cₖ"): offset,
        _("corrected gradient"): gradient + offset,
    }
    around = np.concatenate([CLIENTS.b, START[None]])
    done = _("1 round") if rounds == 1 else _("{count} rounds").format(count=rounds)
    steps = _("1 local step") if step == 1 else _("{count} local steps").format(count=step)
    title = _("Downhill, after {rounds} and {steps}").format(rounds=done, steps=steps)
    figure = plane.contours(CLIENTS, around, title=title, legend=False)
    figure.update_layout(height=500)
    # All arrows of a picture share one scale, so that the longest is about a third of the picture.
    longest = np.linalg.norm([*vectors.values()], axis=-1).max()
    scale = 0.4 * np.ptp(around, axis=0).max() / longest
    _add_places(figure, path)
    rows = []
    for k, at in enumerate(path[-1]):
        tip = at - scale * gradient[k]
        end = at - scale * (gradient[k] + offset[k])
        _add_arrows(figure, k, at, tip, end)
        plane.mark(figure, at, f"y<sub>{k + 1}</sub>", SYMBOLS[k], COLOURS[k])
        for name, vector in vectors.items():
            rows.append([_("client {k}").format(k=k + 1), name, *plane.pair(vector[k])])
    text = _(
        "Arrows in the plane after {rounds} of SCAFFOLD and {steps} of the next: the clients' own "
        "gradients are {own:.0f}° apart, the corrected ones {corrected:.0f}°. The server is at "
        "({x:.3f}, {y:.3f})."
    ).format(
        rounds=done,
        steps=steps,
        own=_angle(*gradient),
        corrected=_angle(*(gradient + offset)),
        x=w[0],
        y=w[1],
    )
    set_description(figure, text, [_("client"), _("arrow"), "w₁", "w₂"], rows)
    return figure


def _add_places(figure: go.Figure, path: np.ndarray) -> None:
    """Add the minima of both clients, the optimum, and the clients' path [steps + 1, N, D]."""
    for k, (at, colour) in enumerate(zip(CLIENTS.b, COLOURS, strict=True)):
        name = f"b<sub>{k + 1}</sub>"
        words = _("{name}, the minimum of client {k}").format(name=name, k=k + 1)
        plane.mark(figure, at, words, f"{SYMBOLS[k]}-open", colour)
        _label(figure, at, name, colour, yshift=-18)
        line = {"color": colour, "width": 1.5}
        marker = {"color": colour, "symbol": SYMBOLS[k], "size": 6}
        name = _("local steps of client {k}").format(k=k + 1)
        x, y = path[:, k].T
        figure.add_scatter(x=x, y=y, name=name, mode="lines+markers", line=line, marker=marker)
    plane.mark(figure, CLIENTS.optimum, _("optimum of F"), "star", INK)
    _label(figure, CLIENTS.optimum, _("optimum"), INK, yshift=-16)


def _add_arrows(
    figure: go.Figure, k: int, at: np.ndarray, tip: np.ndarray, end: np.ndarray
) -> None:
    """Add the three arrows of client k: its own gradient, its correction and their sum."""
    colour = COLOURS[k]
    number = f"<sub>{k + 1}</sub>"
    own, correction = f"−g{number}", f"−(c − c{number})"
    words = _("{arrow}, the own gradient of client {k}").format(arrow=own, k=k + 1)
    _arrow(figure, at, tip, words, colour, "5px,3px")
    words = _("{arrow}, its correction").format(arrow=correction)
    _arrow(figure, tip, end, words, METHODS["scaffold"], "2px,2px")
    words = _("the step that client {k} takes").format(k=k + 1)
    _arrow(figure, at, end, words, colour, "solid")
    _label(figure, 0.6 * at + 0.4 * tip, own, colour, yshift=12)
    if np.linalg.norm(end - tip) > _SHORT:
        middle = 0.5 * tip + 0.5 * end
        _label(figure, middle, correction, METHODS["scaffold"], xshift=34, yshift=-9)
        _label(figure, end, _("step"), colour, xshift=22 if k else -20)


def _arrow(
    figure: go.Figure, tail: np.ndarray, tip: np.ndarray, name: str, colour: str, dash: str
) -> None:
    x, y = np.stack([tail, tip], axis=1)
    line = {"color": colour, "dash": dash, "width": 3 if dash == "solid" else 2}
    head = {
        "symbol": "arrow",
        "angleref": "previous",
        "size": [0, 14 if np.linalg.norm(tip - tail) > _SHORT else 0],
        "color": colour,
        "opacity": 1,
    }
    figure.add_scatter(x=x, y=y, name=name, mode="lines+markers", line=line, marker=head)


def _label(figure: go.Figure, at: np.ndarray, text: str, colour: str, **shift: int) -> None:
    font = {"color": colour}
    figure.add_annotation(x=at[0], y=at[1], text=text, font=font, showarrow=False, **shift)


def _angle(u: np.ndarray, v: np.ndarray) -> float:
    """Degrees between two vectors."""
    cosine = u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
    return float(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
