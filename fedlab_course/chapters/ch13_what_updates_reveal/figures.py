"""What a move tells of labels: the biases of one client, the same under noise, and the price."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course.chapters.ch13_what_updates_reveal import attack
from fedlab_course.check import own
from fedlab_course.explore.figures import add_curve
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import slider

THRESHOLDS = (0.0, 1.5, 3.0)  # in standard deviations of the noise in a sum
CLIENT = 3  # whose bars are shown under noise
_LOOKS = {
    "accuracy": Look(INK, "solid", "circle"),
    "labels read": Look(GROUPS[0], "9px,3px", "square"),
    "clusters, same sums": Look(GROUPS[2], "5px,2px,1px,2px", "triangle-up"),
    "clusters, all entries": Look(GREY, "1.5px,4px", "diamond"),
}
_SETTING = f"κ = {attack.CLIP:g}, η = {attack.WORK['lr']:g}, one epoch a round"
_ZERO = 0.003  # where s = 0 is on a logarithmic axis


def guess(moves: Any, names: Sequence[str], clients: Sequence[int]) -> Idea:
    """How far the bias of each label moved, [N, C], for some clients: whose labels are not told."""
    figures: dict[float, go.Figure] = {
        k: _bars(moves[k], names, f"Client {k}: which labels?", {"move": np.ones(len(names), bool)})
        for k in clients
    }
    for k, figure in figures.items():
        pairs = list(zip(names, moves[int(k)], strict=True))
        rows = [[name, f"{move:+.2g}"] for name, move in pairs]
        up = ", ".join(name for name, move in pairs if move > 0)
        text = f"Bars for client {k}: how far the bias of each label moved. Upwards: {up}."
        set_description(figure, text, ["label", "move"], rows)
    return gallery(figures, "client")


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
    for place, (split, (moves, mixes)) in enumerate(federations.items()):
        for k in clients:
            named = _named(labels_seen, moves[k])
            held = np.asarray(mixes[k]) > 0
            title = f"{split}, {words}"
            figure = _bars(moves[k], names, title, {"named": named, "not named": ~named}, held)
            rows = [
                [name, f"{move:+.2g}", _yes(said), f"{share:.0%}"]
                for name, move, said, share in zip(names, moves[k], named, mixes[k], strict=True)
            ]
            told = ", ".join(np.array(names)[named]) or "none"
            has = ", ".join(np.array(names)[held])
            text = f"{split}, client {k}, {words}. Named: {told}. The client holds: {has}."
            set_description(figure, text, ["label", "move", "named", "share of its samples"], rows)
            figures[place * len(clients) + list(clients).index(k)] = figure
    return gallery(figures, "client")


def told(labels_seen: attack.Reading, federations: Mapping[str, tuple[Any, Any]]) -> pd.DataFrame:
    """How well the reader's function names the labels of each federation: one row for each."""
    rows = {}
    for split, (moves, mixes) in federations.items():
        held = np.asarray(mixes) > 0
        said = np.array([_named(labels_seen, move) for move in moves])
        right = int((said == held).all(1).sum())
        recall = (said & held).sum() / held.sum()
        rows[split] = {
            "labels held that are named": f"{recall:.0%}",
            "clients named without a fault": f"{right} of {len(held)}",
            "labels named that are not held": int((said & ~held).sum()),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def lengths(make: attack.Make, fed: fl.FederatedDataset, model: Any, seed: int) -> go.Figure:
    """The length of a move before clipping and after it, by the reader's server and by one that
    clips each entry.
    """
    words = own.whose(make)
    found = attack.lengths(make, fed, model, seed)
    figure = new_figure(
        title=f"κ = {attack.CLIP:g}, η = {attack.WORK['lr']:g}, {words}",
        x_title="length of the move",
        y_title="length after clipping",
        height=380,
        legend=False,
    )
    x = found["before"]
    for name, label, look in (
        ("entries", "each entry clipped", Look(GROUPS[2], "9px,3px", "triangle-up")),
        ("moves", "the length clipped", Look(GROUPS[0], "solid", "circle")),
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
    rows = [
        [f"{length:.2f}" for length in row]
        for row in zip(x, found["moves"], found["entries"], strict=True)
    ]
    text = (
        f"Curves: the length of a move after clipping to κ = {attack.CLIP:g}, {words}. The server "
        f"of the exercise never lets more than {max(found['moves']):.2f} through. Where each "
        f"entry is clipped, a move of length {x[-1]:.0f} keeps {found['entries'][-1]:.1f}."
    )
    set_description(figure, text, ["before", "length clipped", "each entry clipped"], rows)
    return figure


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
        parts = {"named": named, "not named": ~named}
        title = f"s = {noise:g}; {_SETTING}, {words}"
        figure = _bars(level.sums[CLIENT], names, title, parts, held[CLIENT])
        least = threshold * level.deviation
        figure.add_hline(y=least, line={"color": INK, "width": 2, "dash": "dot"})
        figure.update_yaxes(domain=[0.74, 1], title=f"sums, client {CLIENT}", automargin=True)
        figure.update_xaxes(title="", anchor="y")
        _curves(figure, levels, [right[threshold, one] for one in levels], noise)
        return _describe_axis(figure, levels, right, (noise, threshold), words)

    tips = (
        "noise of each entry of a move, in units of κ",
        "in standard deviations of the noise in a sum",
    )
    return Idea(
        draw,
        {
            "noise": slider("noise s", attack.LEVELS, 0.0, tips[0]),
            "threshold": slider("threshold, SD", THRESHOLDS, 1.5, tips[1]),
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
        "labels read": list(right),
        "clusters, same sums": [level.of_sums for level in levels.values()],
        "clusters, all entries": [level.of_all for level in levels.values()],
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
    add_curve(figure, x, accuracy, "accuracy", _LOOKS["accuracy"], xaxis="x3", yaxis="y3")
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
        | {"anchor": "y2", "ticktext": of_move, "title": "noise s of each move, round 1"},
        yaxis2={
            "domain": [0.35, 0.65],
            "anchor": "x2",
            "range": [-0.05, 1.08],
            "title": "attacks: share, index",
        },
        xaxis3=axis
        | {
            "anchor": "y3",
            "ticktext": of_sum,
            "title": f"σ in the sum, if each client adds s = σ/10 ({attack.ROUNDS} rounds)",
        },
        yaxis3={
            "domain": [0, 0.22],
            "anchor": "x3",
            "range": [0, 1],
            "tickformat": ".0%",
            "title": "test accuracy",
        },
    )


_SHIFTS = {"labels read": 22, "clusters, same sums": -22, "clusters, all entries": 0}


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
        title=title, x_title="label", y_title="move of its bias", height=360, legend=False
    )
    looks = {"move": (GREY, ""), "named": (GROUPS[0], ""), "not named": (GREY, "/")}
    for name, chosen in parts.items():
        colour, pattern = looks[name]
        marker = {"color": colour, "pattern": {"shape": pattern, "solidity": 0.3}}
        figure.add_bar(
            x=labels[chosen].tolist(),
            y=moved[chosen],
            name=name,
            marker=marker,
            hovertemplate="label %{x}<br>move %{y:.3g}",
        )
        if held is not None:
            figure.data[-1].text = ["held" if one else "" for one in held[chosen]]
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
    return "yes" if truth else "no"


def _describe_axis(
    figure: go.Figure,
    levels: Mapping[float, attack.Level],
    right: Mapping[tuple[float, float], float],
    now: tuple[float, float],
    words: str,
) -> go.Figure:
    noise, threshold = now
    level = levels[noise]
    text = (
        f"Noise s = {noise:g}, {words}. With a threshold of {threshold:g} standard deviations the "
        f"labels of {right[threshold, noise]:.0%} of the clients are named without a fault. The "
        f"adjusted Rand index of clusters is {level.of_sums:.2f} for the ten sums and "
        f"{level.of_all:.2f} for all entries. Training reaches {level.accuracy:.1%}."
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
    heads = [f"read, threshold {z:g}" for z in THRESHOLDS]
    set_description(figure, text, ["s", *heads, "clusters, sums", "all entries", "accuracy"], rows)
    return figure
