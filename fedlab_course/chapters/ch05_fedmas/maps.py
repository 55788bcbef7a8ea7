"""What a model knows of each label after each update of a run, as a map."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.plots.colours import GREY, INK, PAPER, SEQUENCE
from fedlab_core.plots.style import new_figure, set_description
from fedlab_course.methods.forgotten import Followed

_ = translator(__name__)

_ROW = 21  # pixels of a label
_AROUND = 150  # pixels above and below the panels
_BETWEEN = 46  # pixels between two panels


def known(runs: Mapping[str, Followed], *, title: str, per_round: int) -> go.Figure:
    """Draw the accuracy on each label (rows) after each update (columns), a panel for each run.

    A dot is where clients that hold the label train. ``runs``: name → run; ``per_round``: updates
    of a round, after which a dotted line is drawn. Raises ``ValueError`` if there is no run.
    """
    if not runs:
        raise ValueError("runs: must have at least one run")
    first = next(iter(runs.values()))
    updates, labels = first.knows.shape
    inner = len(runs) * labels * _ROW + (len(runs) - 1) * _BETWEEN
    figure = new_figure(title=title, x_title="", y_title="", height=_AROUND + inner, legend=False)
    figure.set_subplots(
        len(runs),
        1,
        shared_xaxes=True,
        vertical_spacing=_BETWEEN / inner,
        subplot_titles=list(runs) if len(runs) > 1 else None,
    )
    for row, run in enumerate(runs.values(), start=1):
        _add_panel(figure, row, run)
    for end in range(per_round, updates, per_round):
        figure.add_vline(x=end + 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(range=[0.4, updates + 0.6], showgrid=False, dtick=per_round, tick0=0)
    figure.update_xaxes(showticklabels=True)
    figure.update_xaxes(title_text=_("server update; a dotted line ends a round"), row=len(runs))
    figure.update_yaxes(title_text=_("label"), range=[-0.5, labels - 0.5], dtick=1, showgrid=False)
    figure.update_annotations(x=0, xanchor="left")  # the names of the panels
    figure.update_layout(coloraxis=_colours())
    if len(runs) > 1:
        figure.update_layout(margin_t=84, title_pad_b=34)  # title and first name have own lines
    text = _(
        "Map: the accuracy on the test images of each label (rows) after each server update "
        "(columns); no tile: 0 %. A dot is where clients with this label train. The table has the "
        "last column."
    )
    heads = [_("run"), *(_("label {label}").format(label=one) for one in range(labels))]
    rows = [[name, *(f"{share:.0%}" for share in run.knows[-1])] for name, run in runs.items()]
    set_description(figure, text, heads, rows)
    return figure


def _add_panel(figure: go.Figure, row: int, run: Followed) -> None:
    """Add the tiles of a run, and a dot on each label that trains."""
    hover = _("update %{x}, label %{y}: %{z:.0%}") + "<extra></extra>"
    count = np.arange(1, len(run.knows) + 1)
    tiles = {"xgap": 1, "ygap": 1, "coloraxis": "coloraxis", "hovertemplate": hover}
    figure.add_heatmap(z=run.knows.T, x=count, row=row, col=1, **tiles)
    update, label = np.nonzero(run.trained)
    figure.add_scatter(
        x=update + 1,
        y=label,
        mode="markers",
        marker={"size": 8, "color": PAPER, "line": {"width": 2, "color": INK}},  # on any tile
        hoverinfo="skip",
        row=row,
        col=1,
    )


def _colours() -> dict[str, object]:
    return {
        "colorscale": [[0, PAPER], [0.01, SEQUENCE[0]], [0.5, SEQUENCE[1]], [1, SEQUENCE[2]]],
        "cmin": 0,
        "cmax": 1,
        "colorbar": {
            "title": {"text": _("accuracy on the label"), "side": "right"},
            "tickformat": ".0%",
            "thickness": 12,
            "len": 230,
            "lenmode": "pixels",
        },
    }
