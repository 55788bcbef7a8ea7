"""The p-values of all statements in order, and which of them the reader's correction keeps."""

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch14_what_holds.dragged import LEVEL, Stands
from fedlab_course.check import own
from fedlab_course.evidence import judging

_ = translator(__name__)

_LEAST = 1e-6  # smaller p-values are drawn here
_NAMES = {"Holm": 195}  # the rank at which a limit has its name
_NAME = 164  # of the others
_FROM = 90  # the first rank that is drawn: those before it have p-values near zero


def kept(stands: Stands) -> tuple[list[bool], list[bool]]:
    """Which statements the reader's correction keeps, and which the stored one does."""
    findings = [row.finding for row in judging.stored().values()]
    p = np.array([finding.p for finding in findings])
    return list(map(bool, stands(p, LEVEL))), [finding.corrected for finding in findings]


def ordered(stands: Stands) -> go.Figure:
    """p-values from the smallest on, filled where ``stands`` keeps them, beside three limits: none,
    Bonferroni's and Holm's.
    """
    mine = kept(stands)[0]
    p = np.array([row.finding.p for row in judging.stored().values()])
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, len(p) + 1)
    is_kept = np.array(mine)[order]
    y = np.maximum(p[order], _LEAST)
    figure = new_figure(
        title=_("{kept} of {all} are kept, {whose}").format(
            kept=sum(mine), all=len(p), whose=own.whose(stands)
        ),
        x_title=_("place of a statement, from the smallest p-value"),
        y_title=_("p-value"),
        legend=False,
    )
    _add_limits(figure, rank)
    symbols = np.where(is_kept, "circle", "circle-open")
    marker = {"color": GROUPS[0], "symbol": symbols.tolist(), "size": 7}
    figure.add_scatter(x=rank, y=y, mode="markers", marker=marker, name=_("statement"))
    figure.update_xaxes(range=[_FROM, len(p) + 1])
    figure.update_yaxes(
        type="log", range=[np.log10(_LEAST) - 0.2, 0.2], dtick=1, exponentformat="power"
    )
    plain = int((p <= LEVEL).sum())
    strict = int((p <= LEVEL / len(p)).sum())
    _describe(figure, len(p), plain, strict, sum(mine), own.whose(stands))
    return figure


def _describe(
    figure: go.Figure, count: int, plain: int, strict: int, mine: int, whose: str
) -> None:
    """Say how many of ``count`` statements each rule keeps."""
    text = _(
        "p-values of {count} statements in their order, {whose}. Filled: kept, {kept}. Without a "
        "correction {plain} are below the level, and Bonferroni's limit keeps {strict}."
    ).format(count=count, whose=whose, kept=mine, plain=plain, strict=strict)
    rows = [[_("no correction"), plain], ["Bonferroni", strict], ["stands", mine]]
    set_description(figure, text, [_("rule"), _("statements kept")], rows)


def _add_limits(figure: go.Figure, rank: np.ndarray) -> None:
    """Add the three limits over the ``rank`` of a statement [m], each with its name."""
    limits = {
        _("no correction"): (np.full(len(rank), LEVEL), GREY, "9px,3px", 14),
        "Holm": (LEVEL / (len(rank) - rank + 1), INK, "solid", -12),
        "Bonferroni": (np.full(len(rank), LEVEL / len(rank)), GREY, "1.5px,4px", -14),
    }
    for name, (values, colour, dash, shift) in limits.items():
        line = {"color": colour, "dash": dash, "width": 2}
        figure.add_scatter(x=rank, y=values, mode="lines", line=line, name=name)
        figure.add_annotation(
            x=_NAMES.get(name, _NAME),
            y=np.log10(values[_NAMES.get(name, _NAME)]),
            text=name,
            xanchor="left",
            yshift=shift,
            font={"color": colour},
            bgcolor=rgba(PAPER, 0.8),
            showarrow=False,
        )
