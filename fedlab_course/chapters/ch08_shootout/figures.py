"""The same runs against what they cost: rounds, server updates and bytes, one panel below the other."""

import plotly.graph_objects as go

from fedlab_core.compare import PRICES
from fedlab_core.plots import convergence
from fedlab_core.plots.series import Histories
from fedlab_core.plots.style import set_description

_PANEL, _GAP, _AROUND = 235, 0.11, 130  # pixels, a share of the height, pixels


def three_axes(histories: Histories) -> go.Figure:
    """:func:`fedlab_core.plots.convergence` of the same ``histories`` on each of the three axes.

    The axis of server updates is logarithmic, for a round of one algorithm may hold many of them. Raises as that does.
    """
    panels = [convergence(histories, x=x) for x in PRICES]
    whole = go.Figure(panels[0])
    whole.update_layout(height=_AROUND + _PANEL * len(panels))
    height = (1 - _GAP * (len(panels) - 1)) / len(panels)
    for place, (x, panel) in enumerate(zip(PRICES, panels, strict=True)):
        end, top = str(place + 1) if place else "", 1 - place * (height + _GAP)
        along = panel.layout.xaxis.to_plotly_json() | {"anchor": f"y{end}"}
        if x == "updates":
            along |= {"type": "log", "dtick": 1, "title": {"text": "server updates (logarithmic)"}}
        up = panel.layout.yaxis.to_plotly_json() | {"anchor": f"x{end}", "domain": [max(0.0, top - height), top]}
        whole.update_layout({f"xaxis{end}": along, f"yaxis{end}": up})
        for trace in panel.data if place else ():
            whole.add_trace(trace.update(xaxis=f"x{end}", yaxis=f"y{end}", showlegend=False))
    described = [panel.layout.meta for panel in panels]
    rows = [row for one in described for row in one["table"]["rows"]]
    text = " ".join(["The same runs on three axes.", *(one["alt"] for one in described)])
    set_description(whole, text, described[0]["table"]["columns"], rows)
    return whole
