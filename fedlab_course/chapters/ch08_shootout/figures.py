"""The same runs against what they cost: rounds, server updates and bytes, one panel below the other."""

import plotly.graph_objects as go

from fedlab_core.compare import PRICES
from fedlab_core.plots import convergence
from fedlab_core.plots.series import Histories
from fedlab_core.plots.style import new_figure, set_description

_PANEL, _GAP, _AROUND = 235, 0.11, 130  # pixels, a share of the height, pixels


def three_axes(histories: Histories) -> go.Figure:
    """:func:`fedlab_core.plots.convergence` of the same ``histories`` on each of the three axes.

    The axis of server updates is logarithmic, for a round of one algorithm may hold many of them. Raises as that does.
    """
    panels = [convergence(histories, x=x) for x in PRICES]
    figure = new_figure(title=None, x_title="", y_title="", height=_AROUND + _PANEL * len(panels))
    figure.set_subplots(rows=len(panels), vertical_spacing=_GAP)
    for row, panel in enumerate(panels, start=1):
        for trace in panel.data:
            figure.add_trace(trace.update(showlegend=row == 1 and trace.showlegend), row=row, col=1)
        figure.update_xaxes(panel.layout.xaxis.to_plotly_json(), row=row)
        figure.update_yaxes(panel.layout.yaxis.to_plotly_json(), row=row)
    figure.update_xaxes(
        type="log", dtick=1, title="server updates (logarithmic)", row=1 + list(PRICES).index("updates")
    )
    described = [panel.layout.meta for panel in panels]
    rows = [row for one in described for row in one["table"]["rows"]]
    text = " ".join(["The same runs on three axes.", *(one["alt"] for one in described)])
    set_description(figure, text, described[0]["table"]["columns"], rows)
    return figure
