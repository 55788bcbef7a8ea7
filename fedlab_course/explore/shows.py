"""An animation: client drift step by step. It needs no kernel: ``scripts/shows.js``."""

import json
from dataclasses import dataclass
from functools import cache
from html import escape

from fedlab_course.catalogue.parameters import parameter
from fedlab_course.explore.live import page
from fedlab_course.explore.quadratics import COLOURS, A, B


@dataclass(frozen=True)
class Show:
    """An animation, with a description in words, ``alt``. As the last line of a cell it shows
    itself.
    """

    figure: str
    alt: str

    @property
    def html(self) -> str:
        """The figure with its style sheet and script."""
        return self.figure + page("shows")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.alt}


METHODS = ("FedAvg", "FedProx", "SCAFFOLD")
# the parameters that a reader sets
STEPS, RATES, STRENGTHS = (parameter(name, "drift") for name in ("local_steps", "lr", "mu"))
START = (-1.9, 1.9)
ROUNDS = 20
REACH = 2.25  # the picture shows −REACH … REACH on both axes
_LEVELS = (0.05, 0.3, 0.8, 1.6, 2.7, 4.1)  # of F above its least value
DRIFT_ALT = (
    "Two clients with quadratic losses in the plane train a common w. Three pictures side by side, "
    "for FedAvg, FedProx and SCAFFOLD, show contours of the mean loss F, its optimum as a star, "
    "the minimum of client 1 as a square and of client 2 as a triangle, the local steps of the "
    "round as two lines of dots that leave w, and the path of w over the rounds. FedAvg and "
    "FedProx come to rest beside the optimum, SCAFFOLD in it."
)


@cache
def drifting() -> Show:
    """Client drift in the plane, step by step: FedAvg, FedProx and SCAFFOLD side by side.

    A reader can drag the minima of the two clients, and set τ, η and μ. ``scripts/shows.js``
    computes the local steps y ← y − η (∇f_k(y) + d_k), with d_k = 0 for FedAvg, μ (y − w) for
    FedProx and c − c_k for SCAFFOLD (option 2).
    """
    plan = {
        "methods": METHODS,
        "a": A,
        "b": B,
        "start": START,
        "rounds": ROUNDS,
        "reach": REACH,
        "levels": _LEVELS,
    }
    plan["choices"] = [
        {"name": one.symbol, "label": one.label, "values": one.values, "value": one.default}
        for one in (STEPS, RATES, STRENGTHS)
    ]
    plan["colours"] = COLOURS
    figure = (
        f'<figure class="fedlab-show fedlab-drift" data-drift="{escape(json.dumps(plan))}"><div '
        f'class="panels"></div><p class="caption">{escape(DRIFT_ALT)}</p></figure>'
    )
    return Show(figure, DRIFT_ALT)
