"""How clients are served by models of their own and by one for all: stored means over seeds."""

import plotly.graph_objects as go

from fedlab_core.plots.style import BLACK, GREY, looks, new_figure, set_description
from fedlab_course.evidence import tables

TABLE = "c13_several"


def serving(split: str) -> go.Figure:
    """A marker for each method: accuracy on a client's own held-out samples against that on the whole test set.

    ``split``: "iid", "dirichlet", "two labels", "one label" or "concepts", of the table of chapter 11. Bars are one
    standard deviation over seeds; a line joins Ditto's from λ = 0, where each client is alone, upwards.
    """
    rows = tables.matching(TABLE, {"partition": split})
    methods = rows.groupby("method", sort=False)[["own", "whole"]]
    means, spreads = methods.mean(), methods.std()
    figure = new_figure(
        title=None, x_title="accuracy on the client's own samples", y_title="accuracy on the whole test set", height=520
    )
    along = means[means.index.str.startswith(("alone", "Ditto"))]
    line = {"color": GREY, "width": 1.5, "dash": "1.5px,4px"}
    figure.add_scatter(x=along.own, y=along.whole, name="Ditto as λ grows", mode="lines", line=line)
    styles = looks({name: name for name in tables.read(TABLE)["method"].unique()})  # a method looks alike in all splits
    table = []
    for name in means.index:
        style, mean, spread = styles[name], means.loc[name], spreads.loc[name]
        bar = {"type": "data", "color": style.colour, "thickness": 1.5, "width": 4}
        figure.add_scatter(
            x=[mean.own],
            y=[mean.whole],
            name=name,
            mode="markers",
            marker={"color": style.colour, "symbol": style.marker, "size": 11, "line": {"width": 1, "color": BLACK}},
            error_x=bar | {"array": [spread.own]},
            error_y=bar | {"array": [spread.whole]},
        )
        table.append([name, f"{mean.own:.1%} ± {spread.own:.1%}", f"{mean.whole:.1%} ± {spread.whole:.1%}"])
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    phrases = "; ".join(f"{name} {own}, {whole}" for name, own, whole in table)
    text = f"Methods by accuracy on the client's own samples and on the whole test set, split {split}: {phrases}."
    set_description(figure, text, ["method", "own samples", "whole test set"], table)
    return figure
