"""Two clients drift apart in the plane, step by step: FedAvg, FedProx and SCAFFOLD side by side."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape

import numpy as np

from fedlab_course.ideas.contours import COLOURS, A, B
from fedlab_course.ideas.quadratics import Quadratics
from fedlab_course.shows.show import Show

METHODS = ("FedAvg", "FedProx", "SCAFFOLD")
STEPS, RATES, STRENGTHS = (1, 2, 5, 10, 20), (0.01, 0.02, 0.05, 0.1, 0.2), (0.0, 0.3, 1.0, 3.0)
TAU, LR, MU = 10, 0.1, 1.0
START, ROUNDS = (-1.9, 1.9), 20
REACH, SIZE = 2.25, 200  # the picture shows −REACH … REACH on both axes, in SIZE units
_LEVELS = (0.05, 0.3, 0.8, 1.6, 2.7, 4.1)  # of F above its least value
_CAPTION = (
    "Where the two clients (a square and a triangle) have their minima, and how w moves over {rounds} rounds. Thin "
    "lines: the {steps} local steps of the first round, at η = {lr:g}; FedProx with μ = {mu:g}."
)
ALT = (
    "Two clients with quadratic losses in the plane train a common w. Three pictures side by side, for FedAvg, FedProx "
    "and SCAFFOLD, show contours of the mean loss F, its optimum as a star, the minimum of client 1 as a square and of "
    "client 2 as a triangle, the local steps of the round as two lines of dots that leave w, and the way of w over the "
    "rounds. FedAvg and FedProx come to rest beside the optimum, SCAFFOLD in it."
)


def rounds(
    method: str, clients: Quadratics, start: Sequence[float], *, steps: int, lr: float, mu: float = 0.0, count: int
) -> list[np.ndarray]:
    """The local walks [steps + 1, N, D] of ``count`` rounds of a method, both clients in each, full gradients.

    y ← y − η (∇f_k(y) + d_k), with d_k = 0 for FedAvg, μ (y − w) for FedProx and c − c_k for SCAFFOLD (option 2); the
    mean of the last points is the next w. The script does the same.
    """
    w, controls, walks = np.asarray(start, dtype=float), np.zeros_like(clients.b), []
    for _ in range(count):
        offset = controls.mean(0) - controls
        y = np.broadcast_to(w, clients.b.shape)
        walk = [y]
        for _ in range(steps):
            pull = mu * (y - w) if method == "FedProx" else offset if method == "SCAFFOLD" else 0.0
            y = y - lr * (clients.gradient(y) + pull)
            walk.append(y)
        controls = -offset + (w - y) / (steps * lr)
        w = y.mean(0)
        walks.append(np.stack(walk))
    return walks


@cache
def drifting() -> Show:
    """Client drift in the plane, moved by hand or by itself; the minima can be dragged, and τ, η and μ be set.

    Without its script it stands still: the local steps of the first round, and the way of w.
    """
    plan = {"methods": METHODS, "a": A, "b": B, "start": START, "rounds": ROUNDS, "reach": REACH, "levels": _LEVELS}
    plan |= {"choices": {"τ": [STEPS, TAU], "η": [RATES, LR], "μ": [STRENGTHS, MU]}, "colours": COLOURS}
    caption = _CAPTION.format(rounds=ROUNDS, steps=TAU, lr=LR, mu=MU)
    figure = (
        f'<figure class="fedlab-drift" data-drift="{escape(json.dumps(plan))}">'
        f'<div class="panels">{"".join(map(_panel, METHODS))}</div><p class="caption">{escape(caption)}</p></figure>'
    )
    return Show.of("drifting", figure, ALT)


def _panel(method: str) -> str:
    clients = Quadratics.of(A, B)
    walks = rounds(method, clients, START, steps=TAU, lr=LR, mu=MU, count=ROUNDS)
    way = np.stack([walk[0, 0] for walk in walks] + [walks[-1][-1].mean(0)])
    words = f"{np.linalg.norm(way[-1] - clients.optimum):.4f} from the optimum"
    inside = [_ring(clients, level) for level in _LEVELS] + [_star(clients.optimum)]
    for k, colour in enumerate(COLOURS):
        inside += [_line(walks[0][:, k], "walk", colour), _minimum(clients.b[k], k)]
    inside += [_line(way, "way"), _dot(way[-1])]
    return (
        f'<div class="panel"><p class="name">{method}</p><svg viewBox="0 0 {SIZE} {SIZE}" role="img" '
        f'aria-label="{escape(f"{method}: {words}. {ALT}")}"><g class="layer">{"".join(inside)}</g></svg>'
        f'<p class="away">{words}</p></div>'
    )


def _place(point: np.ndarray) -> tuple[float, float]:
    """A point of the plane in units of the picture."""
    x, y = (np.asarray(point) / REACH * np.array([1, -1]) + 1) * SIZE / 2
    return round(float(x), 2), round(float(y), 2)


def _ring(clients: Quadratics, level: float) -> str:
    """Where F lies by ``level`` above its least value: an ellipse along the axes."""
    (x, y), (rx, ry) = _place(clients.optimum), np.sqrt(2 * level / clients.a.mean(0)) / REACH * SIZE / 2
    return f'<ellipse class="ring" cx="{x}" cy="{y}" rx="{rx:.2f}" ry="{ry:.2f}"/>'


def _line(points: np.ndarray, kind: str, colour: str = "") -> str:
    own = f' style="--own: {colour}"' if colour else ""
    path = " ".join(f"{x},{y}" for x, y in map(_place, points))
    return f'<polyline class="{kind}"{own} points="{path}"/>'


def _star(point: np.ndarray) -> str:
    x, y = _place(point)
    return f'<path class="star" transform="translate({x} {y})" d="M0 -8 2 -2 8 0 2 2 0 8 -2 2 -8 0 -2 -2Z"/>'


def _dot(point: np.ndarray) -> str:
    x, y = _place(point)
    return f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>'


def _minimum(point: np.ndarray, k: int) -> str:
    x, y = _place(point)
    shape = ("M-6 -6H6V6H-6Z", "M0 -7 7 6H-7Z")[k]
    return f'<path class="minimum" style="--own: {COLOURS[k]}" transform="translate({x} {y})" d="{shape}"/>'
