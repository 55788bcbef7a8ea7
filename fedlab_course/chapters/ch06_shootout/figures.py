"""The same runs against what they cost: rounds, server updates and bytes; a figure and a table."""

from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.compare import PRICES, t_interval
from fedlab_core.plots import convergence
from fedlab_core.plots.series import Histories
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.evidence import tables

# pixels, a share of the height, pixels
_PANEL = 235
_GAP = 0.11
_AROUND = 130


_AXES = {
    "equal rounds": "end_accuracy",
    "equal server updates": "accuracy_at_updates",
    "equal bytes": "accuracy_at_bytes",
    "worst tenth of clients": "worst_decile",
}


def against_fedavg(federation: str, methods: Mapping[str, str]) -> pd.DataFrame:
    """Stored accuracy minus FedAvg's in points, mean ± half the 95 % interval over paired seeds:
    methods × axes.

    ``federation``: "dirichlet_0.3" or "one_label"; ``methods``: row → name in the table
    ``prices``.
    """
    rows = tables.matching("prices", {"federation": federation}).set_index(["method", "seed"])
    cells: dict[str, dict[str, str]] = {}
    for name, method in methods.items():
        cells[name] = {}
        for axis, column in _AXES.items():
            difference = rows.loc[method][column] - rows.loc["fedavg"][column]
            interval = t_interval(100 * difference)
            cells[name][axis] = f"{interval.mean:+.1f} ± {interval.half_width:.1f}"
    return pd.DataFrame(cells).T


def three_axes(histories: Histories) -> go.Figure:
    """:func:`fedlab_core.plots.convergence` of the same ``histories`` on each of the three axes.

    The axis of server updates is logarithmic, for a round of one algorithm may hold many of them.
    Raises as that does.
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
        type="log",
        dtick=1,
        title="server updates (logarithmic)",
        row=1 + list(PRICES).index("updates"),
    )
    described = [panel.layout.meta for panel in panels]
    rows = [row for part in described for row in part["table"]["rows"]]
    text = " ".join(["The same runs on three axes.", *(part["alt"] for part in described)])
    set_description(figure, text, described[0]["table"]["columns"], rows)
    return figure
