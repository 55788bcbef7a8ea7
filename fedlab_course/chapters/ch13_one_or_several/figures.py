"""How clients are served by models of their own and by one for all: stored means over seeds."""

from pathlib import Path

import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREY, looks, new_figure, set_description
from fedlab_course.evidence import tables

TABLE = "c13_several"


def serving(split: str, *, folder: Path = tables.TABLES) -> go.Figure:
    """A marker for each method: accuracy on a client's own held-out samples against that on the whole test set.

    ``split``: "iid", "dirichlet", "two labels", "one label" or "concepts", of the table of chapter 13. Bars are one
    standard deviation over seeds; a line joins Ditto's from λ = 0, where each client is alone, upwards. Raises
    ``ValueError`` for another split, and if the table is not there.
    """
    stored = tables.present(TABLE, folder)
    rows = tables.matching(stored, TABLE, {"partition": split})
    found = rows.groupby("method", sort=False)[["own", "whole"]].agg(["mean", "std"])
    figure = new_figure(
        title=None, x_title="accuracy on the client's own samples", y_title="accuracy on the whole test set", height=520
    )
    along = found[[str(name).startswith(("alone", "Ditto")) for name in found.index]]
    line = {"color": GREY, "width": 1.5, "dash": "1.5px,4px"}
    x, y = along["own", "mean"], along["whole", "mean"]
    figure.add_scatter(x=x, y=y, name="Ditto as λ grows", mode="lines", line=line)
    styles = looks({name: name for name in stored["method"].unique()})  # a method looks alike in all splits
    table = []
    for name, one in found.iterrows():
        style = styles[str(name)]
        bar = {"type": "data", "color": style.colour, "thickness": 1.5, "width": 4}
        figure.add_scatter(
            x=[one["own", "mean"]],
            y=[one["whole", "mean"]],
            name=name,
            mode="markers",
            marker={"color": style.colour, "symbol": style.marker, "size": 11, "line": {"width": 1, "color": BLACK}},
            error_x=bar | {"array": [one["own", "std"]]},
            error_y=bar | {"array": [one["whole", "std"]]},
        )
        table.append([name, *(f"{one[what, 'mean']:.1%} ± {one[what, 'std']:.1%}" for what in ("own", "whole"))])
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    phrases = "; ".join(f"{name} {own}, {whole}" for name, own, whole in table)
    text = f"Methods by accuracy on the client's own samples and on the whole test set, split {split}: {phrases}."
    set_description(figure, text, ["method", "own samples", "whole test set"], table)
    return figure
