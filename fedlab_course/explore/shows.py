"""Animations: one round of FedAvg, and client drift step by step. They need no kernel: ``scripts/shows.js``."""

import json
from dataclasses import dataclass
from functools import cache
from html import escape

import numpy as np

from fedlab_course.explore.live import page
from fedlab_course.explore.quadratics import COLOURS, A, B


@dataclass(frozen=True)
class Show:
    """An animation, with a description in words, ``alt``. As the last line of a cell it shows itself."""

    figure: str
    alt: str

    @property
    def html(self) -> str:
        """The figure with its style sheet and script."""
        return self.figure + page("shows")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.alt}


METHODS = ("FedAvg", "FedProx", "SCAFFOLD")
STEPS, RATES, STRENGTHS = (1, 2, 5, 10, 20), (0.01, 0.02, 0.05, 0.1, 0.2), (0.0, 0.3, 1.0, 3.0)
TAU, LR, MU = 10, 0.1, 1.0
START, ROUNDS = (-1.9, 1.9), 20
REACH = 2.25  # the picture shows −REACH … REACH on both axes
_LEVELS = (0.05, 0.3, 0.8, 1.6, 2.7, 4.1)  # of F above its least value
DRIFT_ALT = (
    "Two clients with quadratic losses in the plane train a common w. Three pictures side by side, for FedAvg, FedProx "
    "and SCAFFOLD, show contours of the mean loss F, its optimum as a star, the minimum of client 1 as a square and of "
    "client 2 as a triangle, the local steps of the round as two lines of dots that leave w, and the path of w over "
    "the rounds. FedAvg and FedProx come to rest beside the optimum, SCAFFOLD in it."
)


@cache
def drifting() -> Show:
    """Client drift in the plane, step by step: FedAvg, FedProx and SCAFFOLD side by side.

    A reader can drag the minima of the two clients, and set τ, η and μ. ``scripts/shows.js`` computes the local steps
    y ← y − η (∇f_k(y) + d_k), with d_k = 0 for FedAvg, μ (y − w) for FedProx and c − c_k for SCAFFOLD (option 2).
    """
    plan = {"methods": METHODS, "a": A, "b": B, "start": START, "rounds": ROUNDS, "reach": REACH, "levels": _LEVELS}
    plan["choices"] = [
        {"name": "τ", "label": "local steps τ", "values": STEPS, "value": TAU},
        {"name": "η", "label": "learning rate η", "values": RATES, "value": LR},
        {"name": "μ", "label": "μ of FedProx", "values": STRENGTHS, "value": MU},
    ]
    plan["colours"] = COLOURS
    figure = (
        f'<figure class="fedlab-show fedlab-drift" data-drift="{escape(json.dumps(plan))}"><div class="panels"></div>'
        f'<p class="caption">{escape(DRIFT_ALT)}</p></figure>'
    )
    return Show(figure, DRIFT_ALT)


# Five clients: samples n_k, labels, colour, and a model of four numbers after local training if it is in the cohort.
# The colours are legible on light and on dark grounds.
_CLIENTS: tuple[tuple[int, str, str, tuple[float, ...]], ...] = (
    (30, "0, 1", "#0072B2", (0.9, 0.7, 0.2, 0.3)),
    (20, "2, 3", "#7A7A7A", ()),
    (20, "4, 5", "#D55E00", (0.2, 0.9, 0.8, 0.4)),
    (40, "6, 7", "#7A7A7A", ()),
    (10, "8, 9", "#009E73", (0.4, 0.1, 0.6, 1.0)),
)
_START = (0.5, 0.5, 0.5, 0.5)
_SERVER, _ROW, _LEFT, _APART = (320, 62), 222, 64, 128  # centres in the picture, pixels
_HEIGHT = 28  # of a bar at 1
CAPTIONS = (
    "The server holds a model w, here four numbers. Five clients hold samples that never leave them.",
    "The server draws a cohort: three of the five clients take part in this round.",
    "The model goes out: each client of the cohort receives w.",
    "Each client trains on its own samples. Their labels differ, so their models drift apart.",
    "The trained models come back. The samples stay where they are.",
    "The server averages: w becomes Σ ρ_k y_k, and ρ_k is the client's share of the samples. The next round begins.",
)
ALT = "One round of federated averaging in six steps. " + " ".join(f"{n}. {text}" for n, text in enumerate(CAPTIONS, 1))


@cache
def one_round() -> Show:
    """A round of FedAvg: the model goes out, clients train, the average comes back (McMahan et al. 2017, algorithm 1).

    Without scripts a page shows one picture, with the models on their way back, and all captions.
    """
    captions = "".join(f"<li>{escape(text)}</li>" for text in CAPTIONS)
    places = [[_LEFT + k * _APART, _ROW] for k, (*_, model) in enumerate(_CLIENTS) if model]
    models = [model for *_, model in _CLIENTS if model]
    new = [round(float(value), 4) for value in average()]
    plan = {"server": _SERVER, "places": places, "start": _START, "models": models, "average": new, "height": _HEIGHT}
    figure = (
        f'<figure class="fedlab-show fedlab-round" data-round="{escape(json.dumps(plan))}">'
        f"{_picture()}<ol>{captions}</ol></figure>"
    )
    return Show(figure, ALT)


def average() -> np.ndarray:
    """w [4] after the round: the mean of the cohort's models, weighted by their numbers of samples."""
    cohort = [(samples, model) for samples, _, _, model in _CLIENTS if model]
    return np.average([model for _, model in cohort], axis=0, weights=[samples for samples, _ in cohort])


def _picture() -> str:
    clients, tokens = "", ""
    for k, (samples, labels, colour, model) in enumerate(_CLIENTS):
        x = _LEFT + k * _APART
        clients += (
            f'<g class="client {"chosen" if model else ""}" style="--own: {colour}" transform="translate({x} {_ROW})">'
            f'<path d="M0 -38 L{_SERVER[0] - x} {_SERVER[1] + 40 - _ROW}"/>'
            '<rect x="-54" y="-38" width="108" height="100" rx="8"/>'
            f'<text class="name" y="-44">{k + 1}</text>'
            f'<text y="33">{samples} samples</text><text y="53">labels {labels}</text></g>'
        )
        if model:
            place = f"translate({(x + _SERVER[0]) / 2:g} {(_ROW + _SERVER[1]) / 2 + 14:g})"
            tokens += f'<g class="token" style="--own: {colour}" transform="{place}">{_bars(model)}</g>'
    server = (
        f'<g class="server" transform="translate({_SERVER[0]} {_SERVER[1]})"><rect x="-62" y="-44" width="124" '
        f'height="84" rx="8"/><text y="-50">server</text><text class="weight" y="32">w</text>'
        f'<g class="token global">{_bars(_START)}</g></g>'
    )
    return f'<svg viewBox="0 0 640 290" role="img" aria-label="{escape(ALT)}">{clients}{server}{tokens}</svg>'


def _bars(model: tuple[float, ...]) -> str:
    """A model as four bars whose feet are at y = 14."""
    return "".join(
        f'<rect x="{-21 + 11 * i}" y="{14 - _HEIGHT * value:g}" width="9" height="{_HEIGHT * value:g}"/>'
        for i, value in enumerate(model)
    )
