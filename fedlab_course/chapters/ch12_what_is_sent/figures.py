"""Two clients that send half of their entries: arrows that cancel, and a residual that grows until
it is sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_ = translator(__name__)
Send = Callable[[np.ndarray, np.ndarray, int], tuple[Any, Any]]
MINIMA = np.array([[2.5, 1.0], [-2.5, 1.0]])
OPTIMUM = MINIMA.mean(0)
RATE = 0.1
ROUNDS = 80
_SHOWN = 12  # rounds of the first run, in which nothing happens
_STOPS = (
    *range(1, 17),
    20,
    27,
    28,
    40,
    57,
    58,
    65,
    72,
    73,
    ROUNDS,
)  # those before and after a jump
_CLIENTS = (GROUPS[0], GROUPS[3])
_SIZES = ((GREY, "9px,3px"), (GROUPS[4], "solid"))  # of the two entries
_REACH = 0.62  # of w1 on the axis
_PLANES = 0.62  # their share of the height, where there are two
_APART = 0.26  # between two names, on the axis of sizes


class Round(NamedTuple):
    """One round: w [2] before it, what each client would send and what it sends [2, 2], and w after
    it.
    """

    w: np.ndarray
    wanted: np.ndarray
    sent: np.ndarray
    after: np.ndarray


def largest(move: np.ndarray, residual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``count`` largest entries of the move; the rest is dropped."""
    sent = np.zeros_like(move)
    places = np.argsort(-np.abs(move))[:count]
    sent[places] = move[places]
    return sent, np.zeros_like(residual)


def walk(send: Send, count: int, *, forgets: bool = False) -> list[Round]:
    """The rounds of two clients with the losses ½ ‖w − b_k‖², who make one step each and send
    ``count`` entries of their move.
    """
    w = np.zeros(2)
    kept = np.zeros((2, 2))
    rounds = []
    for _round in range(ROUNDS):
        moves = RATE * (MINIMA - w)
        pairs = [send(move, rest, count) for move, rest in zip(moves, kept, strict=True)]
        sent = np.array([np.asarray(first, dtype=float) for first, _second in pairs])
        after = w + sent.mean(0)
        rounds.append(Round(w, moves + kept, sent, after))
        if not forgets:
            kept = np.array([np.asarray(second, dtype=float) for _first, second in pairs])
        w = after
    return rounds


def opening() -> go.Figure:
    """The first round: what both clients would send, and the longer entry of each."""
    first = walk(largest, 1)[0]
    figure = _plane(_("What two clients may send"))
    _arrows(figure, first, 1)
    for (x, y), k, shift in zip(first.wanted, (1, 2), (16, -16), strict=True):
        name = _("client {number}").format(number=k)
        _label(figure, x, y, name, _CLIENTS[k - 1], yshift=14, xshift=shift)
    text = _(
        "The plane of w = (w1, w2). Two clients start at (0, 0). Dotted arrows: their moves, to "
        "the right and a little up for client 1, to the left and a little up for client 2. Solid "
        "arrows: the longer entry of each, which points to the right or to the left only. The "
        "optimum is at (0, 1)."
    )
    rows = [
        [_("client {number}").format(number=k), _pair(wanted), _pair(sent)]
        for k, wanted, sent in zip((1, 2), first.wanted, first.sent, strict=True)
    ]
    set_description(figure, text, ["", _("move"), _("longer entry")], rows)
    return figure


def dropped() -> Idea:
    """Both runs, round by round: all entries are sent, or the longer one of each client."""
    whole = walk(largest, 2)
    half = walk(largest, 1)

    def draw(round: int) -> go.Figure:
        figure = _plane(_("Round {round}: the arrows cancel").format(round=round))
        path = np.array([whole[0].w, *(one.after for one in whole[:round])])
        line = {"color": GREY, "dash": "9px,3px", "width": 2}
        marker = {"color": GREY, "size": 8, "symbol": "square"}
        figure.add_scatter(x=path[:, 0], y=path[:, 1], mode="lines+markers", line=line)
        figure.data[-1].marker = marker
        _label(figure, path[-1][0], path[-1][1], _("all entries sent"), GREY, xshift=64)
        _arrows(figure, half[round - 1], 1)
        where = half[round - 1].after
        _label(figure, where[0], where[1], _("longer entry sent"), INK, yshift=-16)
        text = _(
            "After round {round}. If all entries are sent, w is at {all_sent}, on its "
            "way to the optimum (0, 1). If each client sends its longer entry, the two arrows "
            "cancel, and w is at {longer_sent}."
        ).format(round=round, all_sent=_pair(path[-1]), longer_sent=_pair(where))
        rows = [[_("all entries"), _pair(path[-1])], [_("the longer entry"), _pair(where)]]
        set_description(figure, text, [_("what is sent"), "w"], rows)
        return figure

    return Idea(draw, {"round": _slider(range(1, _SHOWN + 1))})


