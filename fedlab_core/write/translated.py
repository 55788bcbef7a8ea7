"""Which properties of a Plotly figure the drawing follows, and which mean nothing on paper: all others are refused."""

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from fedlab_core.write.properties import said, untranslatable

Names = tuple[str, ...]
_NOT_ON_PAPER = ("hover*", "customdata", "customdatasrc", "ids", "meta", "uid", "uirevision", "selected*", "*src")
_TRACE = ("type", "name", "visible", "showlegend", "legendgroup", "legendrank", "opacity", "xaxis", "yaxis", "x", "y")
_ERRORS = ("type", "array", "arrayminus", "symmetric", "color", "thickness", "width", "visible")
_BAR: Names = (
    "thickness",
    "len",
    "x",
    "y",
    "xanchor",
    "yanchor",
    "title.text",
    "title.side",
    "title.font.size",
    "ticks",
)
_BAR += ("tickformat", "tickvals", "ticktext", "tickmode", "tickfont.size", "nticks", "dtick", "outlinewidth")
_SCALE = ("colorscale", "reversescale", "showscale", "coloraxis", *(f"colorbar.{name}" for name in _BAR))

TRACES: dict[str, Names] = {
    "scatter": (
        *(
            "mode",
            "orientation",
            "line.color",
            "line.width",
            "line.dash",
            "line.shape",
            "connectgaps",
            "cliponaxis",
            "fill",
        ),
        *("fillcolor", "marker.color", "marker.size", "marker.symbol", "marker.opacity", "marker.line.color"),
        *("marker.line.width", "marker.maxdisplayed", "marker.angleref", "text", "textposition", "textfont.color"),
        *("textfont.size", *(f"error_{axis}.{name}" for axis in "xy" for name in _ERRORS)),
    ),
    "bar": (
        *("orientation", "width", "base", "marker.color", "marker.opacity", "marker.line.color", "marker.line.width"),
        *("marker.pattern.shape", "marker.pattern.solidity", "text", "texttemplate", "textposition", "textfont.size"),
        *(f"error_{axis}.{name}" for axis in "xy" for name in _ERRORS),
    ),
    "heatmap": (
        "z",
        "zmin",
        "zmax",
        "xgap",
        "ygap",
        "text",
        "texttemplate",
        "textfont.size",
        "textfont.color",
        *_SCALE,
    ),
    "contour": ("z", "zmin", "zmax", "ncontours", "contours.coloring", "line.width", "line.color", *_SCALE),
    "box": (
        *("orientation", "boxpoints", "jitter", "pointpos", "width", "line.color", "line.width", "fillcolor"),
        *("marker.color", "marker.size", "marker.symbol", "marker.opacity"),
    ),
}

_FONT = ("font.size", "font.color", "font.family")
_AXIS: Names = (
    "type",
    "title.text",
    "title.standoff",
    "range",
    "autorange",
    "rangemode",
    "domain",
    "anchor",
    "side",
    "visible",
)
_AXIS += ("showgrid", "gridcolor", "gridwidth", "zeroline", "zerolinecolor", "zerolinewidth", "showline", "linecolor")
_AXIS += ("linewidth", "mirror", "ticks", "ticklen", "tickcolor", "showticklabels", "tickvals", "ticktext", "tickmode")
_AXIS += ("tick0", "dtick", "nticks", "tickformat", "tickangle", "tickprefix", "ticksuffix", "matches")
_AXIS += ("exponentformat", "categoryorder", "categoryarray", "constrain", "scaleanchor", "scaleratio", "automargin")
_AXIS += (
    "fixedrange",
    "separatethousands",
    "tickwidth",
    *(f"title.{name}" for name in _FONT),
    *(f"tick{name}" for name in _FONT),
)
_SHAPE: Names = ("type", "x0", "x1", "y0", "y1", "xref", "yref", "line.*", "fillcolor", "opacity", "layer", "name")
_NOTE: Names = (
    "text",
    "x",
    "y",
    "xref",
    "yref",
    "xanchor",
    "yanchor",
    "xshift",
    "yshift",
    "align",
    "bgcolor",
    "borderpad",
)
_NOTE += ("showarrow", "textangle", "name", "bordercolor", "borderwidth", *_FONT)
_LEGEND: Names = ("orientation", "x", "y", "xref", "yref", "xanchor", "yanchor", "title.text", "bgcolor")
_LEGEND += ("tracegroupgap", "itemclick", "itemdoubleclick", "groupclick", *_FONT)
_TITLE: Names = ("text", "x", "y", "xref", "yref", "xanchor", "yanchor", "pad.*", *_FONT)
_LAYOUT: Names = (
    "width",
    "height",
    "autosize",
    "showlegend",
    "bargap",
    "bargroupgap",
    "barmode",
    "colorway",
    "margin.?",
)
_LAYOUT += ("paper_bgcolor", "plot_bgcolor", "modebar.*", "dragmode", "clickmode", "uirevision", "transition.*")
_LAYOUT += ("hover*", "meta.*", "meta", "datarevision", "selectdirection", "spikedistance", *_FONT)
_LAYOUT += ("newshape.*", "activeshape.*")
_GROUPS = {"legend": _LEGEND, "title": _TITLE, "shapes[]": _SHAPE, "annotations[]": _NOTE}
_COLOR_AXIS = ("cmin", "cmax", "colorscale", "reversescale", "showscale", *(f"colorbar.{name}" for name in _BAR))


def check(figure: Mapping[str, Any]) -> None:
    """Raises ``ValueError`` for the first property of a figure, {"data", "layout"}, that the drawing leaves out."""
    for number, trace in enumerate(figure.get("data", ())):
        kind = trace.get("type", "scatter")
        if kind not in TRACES:
            raise untranslatable(f"data[{number}].type={kind!r}")
        _refuse_others(trace, f"data[{number}]", (*_TRACE, *TRACES[kind], *_NOT_ON_PAPER))
    layout = {name: value for name, value in figure.get("layout", {}).items() if name != "template"}
    allowed = [*_LAYOUT, *(f"{group}.{name}" for group, names in _GROUPS.items() for name in names)]
    axes = {name for name in layout if re.fullmatch(r"[xy]axis\d*", name)}
    for name in axes:
        _refuse_others(layout[name], f"layout.{name}", (*_AXIS, *_NOT_ON_PAPER))
    colors = {name for name in layout if re.fullmatch(r"coloraxis\d*", name)}
    for name in colors:
        _refuse_others(layout[name], f"layout.{name}", _COLOR_AXIS)
    _refuse_others({name: value for name, value in layout.items() if name not in axes | colors}, "layout", allowed)


def _refuse_others(part: Any, where: str, allowed: Any) -> None:
    for path in said(part):
        if not any(fnmatchcase(path, pattern.replace("[]", "[[]]")) for pattern in allowed):
            raise untranslatable(f"{where}.{path}")
