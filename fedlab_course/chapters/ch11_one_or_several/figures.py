"""How clients are served by models of their own and by one for all: stored means over seeds."""

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.plots.colours import GREY, INK
from fedlab_core.plots.style import Look, looks, new_figure, set_description
from fedlab_course.evidence import tables

TABLE = "several"
MORE = {"concepts": "concept_clusters"}  # split → a table with further methods


def serving(split: str) -> go.Figure:
    """A marker for each method: accuracy on a client's own held-out samples against that on the
    whole test set.

    ``split``: "iid", "dirichlet", "two labels", "one label" or "concepts", of the table of chapter
    11. Bars are one standard deviation over seeds; a line joins Ditto's from λ = 0, where each
    client is alone, upwards.
    """
    rows = tables.matching(TABLE, {"partition": split})
    if split in MORE:
        rows = pd.concat([rows, tables.matching(MORE[split], {"partition": split})])
    methods = rows.groupby("method", sort=False)[["own", "whole"]]
    means = methods.mean()
    spreads = methods.std()
    figure = new_figure(
        title=None,
        x_title="accuracy on the client's own samples",
        y_title="accuracy on the whole test set",
        height=520,
    )
    along = means[means.index.str.startswith(("alone", "Ditto"))]
    line = {"color": GREY, "width": 1.5, "dash": "1.5px,4px"}
    figure.add_scatter(x=along.own, y=along.whole, name="Ditto as λ grows", mode="lines", line=line)
    # a method looks alike in all splits
    named = pd.concat([tables.read(table)["method"] for table in (TABLE, *MORE.values())])
    styles = looks({name: name for name in named.unique()})
    table = []
    for name, mean in means.iterrows():
        spread = spreads.loc[name]
        _add_method(figure, str(name), mean, spread, styles[name])
        table.append(
            [name, f"{mean.own:.1%} ± {spread.own:.1%}", f"{mean.whole:.1%} ± {spread.whole:.1%}"]
        )
    figure.update_xaxes(tickformat=".0%")
    figure.update_yaxes(tickformat=".0%")
    phrases = "; ".join(f"{name} {own}, {whole}" for name, own, whole in table)
    text = (
        "Methods by accuracy on the client's own samples and on the whole test set, split "
        f"{split}: {phrases}."
    )
    set_description(figure, text, ["method", "own samples", "whole test set"], table)
    return figure


def _add_method(
    figure: go.Figure, name: str, mean: pd.Series, spread: pd.Series, style: Look
) -> None:
    """Add the marker of a method, with a bar of one standard deviation along either axis."""
    bar = {"type": "data", "color": style.colour, "thickness": 1.5, "width": 4}
    figure.add_scatter(
        x=[mean.own],
        y=[mean.whole],
        name=name,
        mode="markers",
        marker={
            "color": style.colour,
            "symbol": style.marker,
            "size": 11,
            "line": {"width": 1, "color": INK},
        },
        error_x=bar | {"array": [spread.own]},
        error_y=bar | {"array": [spread.whole]},
    )
