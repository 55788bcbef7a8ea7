"""Mean images: the smallest model of a client, on which the prediction λ⋆ = ν / V is tested.

A client's loss ½ ‖z − image‖² has the mean image as its optimum. Half of its images are kept back.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.data.dataset import Dataset
from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.check import own
from fedlab_course.explore.ideas import Idea, gallery

_ = translator(__name__)

BestPull = Callable[[list[np.ndarray]], float]
DittoPoint = Callable[[float, float, float, float], float]
NUM_CLIENTS = 50
ALPHAS = (0.1, 0.3, 1.0, 10.0)
SEEDS = 40
STRENGTHS = np.geomspace(0.01, 100, 41)
_INFINITE = 400.0  # where λ = ∞ is on a logarithmic axis
_TOP = 2.5
_COLOURS = (GROUPS[0], GROUPS[2], GROUPS[3])
_SYMBOLS = ("circle", "square", "triangle-up")
# lines in the figure of best against predicted λ: factor, dash, name
_RULES = ((0.5, "dot", _("half")), (1.0, "solid", _("equal")), (2.0, "dot", _("double")))

_DROPPED = _(
    "Held-out error over λ for α = {alpha:g}, {whose}. It is least at λ = {best}; the predicted λ "
    "is {predicted}. With ν left in V the prediction is {broken:.2f}. A client alone has "
    "{alone:.2f} times the least error, one model for all {one:.2f} times."
)
_FORTY = _(
    "Dots for 120 federations: the best λ against the predicted one, beside the line where both "
    "are equal and two lines a factor of 2 away. {phrases}."
)


class ClientHalves(NamedTuple):
    """``train``: the images of each client that it trains on, a list of [n_k, P]; ``held_out``: the
    mean of those that were kept back [N, P].
    """

    train: list[np.ndarray]
    held_out: np.ndarray


def halves(data: Dataset, alpha: float, seed: int) -> ClientHalves:
    """The images of 50 clients with label mixes from Dirichlet(α), each client's cut in half."""
    parts = fl.partition.dirichlet(data.train.y, num_clients=NUM_CLIENTS, alpha=alpha, seed=seed)
    images = [data.train.x[part].flatten(1).double().numpy() for part in parts]
    return ClientHalves([x[::2] for x in images], np.array([x[1::2].mean(axis=0) for x in images]))


def federations(data: Dataset, seed: int) -> dict[float, ClientHalves]:
    """The images of one federation for each α."""
    return {alpha: halves(data, alpha, seed) for alpha in ALPHAS}


def held_out_errors(images: ClientHalves, shares: np.ndarray) -> np.ndarray:
    """The mean over clients of ‖z_k − mean held-out image‖², for each share q of ``shares`` [L]:
    z_k = (1 − q) b_k + q w.
    """
    b = np.array([x.mean(axis=0) for x in images.train])
    w = b.mean(axis=0)
    errors = [(((1 - q) * b + q * w - images.held_out) ** 2).sum(axis=1).mean() for q in shares]
    return np.array(errors)


def least(images: ClientHalves) -> float:
    """The λ with the least held-out error, where its derivative in q is zero; infinity if q ≥ 1."""
    b = np.array([x.mean(axis=0) for x in images.train])
    way = b.mean(axis=0) - b
    q = float(((images.held_out - b) * way).sum() / (way**2).sum())
    return max(q, 0.0) / (1 - q) if q < 1 else np.inf


def with_chance(train: Sequence[np.ndarray]) -> float:
    """ν / V for a V from which ν was not taken off: never more than 1, up to the noise of n."""
    b = np.array([x.mean(axis=0) for x in train])
    nu = np.mean([x.var(axis=0, ddof=1).sum() / len(x) for x in train])
    return float(nu / b.var(axis=0, ddof=1).sum())


