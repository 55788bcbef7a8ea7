"""All verdicts in one figure: a row for each statement, its mean and interval in units of its
margin.
"""

import itertools
import textwrap
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, VERDICTS, rgba
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.judging import JudgedStatement

_ = translator(__name__)

LOOKS = {
    "holds": (VERDICTS["good"], "circle"),
    "opposite": (VERDICTS["mixed"], "x"),
    "equivalent": (VERDICTS["other"], "diamond"),
    "confirmed": (VERDICTS["good"], "circle"),
    "refuted": (VERDICTS["mixed"], "x"),
    "higher": (VERDICTS["other"], "triangle-right"),
    "lower": (VERDICTS["other"], "triangle-left"),
    "undecided": (GREY, "square"),
    "diverged": (VERDICTS["other"], "star"),
    "not tested": (GREY, "hourglass"),
}
_NAMES = {verdict: shown.WORDS[verdict].partition(" ")[2] for verdict in LOOKS}
_TICKS = {-100: "−100δ", -10: "−10δ", 0: "0", 10: "10δ", 100: "100δ"}  # margins → text
# pixels, pixels, characters
_ROW = 19
_AROUND = 160
_WRAP = 40


def forest(judged: Mapping[str, JudgedStatement] | None = None, *, title: str) -> go.Figure:
    """Draw a mark at each mean and a bar over its 95 % interval, in margins δ, grouped by claim.

    ``judged``: by default :func:`fedlab_course.evidence.judging.stored`; statements without runs
    are left out.
    """
    every = judging.stored() if judged is None else judged
    rows = {id: row for id, row in every.items() if row.finding.n}
    places, headings, depth = _places(rows)
    figure = new_figure(
        title=title,
        x_title=_("mean in margins δ, logarithmic (grey: ±δ)"),
        y_title="",
        height=_AROUND + _ROW * depth,
    )
    figure.add_vrect(
        x0=shown.bend(-1.0),
        x1=shown.bend(1.0),
        fillcolor=rgba(GREY, 0.13),
        line_width=0,
        layer="below",
    )
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    for verdict in LOOKS:
        mine = {id: row for id, row in rows.items() if row.finding.verdict == verdict}
        if mine:
            _add(figure, verdict, mine, places)
    mark = {"color": GREY, "symbol": "circle-open", "size": 9}
    name = _("open: not after correction")
    figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=name, hoverinfo="skip")
    for y, text in headings:
        _add_heading(figure, y, text)
    _set_margins_axis(figure, any(not row.finding.margin for row in rows.values()))
    figure.update_yaxes(
        tickvals=list(places.values()),
        ticktext=list(places),
        range=[depth - 0.4, -0.6],
        showgrid=False,
        ticks="",
        tickfont_size=11,
        showline=False,
    )
    _describe(figure, rows, len(every))
    return figure


def _add_heading(figure: go.Figure, y: float, text: str) -> None:
    """Write the claim above its statements."""
    figure.add_annotation(
        text=text,
        x=0.0,
        xref="paper",
        xanchor="left",
        y=y - 0.5,
        yanchor="top",
        align="left",
        showarrow=False,
        font_size=12,
    )


def _set_margins_axis(figure: go.Figure, has_no_margin: bool) -> None:
    """Label the axis of margins. ``has_no_margin``: a statement has the margin 0, and its mark is
    at the edge.
    """
    edge = shown.bend(shown.MOST)
    ticks = {shown.bend(tick): text for tick, text in _TICKS.items()}
    if has_no_margin:
        ticks[edge] = "δ = 0"
    figure.update_xaxes(
        tickvals=list(ticks),
        ticktext=list(ticks.values()),
        range=[-1.05 * edge, 1.05 * edge],
        tickangle=0,
        tickfont_size=12,
        title_font_size=13,
    )


def _describe(figure: go.Figure, rows: Mapping[str, JudgedStatement], examined: int) -> None:
    """Give the figure its description in words and its table."""
    verdicts = [row.finding.verdict for row in rows.values()]
    counts = _(", ").join(
        _("{count} {verdict}").format(count=verdicts.count(verdict), verdict=name)
        for verdict, name in _NAMES.items()
        if verdict in verdicts
    )
    words = _(
        "Forest plot of {rows} statements with runs, of {examined} examined: {counts}. Mean and "
        "95 % interval in margins δ; Holm's correction for all that were examined does not keep "
        "the open marks."
    ).format(rows=len(rows), examined=examined, counts=counts)
    columns = [_("row"), _("statement"), _("verdict"), _("mean and interval"), "δ", _("seeds")]
    table = [
        [id, row.statement.sentence, shown.WORDS[row.finding.verdict], *_facts(row)]
        for id, row in rows.items()
    ]
    set_description(figure, words, columns, table)


def _places(
    rows: Mapping[str, JudgedStatement],
) -> tuple[dict[str, float], list[tuple[float, str]], int]:
    """The row of each statement, the rows and texts of the headings of claims, and how many rows
    there are.
    """
    places: dict[str, float] = {}
    headings = []
    depth = 0
    for claim, mine in itertools.groupby(rows, key=lambda id: rows[id].claim):
        lines = textwrap.wrap(f"{claim.id}: {claim.claim}", _WRAP)
        headings.append(
            (float(depth), "<br>".join(lines).replace(claim.id, f"<b>{claim.id}</b>", 1))
        )
        depth += len(lines)
        for id in mine:
            places[id] = float(depth)
            depth += 1
    return places, headings, depth


def _add(
    figure: go.Figure,
    verdict: str,
    rows: Mapping[str, JudgedStatement],
    places: Mapping[str, float],
) -> None:
    colour, symbol = LOOKS[verdict]
    middle, low, high = np.array([shown.in_margins(row) for row in rows.values()]).T
    bar = {
        "array": high - middle,
        "arrayminus": middle - low,
        "symmetric": False,
        "thickness": 2,
        "width": 4,
    }
    filled = [row.finding.corrected or verdict in judging.OPEN for row in rows.values()]
    figure.add_scatter(
        x=middle,
        y=[places[id] for id in rows],
        error_x=bar,
        name=_NAMES[verdict],
        mode="markers",
        marker={
            "color": colour,
            "symbol": [symbol if is_filled else f"{symbol}-open" for is_filled in filled],
            "size": 9,
        },
        customdata=[
            [id, "<br>".join(textwrap.wrap(row.statement.sentence, 50)), *_facts(row)]
            for id, row in rows.items()
        ],
        hovertemplate=(
            "%{customdata[0]} %{customdata[1]}<br>"
            + _("%{customdata[2]}, δ = %{customdata[3]}")
            + "<br>%{customdata[4]}"
        ),
    )


def _facts(judged: JudgedStatement) -> list[str]:
    return [shown.measured(judged), shown.margin(judged), shown.seeds(judged)]
