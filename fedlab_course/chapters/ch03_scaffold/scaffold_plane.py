"""Two clients in the plane under the reader's SCAFFOLD, beside FedAvg; and how fast it is."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, METHODS
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.explore import planes
from fedlab_course.explore.quadratics import START, gradient

_ = translator(__name__)
RATE = 0.1
LOCAL_STEPS = (1, 2, 3, 5, 10, 20, 30, 50, 100)  # of the curve of rounds
ROUNDS = (1, 2, 3, 5, 10, 20, 50)
NEAR = 0.01  # of the first distance
_NONE = np.zeros(2)
Scaffold = Callable[..., Sequence[tuple[Any, Any, Any]]]
LocalUpdate = Callable[..., Any]


def draw(
    scaffold: Scaffold, local_update: LocalUpdate, new_control: Any, tau: int, round: int
) -> go.Figure:
    """The local steps of a round and the path of w up to it, for FedAvg and for SCAFFOLD."""
    plain = [START]
    for _round in range(round):
        plain.append(_ends(local_update, plain[-1], tau, _NONE, [_NONE] * 2).mean(0))
    states = _states(scaffold, tau, round)
    w, c, controls = states[-2]
    both = [
        planes.Plane(
            _("c = cₖ = 0: FedAvg"),
            _walks(local_update, plain[-2], tau, _NONE, [_NONE] * 2),
            np.array(plain),
            METHODS["fedavg"],
        ),
        planes.Plane(
            "SCAFFOLD",
            _walks(local_update, w, tau, c, controls),
            np.array([state[0] for state in states]),
            METHODS["scaffold"],
        ),
    ]
    whose = own.whose(local_update, new_control)
    title = _("τ = {tau}, round {round}, {whose}").format(tau=tau, round=round, whose=whose)
    return planes.side_by_side(both, title=title)


def distances(scaffold: Scaffold, tau: int, rounds: int) -> np.ndarray:
    """The distance of w from the optimum, before the first round and after each [rounds + 1]."""
    return np.array([planes.distance(state[0]) for state in _states(scaffold, tau, rounds)])


def rounds_needed(scaffold: Scaffold, tau: int) -> int:
    """The rounds until w has come, to stay, within 1 % of its first distance from the optimum."""
    left = distances(scaffold, tau, 200)
    return int((left > NEAR * left[0]).nonzero()[0].max()) + 1


def speeds(scaffold: Scaffold, *whose: Any) -> go.Figure:
    """The rounds that SCAFFOLD needs against τ; one local step is marked by a dotted line.

    ``whose``: the reader's functions, which the title speaks of.
    """
    needed = [rounds_needed(scaffold, tau) for tau in LOCAL_STEPS]
    figure = new_figure(
        title=_("Rounds to 1 % of the distance, {whose}").format(whose=own.whose(*whose)),
        x_title=_("local steps τ in a round"),
        y_title=_("rounds needed"),
        height=380,
        legend=False,
    )
    figure.add_hline(y=needed[0], line={"color": GREY, "width": 2, "dash": "dot"})
    words = {"text": _("as with one step"), "font": {"color": GREY}, "showarrow": False}
    figure.add_annotation(**words, xref="paper", x=0.45, y=needed[0], yshift=10)
    look = {"color": METHODS["scaffold"], "width": 3}
    figure.add_scatter(
        x=LOCAL_STEPS,
        y=needed,
        name="SCAFFOLD",
        mode="lines+markers+text",
        text=[f"{count}" for count in needed],
        textposition="top center",
        line=look,
        marker={"color": METHODS["scaffold"], "size": 9, "symbol": "triangle-up"},
        hovertemplate=_("τ = %{x}: %{y} rounds") + "<extra></extra>",
    )
    figure.update_xaxes(
        type="log", tickvals=LOCAL_STEPS, ticktext=[f"{one}" for one in LOCAL_STEPS]
    )
    figure.update_yaxes(range=[0, 1.2 * max(needed)])
    rows = [[tau, count] for tau, count in zip(LOCAL_STEPS, needed, strict=True)]
    phrase = _("{count} with τ = {tau}")
    phrases = _(", ").join(phrase.format(count=count, tau=tau) for tau, count in rows)
    text = _("Rounds until SCAFFOLD is within 1 % of its first distance: {phrases}.")
    set_description(figure, text.format(phrases=phrases), ["τ", _("rounds")], rows)
    return figure


def _states(scaffold: Scaffold, tau: int, rounds: int) -> Sequence[tuple[Any, Any, Any]]:
    """(w, c, the c_k) before each round and after the last."""
    return scaffold(START, tau, rounds, gradient, RATE)


def _ends(local_update: LocalUpdate, w: Any, tau: int, c: Any, controls: Any) -> np.ndarray:
    """The y_k [2 clients, 2] after ``tau`` local steps from w."""
    return np.array([local_update(w, k, gradient, RATE, tau, c, controls[k]) for k in (0, 1)])


def _walks(local_update: LocalUpdate, w: Any, tau: int, c: Any, controls: Any) -> np.ndarray:
    """The y_k after 0, 1, … local steps from w [tau + 1, 2 clients, 2]."""
    return np.array([_ends(local_update, w, steps, c, controls) for steps in range(tau + 1)])
