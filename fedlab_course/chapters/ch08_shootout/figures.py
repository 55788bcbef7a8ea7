"""The same runs against what they cost: rounds, server updates and bytes, one panel below the other."""

import plotly.graph_objects as go

from fedlab_core.compare import PRICES
from fedlab_core.plots import convergence
from fedlab_core.plots.series import Histories
from fedlab_core.plots.style import set_description

_PANEL, _GAP, _AROUND = 235, 0.11, 130  # pixels, a share of the height, pixels


def three_axes(histories: Histories, y: str = "test_accuracy", *, title: str | None = None) -> go.Figure:
    """:func:`fedlab_core.plots.convergence` of the same ``histories`` on each of the three axes.

    The axis of server updates is logarithmic, for a round of one algorithm may hold many of them. Raises as that does.
    """
    panels = [convergence(histories, x=x, y=y) for x in PRICES]
    whole = go.Figure(panels[0])
    whole.update_layout(height=_AROUND + _PANEL * len(panels), title=title)
    height = (1 - _GAP * (len(panels) - 1)) / len(panels)
    phrases, rows = [], []
    for place, (x, panel) in enumerate(zip(PRICES, panels, strict=True), start=1):
        end = "" if place == 1 else str(place)
        top = 1 - (place - 1) * (height + _GAP)
        along = panel.layout.xaxis.to_plotly_json() | {"anchor": f"y{end}"}
        if x == "updates":
            along |= {"type": "log", "dtick": 1, "title": {"text": "server updates (logarithmic)"}}
        up = panel.layout.yaxis.to_plotly_json() | {"anchor": f"x{end}", "domain": [max(0.0, top - height), top]}
        whole.update_layout({f"xaxis{end}": along, f"yaxis{end}": up})
        if place > 1:
            for trace in panel.data:
                whole.add_trace(trace.update(xaxis=f"x{end}", yaxis=f"y{end}", showlegend=False))
        phrases.append(panel.layout.meta["alt"])
        rows += panel.layout.meta["table"]["rows"]
    columns = panels[0].layout.meta["table"]["columns"]
    set_description(whole, "The same runs on three axes. " + " ".join(phrases), columns, rows)
    return whole
