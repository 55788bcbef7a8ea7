"""The table of examinations and patients."""

from collections.abc import Mapping
from typing import NamedTuple

import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, PATIENTS
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.chapters.ch07_bug_clinic.patients import PATIENTS as WARD

_ = translator(__name__)
# Examination → its name in the language of the reader.
_NAMES = {
    "limit": _("limit"),
    "order": _("order"),
    "cut": _("cut"),
    "round 1": _("round 1"),
    "clones": _("clones"),
    "seeds": _("seeds"),
    "effect": _("effect"),
    "mean of controls": _("mean of controls"),
    "mean gradient": _("mean gradient"),
}


class _Symbol(NamedTuple):
    """How the result of an examination is shown. ``level``: on the scale of colours."""

    level: int
    text: str
    words: str


_SYMBOLS = {
    True: _Symbol(1, "✓", _("passes")),
    False: _Symbol(-1, "✗", _("fails")),
    None: _Symbol(0, "·", _("does not apply")),
}
_ROW = 34
_FRAME = 200
_KEY = _("✓ passes   ✗ fails   · does not apply")


def examination(name: str) -> str:
    """The name of an examination in the language of the reader; another name as it is."""
    return _NAMES.get(name, name)


def chart(
    findings: Mapping[str, Mapping[str, bool | None]], *, title: str | None = None
) -> go.Figure:
    """Examinations (rows) and patients (columns): ✓ passes, ✗ fails, · does not apply.

    ``findings``: examination → name of the patient → True, False or None, of the same patients in
    each. Above its column "Patient 3" has its number and the method that it says it is.
    """
    examinations = [examination(name) for name in findings]
    names = list(next(iter(findings.values())))
    symbols = [[_SYMBOLS[row[name]] for name in names] for row in findings.values()]
    words = [[symbol.words for symbol in row] for row in symbols]
    height = _FRAME + _ROW * len(examinations)
    figure = new_figure(title=title, x_title="", y_title="", height=height, legend=False)
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
        figure.update_layout(margin_t=134, margin_r=80, title_pad_b=88)
    figure.update_xaxes(
        tickvals=list(range(len(names))),
        ticktext=[_label(name) for name in names],
        tickangle=-40,
        side="top",
        showgrid=False,
        ticks="",
    )
    place = {"xref": "paper", "yref": "paper", "x": 0, "y": 0, "yshift": -28, "xanchor": "left"}
    figure.add_annotation(text=_KEY, font_color=GREY, showarrow=False, **place)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", type="category")
    _describe(figure, findings, words)
    return figure


def _describe(
    figure: go.Figure, findings: Mapping[str, Mapping[str, bool | None]], words: list[list[str]]
) -> None:
    """Say who fails what, and give the table with its ``words``."""
    examinations = [examination(name) for name in findings]
    names = list(next(iter(findings.values())))
    phrases = "; ".join(_who_fails(name, results) for name, results in findings.items())
    text = _("Table of {examinations} examinations and {patients} patients. {phrases}.").format(
        examinations=len(examinations), patients=len(names), phrases=phrases
    )
    rows = [[name, *row] for name, row in zip(examinations, words, strict=True)]
    set_description(figure, text, [_("examination"), *names], rows)


def _label(name: str) -> str:
    """The number and the method of a patient of the ward; another name as it is."""
    labels = {patient.name: f"{number} {patient.method}" for number, patient in WARD.items()}
    return labels.get(name, name)


def _who_fails(name: str, results: Mapping[str, bool | None]) -> str:
    """Say which patients fail an examination."""
    failed = [patient for patient, passes in results.items() if passes is False]
    words = (
        _("{examination}: {patients} fail")
        if len(failed) > 1
        else _("{examination}: {patients} fails")
    )
    patients = _(" and ").join(failed) or _("nobody")
    return words.format(examination=examination(name), patients=patients)
