"""p-values: one of them as a share of simulated means, and those of all statements in order."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, GROUPS, INK, PAPER, VERDICTS, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch14_what_holds.dragged import LEVEL, Correct, kept_by
from fedlab_course.check import own
from fedlab_course.evidence import judging

_ = translator(__name__)

_BIN = 0.25  # standard errors
_FARTHEST = 5.0
_LEAST = 1e-6  # smaller p-values are left out
_NAMES = {"Holm": 0.76}  # share of the axis at which a limit has its name
_NAME = 0.5  # of the others


def picture(simulated: np.ndarray, above: Sequence[float]) -> go.Figure:
    """Draw the p-value of a mean as the share of ``simulated`` means [S] that are as far above the
    edge of the verdict as ours, all in standard errors. ``above``: how far our numbers are above
    this edge, one a seed [n].
    """
    values = np.asarray(above, dtype=float)
    ours = float(values.mean() / (values.std(ddof=1) / np.sqrt(len(values))))
    is_far = simulated >= ours
    share = float(is_far.mean())
    figure = new_figure(
        title=_("p ≈ {share:.3f}: {count} of {all} means as far").format(
            count=f"{int(is_far.sum()):,}", all=f"{len(simulated):,}", share=share
        ),
        x_title=_("standard errors above the edge, if the true number is at the edge"),
        y_title=_("simulated means"),
        height=300,
        legend=False,
    )
    edges = ours + _BIN * np.arange(-int(2 * _FARTHEST / _BIN), int(_FARTHEST / _BIN))
    middles = (edges[:-1] + edges[1:]) / 2
    counts = np.histogram(simulated, edges)[0]
    colours = np.where(middles > ours, VERDICTS["mixed"], rgba(GREY, 0.6)).tolist()
    figure.add_bar(x=middles, y=counts, width=0.9 * _BIN, marker_color=colours)
    figure.add_vline(x=ours, line={"color": INK, "width": 2})
    figure.add_annotation(
        x=ours,
        y=0.9,
        yref="paper",
        text=_("ours: {ours:.1f}").format(ours=ours),
        xanchor="left",
        xshift=6,
        showarrow=False,
    )
    figure.update_xaxes(range=[-_FARTHEST, _FARTHEST])
    text = _(
        "Histogram of simulated means in standard errors above the edge, and a line at our mean, "
        "{ours:.2f}. To the right of the line is the share {share:.4f}, the p-value."
    ).format(ours=ours, share=share)
    columns = [_("from, in standard errors"), _("simulated means")]
    set_description(figure, text, columns, _binned(simulated, edges, counts))
    return figure


def _binned(simulated: np.ndarray, edges: np.ndarray, counts: np.ndarray) -> list[list[str]]:
    """The beginning of each bin with its count, and what lies outside all of them."""
    inside = [(f"{low:.2f}", count) for low, count in zip(edges, counts, strict=False)]
    below = (_("lower"), (simulated < edges[0]).sum())
    above = (_("higher"), (simulated > edges[-1]).sum())
    return [[name, f"{count}"] for name, count in (below, *inside, above) if count]


def kept(holm: Correct) -> tuple[list[bool], list[bool]]:
    """Which statements the reader's correction keeps, and which the stored one does."""
    findings = [row.finding for row in judging.stored().values()]
    mine = kept_by(holm, findings)
    return list(mine.values()), [finding.corrected for finding in findings]


def ordered(holm: Correct) -> go.Figure:
    """p-values in their order, filled where ``holm`` keeps them, beside three limits: none,
    Bonferroni's and Holm's. Those below ``_LEAST`` are left out.
    """
    mine = kept(holm)[0]
    p = np.array([row.finding.p for row in judging.stored().values()])
    order = np.argsort(p, kind="stable")
    rank = np.arange(1, len(p) + 1)
    is_kept = np.array(mine)[order]
    out = int((p < _LEAST).sum())
    figure = new_figure(
        title=_("{kept} of {plain} verdicts are kept, {whose}").format(
            kept=sum(mine), plain=_below(p, LEVEL), whose=own.whose(holm)
        ),
        x_title=_("place of a statement, from the smallest p-value"),
        y_title=_("p-value"),
        legend=False,
    )
    _add_limits(figure, rank, out, _strict(p))
    symbols = np.where(is_kept, "circle", "circle-open")[out:]
    marker = {"color": GROUPS[0], "symbol": symbols.tolist(), "size": 7}
    figure.add_scatter(
        x=rank[out:], y=p[order][out:], mode="markers", marker=marker, name=_("statement")
    )
    figure.update_xaxes(range=[out - 1, len(p) + 1])
    figure.update_yaxes(
        type="log", range=[np.log10(_LEAST) - 0.2, 0.2], dtick=1, exponentformat="power"
    )
    _say_what_is_left_out(figure, is_kept[:out])
    fails = int(np.argmin(is_kept))
    if fails >= out:
        _name_the_first_that_fails(figure, fails, p[order])
    _describe(figure, p, mine, own.whose(holm))
    return figure


