"""The table of examinations and patients."""

from collections.abc import Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from fedlab_core.plots.colours import PATIENTS
from fedlab_core.plots.style import new_figure, set_description


class _Symbol(NamedTuple):
    """How the result of an examination is shown. ``level``: on the scale of colours."""

    level: int
    text: str
    words: str


_SYMBOLS = {
    True: _Symbol(1, "✓", "passes"),
    False: _Symbol(-1, "✗", "fails"),
    None: _Symbol(0, "·", "does not apply"),
}
_ROW = 34
_FRAME = 150


def chart(
    findings: Mapping[str, Mapping[str, bool | None]], *, title: str | None = None
) -> go.Figure:
    """Examinations (rows) and patients (columns): ✓ passes, ✗ fails, · does not apply.

    ``findings``: examination → name of the patient → True, False or None, of the same patients in
    each. "Patient 3" stands as "3" above its column.
    """
    examinations = list(findings)
    names = list(findings[examinations[0]])
    symbols = [[_SYMBOLS[row[name]] for name in names] for row in findings.values()]
    words = [[symbol.words for symbol in row] for row in symbols]
    figure = new_figure(
        title=title, x_title="", y_title="", height=_FRAME + _ROW * len(examinations), legend=False
    )
    figure.add_heatmap(
        z=[[symbol.level for symbol in row] for row in symbols],
        x=list(range(len(names))),
        y=examinations,
        text=[[symbol.text for symbol in row] for row in symbols],
        customdata=[[list(pair) for pair in zip(names, row, strict=True)] for row in words],
        texttemplate="%{text}",
        textfont={"size": 15, "color": "black"},
        hovertemplate="%{customdata[0]} %{customdata[1]}: %{y}<extra></extra>",
        colorscale=list(PATIENTS),
        zmin=-1,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
    )
    if title:  # above the numbers of the patients
        figure.update_layout(margin_t=84, title_pad_b=34)
    labels = [name.removeprefix("Patient ") for name in names]
    figure.update_xaxes(
        tickvals=list(range(len(names))), ticktext=labels, side="top", showgrid=False, ticks=""
    )
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", type="category")
    phrases = "; ".join(_who_fails(name, results) for name, results in findings.items())
    text = f"Table of {len(examinations)} examinations and {len(names)} patients. {phrases}."
    rows = [[name, *row] for name, row in zip(examinations, words, strict=True)]
    set_description(figure, text, ["examination", *names], rows)
    return figure


def _who_fails(examination: str, results: Mapping[str, bool | None]) -> str:
    """Say which patients fail an examination."""
    failed = [name for name, passes in results.items() if passes is False]
    verb = "fail" if len(failed) > 1 else "fails"
    return f"{examination}: {' and '.join(failed) or 'nobody'} {verb}"