def line(best_pull: BestPull, images: Mapping[float, ClientHalves]) -> Idea:
    """The λ⋆ that the reader's function predicts for each α, as a line in an empty figure."""
    figures: dict[float, go.Figure] = {}
    for alpha, one in images.items():
        predicted = float(best_pull(one.train))
        figures[alpha] = _frame(alpha, predicted, own.whose(best_pull))
        text = _(
            "An empty figure for α = {alpha:g}, {whose}. A line marks the predicted pull, "
            "λ = {predicted}."
        ).format(alpha=alpha, whose=own.whose(best_pull), predicted=_words(predicted))
        rows = [[f"{alpha:g}", _words(predicted)]]
        set_description(figures[alpha], text, ["α", _("predicted λ")], rows)
    return gallery(figures, _("label mixes α"), value=0.3)


def drop(
    best_pull: BestPull, ditto_point: DittoPoint, images: Mapping[float, ClientHalves]
) -> Idea:
    """The curve of the held-out error over λ beside the predicted line, and beside the line of a V
    that still holds the chance.

    ``ditto_point`` says how far a pull takes a client: it is asked for b = 0 and w = 1.
    """
    shares = np.array([_share_of(ditto_point, value) for value in STRENGTHS])
    whose = own.whose(best_pull, ditto_point)
    figures = {
        alpha: _dropped(alpha, one, float(best_pull(one.train)), shares, whose)
        for alpha, one in images.items()
    }
    return gallery(figures, _("label mixes α"), value=0.3)


def _share_of(ditto_point: DittoPoint, strength: float) -> float:
    """How far a pull of ``strength`` takes a client with a = 1 from 0 towards 1. Only λ / a enters,
    so a strong pull is asked as λ = 1 on a flat valley, on which small steps are stable, too.
    """
    if strength <= 1:
        return float(ditto_point(1.0, 0.0, 1.0, strength))
    return float(ditto_point(1 / strength, 0.0, 1.0, 1.0))


def _dropped(
    alpha: float, images: ClientHalves, predicted: float, shares: np.ndarray, whose: str
) -> go.Figure:
    errors = held_out_errors(images, np.append(shares, 1.0))
    broken = with_chance(images.train)
    x = np.append(STRENGTHS, _INFINITE)
    best = float(x[errors.argmin()])
    relative = errors / errors.min()
    figure = _frame(alpha, predicted, whose)
    figure.add_vline(x=broken, line={"color": GREY, "width": 2, "dash": "5px,4px"})
    _label(
        figure,
        broken,
        2.12,
        _("ν left in V: {broken:.2f}").format(broken=broken),
        GREY,
        right=False,
    )
    curve = {"color": GROUPS[0], "width": 3}
    figure.add_scatter(x=x, y=relative, mode="lines", name=_("held-out error"), line=curve)
    marker = {"color": GROUPS[0], "symbol": "diamond", "size": 13}
    figure.add_scatter(x=[best], y=[1.0], mode="markers", name=_("least"), marker=marker)
    figure.data[-1].hovertemplate = _("least at λ = %{x:.2g}") + "<extra></extra>"
    text = _DROPPED.format(
        alpha=alpha,
        whose=whose,
        best=_words(best if best < _INFINITE else np.inf),
        predicted=_words(predicted),
        broken=broken,
        alone=relative[0],
        one=relative[-1],
    )
    rows = [
        [_words(place if place < _INFINITE else np.inf), f"{value:.3f}"]
        for place, value in zip(x[::4], relative[::4], strict=True)
    ]
    set_description(figure, text, ["λ", _("error / least error")], rows)
    return figure