def _below(p: np.ndarray, limit: float) -> int:
    """How many p-values [m] are at most ``limit``."""
    return int((p <= limit).sum())


def _strict(p: np.ndarray) -> int:
    """How many verdicts Bonferroni's limit keeps."""
    return _below(p, LEVEL / len(p))


def _say_what_is_left_out(figure: go.Figure, is_kept: np.ndarray) -> None:
    """Say how many p-values are left out on the left, and how many of them are kept [left out]."""
    count = len(is_kept)
    text = _("← {count} more, {kept} kept").format(count=count, kept=int(is_kept.sum()))
    if is_kept.all():
        text = _("← {count} more, all kept").format(count=count)
    place = {"xref": "paper", "x": 0.01, "yref": "paper", "y": 0.97}
    figure.add_annotation(**place, text=text, xanchor="left", showarrow=False)


def _name_the_first_that_fails(figure: go.Figure, place: int, p: np.ndarray) -> None:
    """Point at the first statement that is not kept, ``place`` from 0 on, of ordered ``p`` [m]."""
    figure.add_annotation(
        x=place + 1,
        y=float(np.log10(p[place])),
        ax=-20,
        ay=-70,
        text=_("place {place}:<br>the first that fails").format(place=place + 1),
        arrowcolor=INK,
        arrowwidth=1.2,
        bgcolor=rgba(PAPER, 0.8),
    )


def _describe(figure: go.Figure, p: np.ndarray, mine: Sequence[bool], whose: str) -> None:
    """Say how many statements each rule keeps; the table counts the verdicts, and those kept."""
    text = _(
        "p-values of {count} statements in their order, {whose}. Filled: kept, {kept}. Without a "
        "correction {plain} are below the level, and Bonferroni's limit keeps {strict}."
    ).format(
        count=len(p),
        whose=whose,
        kept=sum(mine),
        plain=_below(p, LEVEL),
        strict=_strict(p),
    )
    verdicts = [row.finding.verdict for row in judging.stored().values()]
    every = Counter(verdicts)
    stay = Counter(verdict for verdict, one in zip(verdicts, mine, strict=True) if one)
    rows = [[judging.NAMES[name], every[name], stay[name]] for name in judging.VERDICTS]
    columns = [_("verdict"), _("statements"), _("kept")]
    set_description(figure, text, columns, [row for row in rows if row[1]])


def _add_limits(figure: go.Figure, rank: np.ndarray, out: int, strict: int) -> None:
    """Add the three limits over the ``rank`` of a statement [m], each with its name. ``out``: how
    many of the first are left out; ``strict``: how many verdicts Bonferroni's limit keeps.
    """
    bonferroni = _("Bonferroni keeps {strict}").format(strict=strict)
    limits = {
        _("no correction"): (np.full(len(rank), LEVEL), GREY, "9px,3px", 14),
        "Holm": (LEVEL / (len(rank) - rank + 1), INK, "solid", -12),
        bonferroni: (np.full(len(rank), LEVEL / len(rank)), GREY, "1.5px,4px", -14),
    }
    for name, (values, colour, dash, shift) in limits.items():
        line = {"color": colour, "dash": dash, "width": 2}
        figure.add_scatter(x=rank[out:], y=values[out:], mode="lines", line=line, name=name)
        place = out + int(_NAMES.get(name, _NAME) * (len(rank) - out))
        figure.add_annotation(
            x=place,
            y=np.log10(values[place]),
            text=name,
            xanchor="left",
            yshift=shift,
            font={"color": colour},
            bgcolor=rgba(PAPER, 0.8),
            showarrow=False,
        )
