"""All verdicts in one figure: a row for each statement, its mean and interval in units of its margin."""

import itertools
import textwrap
from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from fedlab_core.plots.style import BLUE, BROWN, GREEN, GREY, PURPLE, VERMILLION, new_figure, set_description
from fedlab_course.evidence import judging, shown
from fedlab_course.evidence.judging import Judged

_LOOKS = {
    "holds": (GREEN, "circle"),
    "opposite": (VERMILLION, "x"),
    "equivalent": (BLUE, "diamond"),
    "confirmed": (GREEN, "circle"),
    "refuted": (VERMILLION, "x"),
    "higher": (BROWN, "triangle-right"),
    "lower": (BROWN, "triangle-left"),
    "undecided": (GREY, "square"),
    "diverged": (PURPLE, "star"),
    "not tested": (GREY, "hourglass"),
}
_NAMES = {verdict: shown.WORDS[verdict].partition(" ")[2] for verdict in _LOOKS}
_TICKS = {-100: "−100δ", -10: "−10δ", 0: "0", 10: "10δ", 100: "100δ"}  # margins → text
_ROW, _AROUND, _WRAP = 19, 160, 40  # pixels, pixels, characters


def forest(judged: Mapping[str, Judged] | None = None, *, title: str) -> go.Figure:
    """Draw a mark at each mean and a bar over its 95 % interval, in margins δ, grouped by claim.

    ``judged``: by default :func:`fedlab_course.evidence.judging.stored`; statements without runs are left out.
    """
    every = judging.stored() if judged is None else judged
    rows = {id: one for id, one in every.items() if one.finding.n}
    places, headings, depth = _places(rows)
    figure = new_figure(title=title, x_title="mean in margins δ (grey: ±δ)", y_title="", height=_AROUND + _ROW * depth)
    figure.add_vrect(
        x0=shown.bend(-1.0), x1=shown.bend(1.0), fillcolor="rgba(89,89,89,0.13)", line_width=0, layer="below"
    )
    figure.add_vline(x=0, line={"color": GREY, "width": 1, "dash": "dot"})
    for verdict in _LOOKS:
        mine = {id: one for id, one in rows.items() if one.finding.verdict == verdict}
        if mine:
            _add(figure, verdict, mine, places)
    mark = {"marker": {"color": GREY, "symbol": "circle-open", "size": 9}, "name": "open: not after correction"}
    figure.add_scatter(x=[None], y=[None], mode="markers", **mark, hoverinfo="skip")
    for y, text in headings:
        where = {"x": 0.0, "xref": "paper", "xanchor": "left", "y": y - 0.5, "yanchor": "top", "align": "left"}
        figure.add_annotation(text=text, showarrow=False, font_size=12, **where)
    edge, ticks = shown.bend(shown.MOST), {shown.bend(tick): text for tick, text in _TICKS.items()}
    if not all(one.finding.margin for one in rows.values()):
        ticks[edge] = "δ = 0"
    along = {"tickvals": list(ticks), "ticktext": list(ticks.values()), "range": [-1.05 * edge, 1.05 * edge]}
    figure.update_xaxes(**along, tickangle=0, tickfont_size=12, title_font_size=13)
    down = {"tickvals": list(places.values()), "ticktext": list(places), "range": [depth - 0.4, -0.6]}
    figure.update_yaxes(**down, showgrid=False, ticks="", tickfont_size=11, showline=False)
    listed = [[id, one.statement.says, shown.WORDS[one.finding.verdict], *_facts(one)] for id, one in rows.items()]
    columns = ["row", "statement", "verdict", "mean and interval", "δ", "seeds"]
    verdicts = [one.finding.verdict for one in rows.values()]
    counts = ", ".join(f"{verdicts.count(verdict)} {name}" for verdict, name in _NAMES.items() if verdict in verdicts)
    words = (
        f"Forest plot of {len(rows)} statements with runs, of {len(every)} examined: {counts}. Mean and 95 % interval "
        "in margins δ; open marks are not significant after correction for all that were examined."
    )
    set_description(figure, words, columns, listed)
    return figure


def _places(rows: Mapping[str, Judged]) -> tuple[dict[str, float], list[tuple[float, str]], int]:
    """The row of each statement, the rows and texts of the headings of claims, and how many rows there are."""
    places: dict[str, float] = {}
    headings, depth = [], 0
    for claim, mine in itertools.groupby(rows, key=lambda id: rows[id].claim):
        lines = textwrap.wrap(f"{claim.id}: {claim.claim}", _WRAP)
        headings.append((float(depth), "<br>".join(lines).replace(claim.id, f"<b>{claim.id}</b>", 1)))
        depth += len(lines)
        for id in mine:
            places[id] = float(depth)
            depth += 1
    return places, headings, depth


def _add(figure: go.Figure, verdict: str, rows: Mapping[str, Judged], places: Mapping[str, float]) -> None:
    colour, symbol = _LOOKS[verdict]
    middle, low, high = np.array([shown.in_margins(one) for one in rows.values()]).T
    bar = {"array": high - middle, "arrayminus": middle - low, "symmetric": False, "thickness": 2, "width": 4}
    filled = [one.finding.corrected or verdict in judging.OPEN for one in rows.values()]
    figure.add_scatter(
        x=middle,
        y=[places[id] for id in rows],
        error_x=bar,
        name=_NAMES[verdict],
        mode="markers",
        marker={"color": colour, "symbol": [symbol if one else f"{symbol}-open" for one in filled], "size": 9},
        customdata=[[id, "<br>".join(textwrap.wrap(one.statement.says, 50)), *_facts(one)] for id, one in rows.items()],
        hovertemplate="%{customdata[0]} %{customdata[1]}<br>%{customdata[2]}, δ = %{customdata[3]}<br>%{customdata[4]}",
    )


def _facts(one: Judged) -> list[str]:
    return [shown.interval(one), f"{one.finding.margin:g}", shown.seeds(one)]