def kept(send: Send) -> Idea:
    """The reader's ``send`` without a memory and with it: the paths, how the entries of client 1
    grow, and where w_2 is.
    """
    forgets = walk(send, 1, forgets=True)
    remembers = walk(send, 1)
    words = own.whose(send)

    def draw(round: int) -> go.Figure:
        title = _("Round {round}, {words}").format(round=round, words=words)
        figure = _plane(title, height=640, two=True)
        for axes, run in ((1, forgets), (2, remembers)):
            path = np.array([run[0].w, *(one.after for one in run[:round])])
            line = {"color": INK, "width": 2}
            figure.add_scatter(x=path[:, 0], y=path[:, 1], mode="lines", line=line)
            figure.data[-1].update(xaxis=f"x{axes}", yaxis=f"y{axes}")
            _arrows(figure, run[round - 1], axes)
        _sizes(figure, remembers, round)
        _describe_kept(figure, forgets[round - 1], remembers, round, words)
        return figure

    return Idea(draw, {"round": _slider(_STOPS)})


def _slider(stops: Sequence[int]) -> Any:
    return slider(_("round"), stops, 1, _("rounds of the two clients"))


def _plane(title: str, *, height: int = 420, two: bool = False) -> go.Figure:
    """Axes for w, with the optimum; ``two``: two planes side by side, and below them a place for
    sizes.
    """
    figure = new_figure(
        title=title, x_title="w<sub>1</sub>", y_title="w<sub>2</sub>", height=height, legend=False
    )
    figure.update_xaxes(range=[-_REACH, _REACH], zeroline=True)
    figure.update_yaxes(range=[-0.2, 1.4], zeroline=True)
    star = {"color": INK, "symbol": "star", "size": 13}
    for axes in (1, 2) if two else (1,):
        place = {"xaxis": f"x{axes}", "yaxis": f"y{axes}"} if two else {}
        figure.add_scatter(x=[0], y=[1], mode="markers", marker=star, **place)
    _label(figure, 0, 1, _("optimum"), INK, yshift=16)
    if two:
        _arrange(figure)
    else:
        figure.update_xaxes(range=[-0.5, 0.5])
        figure.update_yaxes(range=[-0.15, 1.2])
    return figure


def _arrange(figure: go.Figure) -> None:
    """Two planes above, and below them the sizes of the entries of client 1."""
    top = [1 - _PLANES + 0.06, 0.95]
    plain = {"zeroline": True, "title": "w<sub>1</sub>", "range": [-_REACH, _REACH]}
    upright = {"zeroline": True, "range": [-0.2, 1.4], "domain": top}
    figure.update_layout(
        xaxis={"domain": [0, 0.48]},
        yaxis=upright,
        xaxis2=plain | {"domain": [0.52, 1], "anchor": "y2"},
        yaxis2=upright | {"anchor": "x2", "showticklabels": False},
        xaxis3={
            "domain": [0, 1],
            "anchor": "y3",
            "title": _("round"),
            "range": [0.5, 1.12 * ROUNDS],
        },
        yaxis3={
            "domain": [0, 1 - _PLANES - 0.14],
            "anchor": "x3",
            "title": _("size"),
            "range": [0, 1.3],
        },
    )
    for x, words in (("x", _("forgets")), ("x2", _("remembers"))):
        figure.add_annotation(
            x=0.5, y=1, xref=f"{x} domain", yref="paper", text=f"<b>{words}</b>", showarrow=False
        )
    words = _("With a memory: both entries of client 1 (filled: sent), and w<sub>2</sub>")
    place: dict[str, Any] = {"xref": "x3 domain", "yref": "y3 domain", "yanchor": "bottom"}
    figure.add_annotation(x=0, y=1, **place, text=words, showarrow=False)


