"""What a move tells of labels: the biases of one client, the same under noise, and the price."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course.chapters.ch13_what_updates_reveal import attack
from fedlab_course.check import own
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import slider

_ = translator(__name__)
THRESHOLDS = (0.0, 1.5, 3.0)  # in standard deviations of the noise in a sum
CLIENT = 3  # whose bars are shown under noise
_LOOKS = {
    _("accuracy"): Look(INK, "solid", "circle"),
    _("labels read"): Look(GROUPS[0], "9px,3px", "square"),
    _("clusters, same sums"): Look(GROUPS[2], "5px,2px,1px,2px", "triangle-up"),
    _("clusters, all entries"): Look(GREY, "1.5px,4px", "diamond"),
}
_SETTING = _("κ = {clip:g}, η = {rate:g}, one epoch a round").format(
    clip=attack.CLIP, rate=attack.WORK["lr"]
)
_SPLITS = {"Dirichlet 0.3": _("Dirichlet 0.3")}  # names that a notebook has no words for
_ZERO = 0.003  # where s = 0 is on a logarithmic axis


def guess(moves: Any, names: Sequence[str], clients: Sequence[int]) -> Idea:
    """How far the bias of each label moved, [N, C], for some clients: whose labels are not told."""
    figures: dict[float, go.Figure] = {
        k: _bars(
            moves[k],
            names,
            _("Client {k}: which labels?").format(k=k),
            {_("move"): np.ones(len(names), bool)},
        )
        for k in clients
    }
    for k, figure in figures.items():
        pairs = list(zip(names, moves[int(k)], strict=True))
        rows = [[name, f"{move:+.2g}"] for name, move in pairs]
        up = _(", ").join(name for name, move in pairs if move > 0)
        text = _("Bars for client {k}: how far the bias of each label moved. Upwards: {up}.")
        set_description(figure, text.format(k=k, up=up), [_("label"), _("move")], rows)
    return gallery(figures, _("client"))


def read(
    labels_seen: attack.Reading,
    federations: Mapping[str, tuple[Any, Any]],
    names: Sequence[str],
    clients: Sequence[int],
) -> Idea:
    """What the reader's function names, and what a client holds. The slider goes through
    ``clients`` of each federation in turn.

    ``federations``: name → (moves of the biases [N, C], label mixes [N, C]).
    """
    words = own.whose(labels_seen)
    figures: dict[float, go.Figure] = {}
    for place, (law, (moves, mixes)) in enumerate(federations.items()):
        split = _SPLITS.get(law, law)
        for k in clients:
            named = _named(labels_seen, moves[k])
            held = np.asarray(mixes[k]) > 0
            title = _("{split}, {words}").format(split=split, words=words)
            figure = _bars(
                moves[k], names, title, {_("named"): named, _("not named"): ~named}, held
            )
            rows = [
                [name, f"{move:+.2g}", _yes(said), f"{share:.0%}"]
                for name, move, said, share in zip(names, moves[k], named, mixes[k], strict=True)
            ]
            text = _(
                "{split}, client {k}, {words}. Named: {told}. The client holds: {has}."
            ).format(
                split=split,
                k=k,
                words=words,
                told=_(", ").join(np.array(names)[named]) or _("none"),
                has=_(", ").join(np.array(names)[held]),
            )
            heads = [_("label"), _("move"), _("named"), _("share of its samples")]
            set_description(figure, text, heads, rows)
            figures[place * len(clients) + list(clients).index(k)] = figure
    return gallery(figures, _("client"))


def told(labels_seen: attack.Reading, federations: Mapping[str, tuple[Any, Any]]) -> pd.DataFrame:
    """How well the reader's function names the labels of each federation: one row for each."""
    rows = {}
    for split, (moves, mixes) in federations.items():
        held = np.asarray(mixes) > 0
        said = np.array([_named(labels_seen, move) for move in moves])
        right = int((said == held).all(1).sum())
        recall = (said & held).sum() / held.sum()
        rows[_SPLITS.get(split, split)] = {
            _("labels held that are named"): f"{recall:.0%}",
            _("clients named without a fault"): _("{right} of {number}").format(
                right=right, number=len(held)
            ),
            _("labels named that are not held"): int((said & ~held).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def lengths(make: attack.Make, fed: fl.FederatedDataset, model: Any, seed: int) -> go.Figure:
    """The length of a move before clipping and after it, by the reader's server and by one that
    clips each entry.
    """
    words = own.whose(make)
    found = attack.lengths(make, fed, model, seed)
    figure = new_figure(
        title=_("κ = {clip:g}, η = {rate:g}, {words}").format(
            clip=attack.CLIP, rate=attack.WORK["lr"], words=words
        ),
        x_title=_("length of the move"),
        y_title=_("length after clipping"),
        height=380,
        legend=False,
    )
    x = found["before"]
    for name, label, look in (
        ("entries", _("each entry clipped"), Look(GROUPS[2], "9px,3px", "triangle-up")),
        ("moves", _("the length clipped"), Look(GROUPS[0], "solid", "circle")),
    ):
        add_curve(figure, x, found[name], name, look)
        place = {"x": np.log10(x[-2]), "y": np.log10(found[name][-2]), "yshift": 14}
        figure.add_annotation(
            **place, text=label, font={"color": look.colour}, showarrow=False, xshift=-40
        )
    figure.add_hline(y=attack.CLIP, line={"color": GREY, "dash": "dot", "width": 2})
    note: dict[str, Any] = {"text": f"κ = {attack.CLIP:g}", "font": {"color": GREY}}
    figure.add_annotation(
        x=np.log10(x[0]), y=np.log10(attack.CLIP), yshift=11, showarrow=False, **note
    )
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1)
    _describe_lengths(figure, found, words)
    return figure


def _describe_lengths(figure: go.Figure, found: Mapping[str, Sequence[float]], words: str) -> None:
    x, moves, entries = (found[name] for name in ("before", "moves", "entries"))
    text = _(
        "Curves: the length of a move after clipping to κ = {clip:g}, {words}. The server "
        "of the exercise never lets more than {most:.2f} through. Where each "
        "entry is clipped, a move of length {before:.0f} keeps {after:.1f}."
    ).format(clip=attack.CLIP, words=words, most=max(moves), before=x[-1], after=entries[-1])
    heads = [_("before"), _("length clipped"), _("each entry clipped")]
    rows = [[f"{length:.2f}" for length in row] for row in zip(x, moves, entries, strict=True)]
    set_description(figure, text, heads, rows)


def one_axis(
    labels_seen: attack.Reading,
    make: attack.Make,
    fed: fl.FederatedDataset,
    model: Any,
    mixes: np.ndarray,
    seed: int,
) -> Idea:
    """The ten sums of a client under noise, and against the noise s of a move what the server
    reads, what OPTICS finds and what training reaches.
    """
    levels = attack.levels(make, fed, model, seed)
    held = np.asarray(mixes) > 0
    words = own.whose(labels_seen, make)
    said = {
        (z, noise): attack.named(labels_seen, level, z)
        for z in THRESHOLDS
        for noise, level in levels.items()
    }
    right = {key: float((found == held).all(1).mean()) for key, found in said.items()}
    names = fed.dataset.classes

    def draw(noise: float, threshold: float) -> go.Figure:
        level = levels[noise]
        named = said[threshold, noise][CLIENT]
        parts = {_("named"): named, _("not named"): ~named}
        title = _("s = {noise:g}; {setting}, {words}").format(
            noise=noise, setting=_SETTING, words=words
        )
        figure = _bars(level.sums[CLIENT], names, title, parts, held[CLIENT])
        least = threshold * level.deviation
        figure.add_hline(y=least, line={"color": INK, "width": 2, "dash": "dot"})
        figure.update_yaxes(
            domain=[0.74, 1], title=_("sums, client {k}").format(k=CLIENT), automargin=True
        )
        figure.update_xaxes(title="", anchor="y")
        _curves(figure, levels, [right[threshold, one] for one in levels], noise)
        return _describe_axis(figure, levels, right, (noise, threshold), words)

    tips = (
        _("noise of each entry of a move, in units of κ"),
        _("in standard deviations of the noise in a sum"),
    )
    return Idea(
        draw,
        {
            "noise": slider(_("noise s"), attack.LEVELS, 0.0, tips[0]),
            "threshold": slider(_("threshold, SD"), THRESHOLDS, 1.5, tips[1]),
        },
    )


def _curves(
    figure: go.Figure, levels: Mapping[float, attack.Level], right: Sequence[float], now: float
) -> None:
    """Add below the bars what attacks find, and below this what training reaches, with a line at
    the noise of ``now``.
    """
    x = np.maximum(list(levels), _ZERO)
    attacks = {
        _("labels read"): list(right),
        _("clusters, same sums"): [level.of_sums for level in levels.values()],
        _("clusters, all entries"): [level.of_all for level in levels.values()],
    }
    for name, values in attacks.items():
        add_curve(figure, x, values, name, _LOOKS[name], xaxis="x2", yaxis="y2")
        place = {"x": _half_way(x, values), "y": 0.5 * values[0], "xref": "x2", "yref": "y2"}
        figure.add_annotation(
            **place,
            text=name,
            font={"color": _LOOKS[name].colour},
            bgcolor=rgba(PAPER, 0.8),
            showarrow=False,
            yshift=_SHIFTS[name],
            xanchor="left" if _SHIFTS[name] >= 0 else "right",
        )
    accuracy = [level.accuracy for level in levels.values()]
    name = _("accuracy")
    add_curve(figure, x, accuracy, name, _LOOKS[name], xaxis="x3", yaxis="y3")
    for axes, low, high in (("2", -0.05, 1.08), ("3", 0.0, 1.0)):
        figure.add_shape(
            type="line",
            x0=max(now, _ZERO),
            x1=max(now, _ZERO),
            y0=low,
            y1=high,
            xref=f"x{axes}",
            yref=f"y{axes}",
            line={"color": GREY, "width": 6},
            opacity=0.3,
        )
    _lay_out(figure, [level for level in levels if level])


def _lay_out(figure: go.Figure, levels: Sequence[float]) -> None:
    """The axes of both panels of curves; ``levels`` of noise above zero."""
    axis = {
        "type": "log",
        "tickvals": [_ZERO, *levels],
        "range": [np.log10(_ZERO) - 0.15, 0.15],
    }
    of_move = ["0", *(f"{level:g}" for level in levels)]
    of_sum = ["0", *(f"{10 * level:g}" for level in levels)]
    figure.update_layout(
        height=780,
        xaxis2=axis
        | {"anchor": "y2", "ticktext": of_move, "title": _("noise s of each move, round 1")},
        yaxis2={
            "domain": [0.35, 0.65],
            "anchor": "x2",
            "range": [-0.05, 1.08],
            "title": _("attacks: share, index"),
        },
        xaxis3=axis
        | {
            "anchor": "y3",
            "ticktext": of_sum,
            "title": _("σ in the sum, if each client adds s = σ/10 ({rounds} rounds)").format(
                rounds=attack.ROUNDS
            ),
        },
        yaxis3={
            "domain": [0, 0.22],
            "anchor": "x3",
            "range": [0, 1],
            "tickformat": ".0%",
            "title": _("test accuracy"),
        },
    )


_SHIFTS = {_("labels read"): 22, _("clusters, same sums"): -22, _("clusters, all entries"): 0}


def _half_way(x: np.ndarray, values: Sequence[float]) -> float:
    """The logarithm of x where a falling curve has lost half of its first value, or the last."""
    half = 0.5 * values[0]
    place = next((i for i, value in enumerate(values) if value < half), len(values) - 1)
    ends = values[place - 1], values[place]
    share = (ends[0] - half) / (ends[0] - ends[1]) if ends[0] > ends[1] else 1.0
    low, high = np.log10(x[place - 1]), np.log10(x[place])
    return float(low + min(max(share, 0.0), 1.0) * (high - low))


def _bars(
    moves: Any,
    names: Sequence[str],
    title: str,
    parts: Mapping[str, np.ndarray],
    held: np.ndarray | None = None,
) -> go.Figure:
    """Bars of ``moves`` [C], full where the label is named; the word "held" at those that the
    client holds.
    """
    moved = np.asarray(moves, dtype=float)
    labels = np.array(names)
    figure = new_figure(
        title=title, x_title=_("label"), y_title=_("move of its bias"), height=360, legend=False
    )
    looks = {_("move"): (GREY, ""), _("named"): (GROUPS[0], ""), _("not named"): (GREY, "/")}
    for name, chosen in parts.items():
        colour, pattern = looks[name]
        marker = {"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}}
        figure.add_bar(
            x=labels[chosen].tolist(),
            y=moved[chosen],
            name=name,
            marker=marker,
            hovertemplate=_("label %{x}<br>move %{y:.3g}"),
        )
        if held is not None:
            figure.data[-1].text = [_("held") if one else "" for one in held[chosen]]
            figure.data[-1].textposition = "outside"
            figure.data[-1].cliponaxis = False
            figure.data[-1].textfont = {"color": INK}
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=list(names))
    reach = 1.25 * np.abs(moved).max()
    figure.update_yaxes(range=[-reach, reach], zeroline=True)
    return figure


def _named(labels_seen: Callable[[Any, Any], Any], moves: Any) -> np.ndarray:
    after = np.asarray(moves, dtype=float)
    said = np.zeros(len(after), dtype=bool)
    said[np.asarray(list(labels_seen(np.zeros(len(after)), after)), dtype=int)] = True
    return said


def _yes(truth: Any) -> str:
    return _("yes") if truth else _("no")


def _describe_axis(
    figure: go.Figure,
    levels: Mapping[float, attack.Level],
    right: Mapping[tuple[float, float], float],
    now: tuple[float, float],
    words: str,
) -> go.Figure:
    noise, threshold = now
    level = levels[noise]
    text = _(
        "Noise s = {noise:g}, {words}. With a threshold of {threshold:g} standard deviations the "
        "labels of {right:.0%} of the clients are named without a fault. The "
        "adjusted Rand index of clusters is {of_sums:.2f} for the ten sums and "
        "{of_all:.2f} for all entries. Training reaches {accuracy:.1%}."
    ).format(
        noise=noise,
        words=words,
        threshold=threshold,
        right=right[threshold, noise],
        of_sums=level.of_sums,
        of_all=level.of_all,
        accuracy=level.accuracy,
    )
    rows = [
        [
            f"{one:g}",
            *(f"{right[z, one]:.0%}" for z in THRESHOLDS),
            f"{found.of_sums:.2f}",
            f"{found.of_all:.2f}",
            f"{found.accuracy:.1%}",
        ]
        for one, found in levels.items()
    ]
    heads = [_("read, threshold {z:g}").format(z=z) for z in THRESHOLDS]
    last = [_("clusters, sums"), _("all entries"), _("accuracy")]
    set_description(figure, text, ["s", *heads, *last], rows)
    return figure