def forty(best_pull: BestPull, data: Dataset, seed: int) -> tuple[go.Figure, np.ndarray, float]:
    """The best λ against the reader's prediction in 40 federations for each of three α.

    Returns the figure; the best λ divided by the predicted one [120]; and the largest error at a
    predicted λ, divided by the least error.
    """
    figure = new_figure(
        title=_("Best λ against predicted λ, {whose}").format(whose=own.whose(best_pull)),
        x_title=_("predicted λ = ν / V"),
        y_title=_("λ with the least held-out error"),
        legend=False,
    )
    ends = np.array([0.1, 8.0])
    for factor, dash, words in _RULES:
        rule = {"color": GREY, "dash": dash, "width": 1.5}
        figure.add_scatter(x=ends, y=factor * ends, mode="lines", line=rule, hoverinfo="skip")
        _label(figure, 1.2 / factor**0.5, np.log10(1.2 * factor**0.5), words, GREY, right=False)
    ratios = []
    worst = 1.0
    rows = []
    for alpha, colour, symbol in zip(ALPHAS[:3], _COLOURS, _SYMBOLS, strict=True):
        predicted, best, excess = _tested(best_pull, data, alpha, seed)
        marker = {"color": colour, "symbol": symbol, "size": 8, "opacity": 0.75}
        figure.add_scatter(
            x=predicted, y=best, mode="markers", name=f"α = {alpha:g}", marker=marker
        )
        middle = float(np.median(predicted))
        _label(figure, middle, np.log10(0.42 * middle), f"α = {alpha:g}", colour, right=True)
        ratios.append(best / predicted)
        worst = max(worst, float(excess.max()))
        near = int(((ratios[-1] < 2) & (ratios[-1] > 0.5)).sum())
        share = _("{near} of {all}").format(near=near, all=SEEDS)
        rows.append([f"{alpha:g}", f"{middle:.2f}", f"{np.median(best):.2f}", share])
    ticks = [0.1, 0.2, 0.5, 1, 2, 5]
    figure.update_xaxes(type="log", range=[-0.85, 0.85], tickvals=ticks, ticktext=ticks)
    figure.update_yaxes(type="log", range=[-1.05, 0.85], tickvals=ticks, ticktext=ticks)
    _describe_forty(figure, rows)
    return figure, np.concatenate(ratios), worst


def _describe_forty(figure: go.Figure, rows: list[list[str]]) -> None:
    phrase = _("α = {alpha}: medians {predicted} and {best}, near {near}")
    keys = ("alpha", "predicted", "best", "near")
    phrases = [phrase.format(**dict(zip(keys, row, strict=True))) for row in rows]
    columns = ["α", _("median prediction"), _("median best λ"), _("within a factor of 2")]
    set_description(figure, _FORTY.format(phrases=_("; ").join(phrases)), columns, rows)


def _tested(best_pull: BestPull, data: Dataset, alpha: float, seed: int) -> np.ndarray:
    """Of 40 federations: the predicted λ, the best one, and the error at the predicted one divided
    by the least [3, 40].

    One after the other: forty times the 60,000 images of MNIST do not fit into memory.
    """
    found = []
    for number in range(seed, seed + SEEDS):
        images = halves(data, alpha, number)
        predicted = float(best_pull(images.train))
        best = least(images)
        at, at_best = held_out_errors(images, np.array([_share(predicted), _share(best)]))
        found.append([predicted, best, at / at_best])
    return np.array(found).T


def _share(strength: float) -> float:
    """q = λ / (1 + λ), 1 for λ = ∞."""
    return 1.0 if np.isinf(strength) else strength / (1 + strength)


def _frame(alpha: float, predicted: float, whose: str) -> go.Figure:
    """Axes for the error over λ, with a line at the predicted λ."""
    figure = new_figure(
        title=_("Predicted λ at α = {alpha:g}, {whose}").format(alpha=alpha, whose=whose),
        x_title=_("pull λ"),
        y_title=_("held-out error / least error"),
        legend=False,
    )
    place = min(predicted, _INFINITE)
    figure.add_vline(x=place, line={"color": INK, "width": 3})
    words = _("predicted: {value}").format(value=_words(predicted))
    _label(figure, place, 2.35, words, INK, right=place < 30)
    ticks = [0.01, 0.1, 1, 10, 100, _INFINITE]
    names = ["0.01", "0.1", "1", "10", "100", "∞"]
    figure.update_xaxes(type="log", range=[-2.1, 2.75], tickvals=ticks, ticktext=names)
    figure.update_yaxes(range=[0.95, _TOP])
    return figure


def _label(figure: go.Figure, x: float, y: float, words: str, colour: str, *, right: bool) -> None:
    """Write ``words`` at a place on the logarithmic x axis; y is logarithmic if its axis is."""
    figure.add_annotation(
        x=np.log10(x),
        y=y,
        text=words,
        font={"color": colour},
        xanchor="left" if right else "right",
        xshift=6 if right else -6,
        bgcolor=rgba(PAPER, 0.8),
        showarrow=False,
    )


def _words(strength: float) -> str:
    return "∞" if np.isinf(strength) else f"{strength:.2f}"
