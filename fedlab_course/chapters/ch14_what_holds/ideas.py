"""Explorer: which verdict an interval gets, as the margin δ and the number of seeds are moved."""

from collections.abc import Sequence

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.style import set_description
from fedlab_course.chapters.ch14_what_holds import interval_rows
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
_LEAST = 0.05  # the horizontal axis ends between these accuracies
_MOST = 0.25
_ROW = 68  # pixels


def first_claim() -> Idea:
    """:func:`margin` of the first claim: how far SCAFFOLD ends above FedProx."""
    numbers = tables.numbers(judging.stored()["000-1a"].statement)
    return margin(list(numbers.values()), _("accuracy at the end, SCAFFOLD minus FedProx"))


def margin(differences: Sequence[float], name: str, *, delta: float = 1.0) -> Idea:
    """The verdict on the first of paired ``differences`` [n], n ≥ 2, at a margin. ``name``: what
    the differences are. Sliders ``delta``, in points, and ``seeds``.

    The figure shows the differences, their 95 % interval and the band from −δ to δ. The goal is a
    margin at which all of the differences are equivalent to zero.
    """
    seeds = [*(count for count in _SEEDS if count < len(differences)), len(differences)]
    sliders = {
        "delta": slider(_("δ in points"), _POINTS, delta, _("Less than this does not matter here")),
        "seeds": slider(_("seeds"), seeds, len(differences), _("How many of the runs count")),
    }

    def check(delta: float, seeds: int) -> bool:
        verdict = _judged(differences, delta / 100).verdict
        return int(seeds) == len(differences) and verdict == "equivalent"

    goal = Goal(
        _("with all {count} seeds, find a δ that says: equivalent").format(count=len(differences)),
        check,
    )

    def draw(delta: float, seeds: int) -> go.Figure:
        return _figure(differences[: int(seeds)], delta / 100, name)

    return Idea(draw, sliders, goal=goal)


def _judged(values: Sequence[float], delta: float) -> Finding:
    return judge("here", values, delta, expect="positive", planned=len(values))


def _figure(values: Sequence[float], delta: float, name: str) -> go.Figure:
    finding = _judged(values, delta)
    title = _("{verdict}: {count} seeds, δ = {delta}").format(
        verdict=WORDS[finding.verdict], count=len(values), delta=_points(delta)
    )
    rows = [_("mean and<br>95 % interval"), _("the seeds")]
    figure = interval_rows.empty(title, name, rows, band=delta, row=_ROW)
    interval = (finding.mean, finding.low, finding.high)
    interval_rows.add_interval(figure, 0, interval, finding.verdict)
    interval_rows.add_seeds(figure, 1, values, finding.verdict, below=0, size=17)
    ends = [abs(value) for value in (*values, finding.low, finding.high)]
    reach = min(_MOST, 1.1 * max(_LEAST, *ends))
    figure.update_xaxes(range=[-reach, reach], tickvals=_TICKS, ticktext=[*map(_points, _TICKS)])
    _describe(figure, finding, delta)
    return figure


def _describe(figure: go.Figure, finding: Finding, delta: float) -> None:
    verdict = WORDS[finding.verdict]
    ends = (finding.mean, finding.low, finding.high)
    mean, low, high = (f"{100 * value:+.2f}" for value in ends)  # points
    text = _(
        "{verdict}: with {count} seeds the mean is {mean} and the 95 % interval goes from {low} to "
        "{high} points; the band is ±{delta}."
    ).format(verdict=verdict, count=finding.n, mean=mean, low=low, high=high, delta=_points(delta))
    row = [f"{finding.n}", _points(delta), mean, low, high, verdict]
    columns = [_("seeds"), "δ", _("mean"), _("low"), _("high"), _("verdict")]
    set_description(figure, text, columns, [row])


def _points(accuracy: float) -> str:
    """An accuracy in words, such as "1 point" and "−2 points"."""
    points = 100 * accuracy
    text = f"{points:g}".replace("-", "−")
    return (_("{number} point") if points == 1 else _("{number} points")).format(number=text)
