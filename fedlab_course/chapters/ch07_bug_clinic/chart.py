"""The table of examinations and patients."""

from collections.abc import Mapping

import plotly.graph_objects as go

from fedlab_core.plots.style import new_figure, set_description

_FOUND = {True: (1, "✓", "passes"), False: (-1, "✗", "fails"), None: (0, "·", "does not apply")}  # level, mark, words
_COLOURS = ["#F3B48F", "#F5F5F5", "#B9DFD2"]  # sick, neutral, well
_ROW, _FRAME = 34, 150


def chart(findings: Mapping[str, Mapping[str, bool | None]]) -> go.Figure:
    """Examinations (rows) and patients (columns): ✓ passes, ✗ fails, · does not apply.

    ``findings``: examination → name of the patient → True, False or None, of the same patients in each. "Patient 3"
    stands as "3" above its column.
    """
    examinations = list(findings)
    names = list(findings[examinations[0]])
    level, mark, words = ([[_FOUND[row[name]][i] for name in names] for row in findings.values()] for i in range(3))
    figure = new_figure(title=None, x_title="", y_title="", height=_FRAME + _ROW * len(examinations), legend=False)
    figure.add_heatmap(
        z=level,
        x=list(range(len(names))),
        y=examinations,
        text=mark,
        customdata=[[list(pair) for pair in zip(names, row, strict=True)] for row in words],
        texttemplate="%{text}",
        textfont={"size": 15, "color": "black"},
        hovertemplate="%{customdata[0]} %{customdata[1]}: %{y}<extra></extra>",
        colorscale=_COLOURS,
        zmin=-1,
        zmax=1,
        xgap=2,
        ygap=2,
        showscale=False,
    )
    labels = [name.removeprefix("Patient ") for name in names]
    figure.update_xaxes(tickvals=list(range(len(names))), ticktext=labels, side="top", showgrid=False, ticks="")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", type="category")
    phrases = []
    for row in examinations:
        failed = [name for name in names if findings[row][name] is False]
        phrases.append(f"{row}: {' and '.join(failed) or 'nobody'} {'fail' if len(failed) > 1 else 'fails'}")
    text = f"Table of {len(examinations)} examinations and {len(names)} patients. {'; '.join(phrases)}."
    rows = [[name, *row] for name, row in zip(examinations, words, strict=True)]
    set_description(figure, text, ["examination", *names], rows)
    return figure
