"""Drift and noise of FedAvg on two quadratics, measured with the reader's round and by formulas."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course import comparison_figures
from fedlab_course.check import own
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider, slider_of
from fedlab_course.theory import fedavg_path

_ = translator(__name__)

Round = Callable[[np.ndarray, np.ndarray, np.ndarray, float, np.ndarray], np.ndarray]
A = np.array([[1.0], [3.0]])
B = np.array([[0.0], [1.0]])
OPTIMUM = 0.75  # where F is lowest; F has curvature 2, so F − F* = (w − 0.75)²
GAMMA = 24  # 8 L/μ_F, as [004] has it
TOTAL = 30_000  # local steps
RUNS = 200
_SIGMAS = (0.05, 0.1, 0.2)
_FIRST = 60  # local steps of the first point
_POINTS = 14
_DRIFT = GROUPS[2]
_NOISE = GROUPS[0]
_BOTTOM = 1e-10
_BOUND_TOP = 1e3
_TOP = 3e-2
_STEPS_TITLE = _("local steps")


class Parts(NamedTuple):
    """The two parts of the mean of F(w) − F(w*) after some local ``steps`` [n]: ``drift`` [n], and
    ``noise`` [n] of gradients with a variance of 1.
    """

    steps: np.ndarray
    drift: np.ndarray
    noise: np.ndarray


def falling_rate(steps: Any) -> Any:
    """The rate 2/(μ_F (i + γ)) after so many local ``steps`` i; μ_F = 1."""
    return 2 / (np.asarray(steps) + GAMMA)


def crossing(tau: int, sigma: float) -> float:
    """After how many local steps i both lines are equally high: (τ − 1)²/4 (i + γ)² is then
    2 σ²/7 (i + γ).
    """
    return 7 * (tau - 1) ** 2 / (8 * sigma**2) - GAMMA


def bound(steps: np.ndarray, tau: int, sigma: float) -> np.ndarray:
    """H/(i + γ), which theorem 1 of Li et al. (2020) proves for these clients after ``steps`` i [n]
    from w = 0.

    H = L/μ_F (2 (σ²/2 + 6 L Γ + 8 (τ − 1)² G²) + γ w*²/2) with μ_F = 1, L = 3, Γ = 3/16 and
    G² = 9 + σ², the mean square of the steepest gradient of the run.
    """
    spread = sigma**2 / 2 + 6 * 3 * 3 / 16 + 8 * (tau - 1) ** 2 * (9 + sigma**2)
    return 3 * (2 * spread + GAMMA * OPTIMUM**2 / 2) / (np.asarray(steps) + GAMMA)


def measured(one_round: Round, tau: int, seed: int = 0) -> Parts:
    """Run ``one_round`` with the falling rate: once without noise, and side by side with noise."""
    rng = np.random.default_rng([seed, tau])
    w = np.zeros(1 + RUNS)
    marks = _marks(tau)
    after = []
    for number in range(1, marks[-1] + 1):
        noise = rng.normal(size=(tau, 2, 1 + RUNS))
        noise[:, :, 0] = 0.0
        w = np.asarray(one_round(w, A, B, float(falling_rate((number - 1) * tau)), noise))
        if number in marks:
            after.append(w)
    exact = np.array(after)[:, :1]
    apart = np.array(after)[:, 1:] - exact
    return Parts(marks * tau, (exact[:, 0] - OPTIMUM) ** 2, (apart**2).mean(axis=1))


@cache
def expected(tau: int) -> Parts:
    """The same by formulas: w and its variance, round by round."""
    rounds = np.arange(TOTAL // tau)
    rates = falling_rate(rounds * tau)[:, None]
    left = 1 - rates * A[:, 0]  # of the way, in a local step
    path = fedavg_path(A[:, 0], B[:, 0], rates[:, 0], tau)
    added = (rates**2 * (1 - left ** (2 * tau)) / (1 - left**2)).sum(axis=1) / 4
    kept = (left**tau).mean(axis=1) ** 2
    variance = [0.0]
    for share, new in zip(kept.tolist(), added.tolist(), strict=True):
        variance.append(share * variance[-1] + new)
    marks = _marks(tau)
    return Parts(marks * tau, (path[marks] - OPTIMUM) ** 2, np.array(variance)[marks])


def _marks(tau: int) -> np.ndarray:
    """The rounds after which the errors are shown."""
    steps = np.geomspace(_FIRST, TOTAL, _POINTS)
    rounds: np.ndarray = np.unique((steps / tau).round().astype(int))
    return rounds[rounds <= TOTAL // tau]


def bend() -> Idea:
    """The mean error of FedAvg with noisy gradients and a falling rate. Slider ``tau``."""

    def draw(tau: int) -> go.Figure:
        parts = expected(tau)
        error = parts.drift + 0.01 * parts.noise
        name = f"τ = {tau}"
        curves = {name: (parts.steps, error, INK, "solid")}
        if tau != 1:
            first = expected(1)
            curves["τ = 1"] = (first.steps, first.drift + 0.01 * first.noise, GREY, "9px,3px")
        words = _("FedAvg with {tau} local steps a round")
        if tau == 1:
            words = _("FedAvg with 1 local step a round")
        title = words.format(tau=tau)
        return _curves(curves, title, _("mean of F(w) − F(w*)"), (1e-8, _TOP))

    return Idea(draw, {"tau": slider_of("local_steps", "bound", value=5)})


def rates(one_round: Round) -> go.Figure:
    """F(w) − F(w*) without noise, with ten local steps, at two constant rates and at the falling
    one, and a triangle of the slope −2.
    """
    tau = 10
    marks = _marks(tau)
    curves = {}
    silent = np.zeros((tau, 2, 1))
    given: dict[str, Callable[[int], float]] = {
        "η = 0.1": lambda steps: 0.1,
        "η = 0.05": lambda steps: 0.05,
        _("falling"): lambda steps: float(falling_rate(steps)),
    }
    looks = ((INK, "9px,3px"), (GREY, "4px,3px"), (_DRIFT, "solid"))
    for (name, rate), (colour, dash) in zip(given.items(), looks, strict=True):
        w = np.zeros(1)
        path = []
        for number in range(marks[-1]):
            w = np.asarray(one_round(w, A, B, rate(number * tau), silent))
            path.append((float(w[0]) - OPTIMUM) ** 2)
        curves[name] = (marks * tau, np.array(path)[marks - 1], colour, dash)
    title = _("No noise, τ = {tau}, {words}").format(tau=tau, words=own.whose(one_round))
    figure = _curves(curves, title, "F(w) − F(w*)", (1e-9, 0.3))
    _add_slope(figure, (1000.0, float(np.interp(1000, *curves[_("falling")][:2]))))
    return figure


def _add_slope(figure: go.Figure, start: tuple[float, float]) -> None:
    """Add a triangle of the slope −2 that is ten times as long, below a curve that is at ``start``
    (x, y).
    """
    x, y = start[0], start[1] / 10
    line = {"color": GREY, "width": 1.5}
    figure.add_scatter(
        x=[x, x, 10 * x, x],
        y=[y, y / 100, y / 100, y],
        mode="lines",
        line=line,
        name=_("slope −2"),
        hoverinfo="skip",
    )
    note = {"text": _("slope −2"), "font": {"color": GREY}, "showarrow": False, "yanchor": "top"}
    figure.add_annotation(x=np.log10(x) + 0.5, y=np.log10(y / 100), **note)


def two_lines(one_round: Round, seed: int = 0) -> Idea:
    """Drift and noise of the reader's round as dots, with the lines of the derivation. Sliders
    ``tau`` and ``sigma``, the standard deviation of the noise.
    """
    found: dict[int, Parts] = {}

    def draw(tau: int, sigma: float) -> go.Figure:
        if tau not in found:
            found[tau] = measured(one_round, tau, seed)
        return _two_lines(found[tau], tau, sigma, own.whose(one_round))

    sliders = {
        "tau": slider_of("local_steps", "two lines"),
        "sigma": slider(_("noise σ"), _SIGMAS, 0.1, _("Standard deviation of a gradient")),
    }
    return Idea(draw, sliders)


def _two_lines(parts: Parts, tau: int, sigma: float, words: str) -> go.Figure:
    steps, drift, noise = parts.steps, parts.drift, sigma**2 * parts.noise
    later = steps + GAMMA
    curves = {
        _("drift"): (steps, (tau - 1) ** 2 / (4 * later**2), _DRIFT, "9px,3px"),
        _("noise"): (steps, 2 * sigma**2 / (7 * later), _NOISE, "4px,3px"),
        _("bound"): (steps, bound(steps, tau, sigma), GREY, "solid"),
    }
    place = crossing(tau, sigma)
    title = _("τ = {tau}, σ = {sigma:g}, {words}").format(tau=tau, sigma=sigma, words=words)
    figure = _curves(curves, title, _("mean of F(w) − F(w*)"), (_BOTTOM, _BOUND_TOP))
    figure.update_yaxes(dtick=2)
    for values, colour, symbol in ((drift, _DRIFT, "circle"), (noise, _NOISE, "square")):
        marker = {"color": colour, "size": 9, "symbol": symbol}
        figure.add_scatter(x=steps, y=values, mode="markers", marker=marker)
    line = {"color": INK, "width": 1.5}
    figure.add_scatter(x=steps, y=drift + noise, name=_("both"), mode="lines", line=line)
    height = np.log10(drift[0] + noise[0])
    note = {"text": _("sum of both"), "showarrow": False, "xanchor": "left", "yshift": 16}
    figure.add_annotation(x=np.log10(steps[0]), y=height, **note)
    if steps[0] < place < TOTAL:
        figure.add_vline(x=place, line={"color": GREY, "width": 2, "dash": "dot"})
        words_there = _("they cross after<br>{place:,.0f} steps").format(place=place)
        note = {"text": words_there, "font": {"color": GREY}}
        figure.add_annotation(
            x=np.log10(place), y=0.03, yref="paper", showarrow=False, xanchor="right", **note
        )
    _describe_lines(figure, Parts(steps, drift, noise), tau, sigma, words)
    return figure


def _describe_lines(figure: go.Figure, parts: Parts, tau: int, sigma: float, words: str) -> None:
    """Put the two lines into words. ``parts.noise``: of gradients with the deviation ``sigma``."""
    rows = [
        [f"{step:,}", *(f"{value:.2e}" for value in values)]
        for step, *values in zip(*parts, strict=True)
    ]
    text = _(
        "Two parts of the error against local steps, {words}, both axes logarithmic. Drift falls "
        "with slope −2, noise with slope −1. With τ = {tau} and σ = {sigma:g} the lines cross "
        "after {place:,.0f} steps. Drift from {drift_first} to {drift_last}, noise from "
        "{noise_first} to {noise_last}. The bound ends at {bound:.2g}."
    ).format(
        words=words,
        tau=tau,
        sigma=sigma,
        place=crossing(tau, sigma),
        drift_first=rows[0][1],
        drift_last=rows[-1][1],
        noise_first=rows[0][2],
        noise_last=rows[-1][2],
        bound=bound(parts.steps, tau, sigma)[-1],
    )
    set_description(figure, text, [_("local steps"), _("drift"), _("noise")], rows)


def _curves(
    curves: Mapping[str, tuple[np.ndarray, np.ndarray, str, str]],
    title: str,
    y_title: str,
    limits: tuple[float, float],
) -> go.Figure:
    """Curves on two logarithmic axes, named at their ends: x [n], y [n], colour and dash."""
    figure = new_figure(title=title, x_title=_STEPS_TITLE, y_title=y_title, legend=False)
    ends = {}
    rows = []
    for name, (x, y, colour, dash) in curves.items():
        line = {"color": colour, "width": 3, "dash": dash}
        hover = _("%{x:,} steps: %{y:.2e}")
        figure.add_scatter(x=x, y=y, name=name, mode="lines", line=line, hovertemplate=hover)
        ends[name] = (float(np.log10(x[-1])), float(np.log10(y[-1])))
        slope = np.polyfit(np.log(x[-5:]), np.log(y[-5:]), 1)[0]
        rows.append([name, f"{y[0]:.2e}", f"{y[-1]:.2e}", f"{slope:+.2f}"])
    low, high = np.log10(limits)
    figure.update_xaxes(type="log", dtick=1)
    figure.update_yaxes(type="log", dtick=1, exponentformat="power", range=[low, high])
    colours = {name: colour for name, (_x, _y, colour, _dash) in curves.items()}
    comparison_figures.name_ends(figure, ends, colours, high - low)
    phrase = _("{name} from {first} to {last}, last slope {slope}")
    told = _("; ").join(
        phrase.format(name=name, first=first, last=last, slope=slope)
        for name, first, last, slope in rows
    )
    text = _("{quantity} against local steps, both axes logarithmic. {phrases}.").format(
        quantity=y_title, phrases=told
    )
    set_description(figure, text, [_("curve"), _("first"), _("last"), _("last slope")], rows)
    return figure
