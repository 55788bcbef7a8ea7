"""The scene: two clients in the plane train a common w, step by step, with functions that the
reader wrote. It needs no kernel: ``explore/scripts/scene.js`` draws what was computed here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from fedlab_core.language import translator
from fedlab_course.catalogue.parameters import parameter
from fedlab_course.check import own
from fedlab_course.explore.live import page
from fedlab_course.explore.quadratics import CLIENTS, COLOURS, START, B, gradient

_ = translator(__name__)

LocalUpdate = Callable[..., Any]
Aggregate = Callable[[np.ndarray, np.ndarray], Any]
Place = Callable[[int, float], Any]

SIZES = np.array([10, 10])  # samples of the two clients
# the curvatures [2] and the minima [2] of both clients in each direction of the plane
DIRECTIONS = tuple(zip(CLIENTS.a.T, CLIENTS.b.T, strict=True))
STEPS, RATES = (parameter(name, "drift") for name in ("local_steps", "lr"))
TAUS: tuple[Any, ...] = STEPS.values
ETAS: tuple[Any, ...] = RATES.values
RATE = 0.1  # where the slider of η begins
ROUNDS = 20
REACH = 2.25  # the picture shows −REACH … REACH on both axes
FAR = 1e4  # a run that is further away than this has ended
_LEVELS = (0.05, 0.3, 0.8, 1.6, 2.7, 4.1)  # of F above its least value


@dataclass(frozen=True)
class Scene:
    """An animation, with a description in words, ``alt``. As the last line of a cell it shows
    itself.
    """

    figure: str
    alt: str

    @property
    def html(self) -> str:
        """The figure with its style sheet and script."""
        return self.figure + page("scene")

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.alt}


@dataclass(frozen=True)
class Panel:
    """One picture of a scene: the ``local_update`` of its clients, and how many ``steps`` τ they
    make in a round; None: as many as the slider says.
    """

    local_update: LocalUpdate
    steps: int | None = None


def play(
    panels: Mapping[str, LocalUpdate | Panel],
    aggregate: Aggregate | None = None,
    *,
    title: str,
    steps: int = 5,
    rates: Sequence[float] = (RATE,),
    stops: Place | None = None,
) -> Scene:
    """Two clients walk from w, and w goes to their average, in a picture for each of ``panels``.

    ``panels``: name → ``local_update(w, k, gradient, eta, steps)``, or a :class:`Panel`.
    ``aggregate(models, sizes)``: by default the mean of the two. ``rates``: the values of η; more
    than one makes a slider, and so does a panel without steps of its own for τ, which begins at
    ``steps``. ``stops(steps, eta)``: where w is expected to stop [2], drawn as a cross. The caption
    says whether the functions are the reader's.
    """
    given = {
        name: panel if isinstance(panel, Panel) else Panel(panel) for name, panel in panels.items()
    }
    mean = aggregate or _mean
    has_slider = any(panel.steps is None for panel in given.values())
    taus = TAUS if has_slider else (steps,)
    words = own.whose(*(panel.local_update for panel in given.values()), mean, stops)
    plan = _board() | {
        "panels": [
            {"name": name, "runs": list(_runs(panel, mean, taus, rates, stops))}
            for name, panel in given.items()
        ],
        "choices": [
            _choice(STEPS.label, taus, steps),
            _choice(RATES.label, rates, RATE if RATE in rates else rates[0]),
        ],
    }
    alt = _(
        "{title}, {words}. Two clients in the plane train a common w. A picture for each of: "
        "{names}. It shows contours of the mean loss F, its optimum as a star, the optimum of "
        "client 1 as a square and that of client 2 as a triangle, the local steps of the round as "
        "two lines of dots that leave w, and the path of w over {rounds} rounds. After them: "
        "{ends}."
    ).format(title=title, words=words, names=_(", ").join(given), rounds=ROUNDS, ends=_ends(plan))
    heading = _("<b>{title}</b>, {words}").format(title=escape(title), words=words)
    figure = (
        f'<figure class="fedlab-scene" data-scene="{escape(json.dumps(plan))}">'
        f'<p class="title">{heading}</p><div class="panels"></div>'
        f'<p class="caption">{escape(alt)}</p></figure>'
    )
    return Scene(figure, alt)


def _mean(models: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    mean: np.ndarray = np.average(models, axis=0, weights=sizes)
    return mean


def _board() -> dict[str, Any]:
    """What all panels share: the clients, the optimum of F and its contours as half axes."""
    curvature = CLIENTS.a.mean(0)
    rings = [np.sqrt(2 * level / curvature).tolist() for level in _LEVELS]
    return {
        "minima": B,
        "best": _rounded(CLIENTS.optimum),
        "rings": rings,
        "reach": REACH,
        "rounds": ROUNDS,
        "colours": COLOURS,
    }


def _choice(label: str, values: Sequence[float], start: float) -> dict[str, Any]:
    """A slider that begins at ``start``; the page leaves out one with a single value."""
    return {"label": label, "values": list(values), "start": list(values).index(start)}


def _runs(
    panel: Panel,
    aggregate: Aggregate,
    taus: Sequence[int],
    rates: Sequence[float],
    stops: Place | None,
) -> Iterator[dict[str, Any]]:
    """The run of a panel at each τ and, running fastest, each η."""
    for choice in taus:
        tau = choice if panel.steps is None else panel.steps
        for rate in rates:
            run = walk(panel.local_update, aggregate, tau, rate)
            cross = None if stops is None else _rounded(stops(tau, rate))
            yield {"steps": tau, "cross": cross, "rounds": run}


def walk(
    local_update: LocalUpdate, aggregate: Aggregate, steps: int, rate: float
) -> list[dict[str, Any]]:
    """The rounds of both clients, for each the ``walks`` [2, τ + 1, 2] of the clients from w, and
    ``next``, the new w [2]. A run that flies off ends there.
    """
    w = np.array(START)
    rounds = []
    for _round in range(ROUNDS):
        walks = [
            [_point(local_update, w, k, rate, step) for step in range(steps + 1)] for k in (0, 1)
        ]
        models = np.array([points[-1] for points in walks])
        w = np.asarray(aggregate(models, SIZES), dtype=float)
        rounds.append({"walks": [_rounded(points) for points in walks], "next": _rounded(w)})
        if not np.abs(w).max() < FAR:
            break
    return rounds


def _point(local_update: LocalUpdate, w: np.ndarray, k: int, rate: float, step: int) -> np.ndarray:
    """Where client k is after some local steps from w."""
    return np.asarray(local_update(w.copy(), k, gradient, rate, step), dtype=float)


def _rounded(points: Any) -> Any:
    """Points as nested lists of numbers with six digits."""
    values = np.nan_to_num(np.asarray(points, dtype=float), nan=FAR, posinf=FAR, neginf=-FAR)
    if values.ndim > 1:
        return [_rounded(one) for one in values]
    return [float(f"{value:.6g}") for value in values]


def _ends(plan: Mapping[str, Any]) -> str:
    """The distance of w from the optimum at the end, in words, for the sliders' first values."""
    steps, rates = plan["choices"]
    first = steps["start"] * len(rates["values"]) + rates["start"]
    phrases = []
    for panel in plan["panels"]:
        rounds = panel["runs"][first]["rounds"]
        distance = np.linalg.norm(np.array(rounds[-1]["next"]) - CLIENTS.optimum)
        phrase = _("{name}: {distance} from the optimum")
        if not distance < FAR:
            phrase = _("{name}: flown off")
        phrases.append(phrase.format(name=panel["name"], distance=f"{distance:.4f}"))
    return _("; ").join(phrases)
