"""Explorer: which verdict an interval gets, as the margin δ and the number of seeds are moved."""

from collections.abc import Sequence

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import judging, tables
from fedlab_course.evidence.judging import Finding, judge
from fedlab_course.evidence.shown import WORDS
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_ = translator(__name__)

_POINTS = (0.2, 0.5, 1.0, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0)  # margins, in points
_SEEDS = (2, 5, 10)
_TICKS = [place / 100 for place in range(-24, 25, 2)]  # accuracies


def first_claim() -> Idea:
    """:func:`margin` of the first claim: how far SCAFFOLD ends above FedProx."""
    numbers = tables.numbers(judging.stored()["000-1a"].statement)
    return margin(list(numbers.values()), _("accuracy at the end, SCAFFOLD minus FedProx"))


def margin(differences: Sequence[float], name: str, *, delta: float = 1.0) -> Idea:
    """The verdict on the first of paired ``differences`` [n], n ≥ 2, at a margin. ``name``: what
    the differences are. Sliders ``delta``, in points, and ``seeds``.

    The figure shows the differences, their 95 % interval and the strip from −δ to δ. The goal is a
    margin at which all of the differences are equivalent to zero.
    """
    seeds = [*(count for count in _SEEDS if count < len(differences)), len(differences)]
    sliders = {
        "delta": slider(_("δ in points"), _POINTS, delta, _("Less than this counts as nothing")),
        "seeds": slider(_("seeds"), seeds, len(differences), _("How many of the runs count")),
    }

    def check(delta: float, seeds: int) -> bool:
        verdict = _verdict(differences, delta / 100).verdict
        return int(seeds) == len(differences) and verdict == "equivalent"

    goal = Goal(
        _("with all {count} seeds, find a δ that says: equivalent").format(count=len(differences)),
        check,
    )

    def draw(delta: float, seeds: int) -> go.Figure:
        return _figure(differences[: int(seeds)], delta / 100, name)

    return Idea(draw, sliders, goal=goal)


def _verdict(values: Sequence[float], delta: float) -> Finding:
    return judge("here", values, delta, expect="positive", planned=len(values))


def _figure(values: Sequence[float], delta: float, name: str) -> go.Figure:
    verdict = _verdict(values, delta)
    word = WORDS[verdict.verdict]
    figure = new_figure(
        title=_("{word}: {count} seeds, δ = {delta}").format(
            word=word, count=len(values), delta=_points(delta)
        ),
        x_title=name,
        y_title="",
        height=270,
        legend=False,
    )
    figure.add_vrect(x0=-delta, x1=delta, fillcolor=rgba(GREY, 0.16), line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    _add_strokes(figure, values)
    bar = {
        "type": "data",
        "array": [verdict.high - verdict.mean],
        "color": GROUPS[0],
        "thickness": 2.5,
        "width": 7,
    }
    about = {
        "name": _("mean and 95 % interval"),
        "marker": {"color": GROUPS[0], "size": 12},
        "error_x": bar,
    }
    figure.add_scatter(x=[verdict.mean], y=[_("mean")], mode="markers", **about)
    reach = min(
        0.25, 1.1 * max(0.05, *(abs(value) for value in (*values, verdict.low, verdict.high)))
    )
    figure.update_xaxes(range=[-reach, reach], tickvals=_TICKS, ticktext=[*map(_points, _TICKS)])
    figure.update_yaxes(type="category", range=[-0.6, 1.6], showline=False, ticks="")
    _describe(figure, verdict, delta)
    return figure


def _describe(figure: go.Figure, verdict: Finding, delta: float) -> None:
    word = WORDS[verdict.verdict]
    ends = (verdict.mean, verdict.low, verdict.high)
    mean, low, high = (f"{100 * value:+.2f}" for value in ends)  # points
    text = _(
        "{word}: with {count} seeds the mean is {mean} and the 95 % interval goes from {low} to "
        "{high} points; the strip is ±{delta}."
    ).format(word=word, count=verdict.n, mean=mean, low=low, high=high, delta=_points(delta))
    row = [f"{verdict.n}", _points(delta), mean, low, high, word]
    columns = [_("seeds"), "δ", _("mean"), _("low"), _("high"), _("verdict")]
    set_description(figure, text, columns, [row])


def _points(accuracy: float) -> str:
    """An accuracy in words, such as "1 point" and "−2 points"."""
    points = 100 * accuracy
    text = f"{points:g}".replace("-", "−")
    return (_("{number} point") if points == 1 else _("{number} points")).format(number=text)


def _add_strokes(figure: go.Figure, values: Sequence[float]) -> None:
    """Add a stroke for each seed."""
    stroke = {"symbol": "line-ns-open", "size": 17, "color": GROUPS[0], "line": {"width": 2.5}}
    figure.add_scatter(
        x=list(values),
        y=[_("seeds")] * len(values),
        mode="markers",
        marker=stroke,
        name=_("one seed"),
    )