def _arrows(figure: go.Figure, one: Round, axes: int) -> None:
    """What each client would send, dotted, and what it sends; a dot at the mean of both."""
    x_ref, y_ref = ("x", "y") if axes == 1 else (f"x{axes}", f"y{axes}")
    for k, (wanted, sent) in enumerate(zip(one.wanted, one.sent, strict=True)):
        end = one.w + wanted
        line = {"color": _CLIENTS[k], "dash": "2px,3px", "width": 2}
        figure.add_scatter(x=[one.w[0], end[0]], y=[one.w[1], end[1]], mode="lines", line=line)
        figure.data[-1].update(xaxis=x_ref, yaxis=y_ref)
        tip = one.w + sent
        figure.add_annotation(
            x=tip[0],
            y=tip[1],
            ax=one.w[0],
            ay=one.w[1],
            xref=x_ref,
            yref=y_ref,
            axref=x_ref,
            ayref=y_ref,
            text="",
            arrowcolor=_CLIENTS[k],
            arrowwidth=3,
            arrowhead=2,
        )
    figure.add_scatter(
        x=[one.after[0]], y=[one.after[1]], mode="markers", marker={"color": INK, "size": 10}
    )
    figure.data[-1].update(xaxis=x_ref, yaxis=y_ref)


def _sizes(figure: go.Figure, run: Sequence[Round], round: int) -> None:
    """Draw the sizes of both entries that client 1 would send, where a filled marker was sent, and
    w_2 after each round.
    """
    wanted = np.abs([one.wanted[0] for one in run[:round]])
    was_sent = np.array([one.sent[0] for one in run[:round]]) != 0
    x = np.arange(1, round + 1)
    for entry, (colour, dash) in enumerate(_SIZES):
        marker = {
            "color": [colour if filled else "white" for filled in was_sent[:, entry]],
            "size": 8 if round <= 30 else 5,
            "line": {"color": colour, "width": 1.5},
            "symbol": ("square", "circle")[entry],
        }
        line = {"color": colour, "dash": dash, "width": 1.5}
        figure.add_scatter(x=x, y=wanted[:, entry], mode="lines+markers", line=line, marker=marker)
        figure.data[-1].update(xaxis="x3", yaxis="y3")
    second = [one.after[1] for one in run[:round]]
    figure.add_scatter(x=x, y=second, mode="lines", line={"color": INK, "shape": "hv", "width": 3})
    figure.data[-1].update(xaxis="x3", yaxis="y3")
    entries = wanted[-1]
    names = {
        _("entry 1"): (entries[0], GREY),
        _("entry 2"): (entries[1], _SIZES[1][0]),
        "w<sub>2</sub>": (second[-1], INK),
    }
    _name_ends(figure, names, round)


def _name_ends(figure: go.Figure, names: Mapping[str, tuple[float, str]], round: int) -> None:
    """Write each name (its last size, its colour) beside the round, one above the other."""
    place = -np.inf
    for name, (size, colour) in sorted(names.items(), key=lambda one: one[1][0]):
        place = max(size, place + _APART)
        _label(figure, round, place, name, colour, axes=3, anchor="left", xshift=8)


def _label(
    figure: go.Figure,
    x: float,
    y: float,
    words: str,
    colour: str,
    *,
    axes: int = 1,
    anchor: str = "center",
    **shift: float,
) -> None:
    ref = "" if axes == 1 else str(axes)
    figure.add_annotation(
        x=x,
        y=y,
        xref=f"x{ref}",
        yref=f"y{ref}",
        text=words,
        showarrow=False,
        font={"color": colour},
        bgcolor=rgba(PAPER, 0.7),
        xanchor=anchor,
        **shift,
    )


def _describe_kept(
    figure: go.Figure, forgetful: Round, run: Sequence[Round], round: int, words: str
) -> None:
    now = run[round - 1]
    fired = [i + 1 for i, one in enumerate(run[:round]) if one.sent[0][1] != 0]
    when = ", ".join(map(str, fired)) or _("never so far")
    text = _(
        "After round {round}, {words}. Without a memory w is at {forgetful}. With it "
        "w is at {remembering}; the optimum is (0, 1). Below: w_2, and the sizes of both "
        "entries that client 1 would send. The second one was sent in these rounds: {when}."
    ).format(
        round=round,
        words=words,
        forgetful=_pair(forgetful.after),
        remembering=_pair(now.after),
        when=when,
    )
    rows = [
        [i + 1, *(f"{abs(value):.3f}" for value in one.wanted[0]), _pair(one.after)]
        for i, one in enumerate(run[:round])
    ]
    set_description(figure, text, [_("round"), _("entry 1"), _("entry 2"), _("w after it")], rows)


def _pair(point: np.ndarray) -> str:
    x, y = (f"{value:.2f}" for value in np.asarray(point) + 0.0)
    return f"({x.replace('-', '−')}, {y.replace('-', '−')})"
