"""The figures of the sources, drawn from what is stored, by name."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core import validation
from fedlab_core.history import History
from fedlab_core.plots.style import BLUE, PURPLE, add_band, looks, new_figure, set_description
from fedlab_course.evidence import forest, judging, tables
from fedlab_course.evidence.charts import CHARTS, Chart
from fedlab_course.explore.figures import add_curve

_TITLES = {"test_accuracy": "test accuracy", "train_loss": "training loss F(w)"}
_FORMATS = {"test_accuracy": ".1%", "train_loss": ".4g"}
_MARKERS_PER_CURVE = 9
_PANEL, _AROUND, _ENTRY = 230, 150, 30  # pixels
_COLUMNS = ["curve", "round", "mean", "standard deviation", "seeds"]
_SOURCES = ("000", "001", "002", "004")
CLIENTS = 10  # in the figure of labels
_MIXES_HEIGHT, _LARGEST = 630, 20  # pixels


def draw(name: str) -> go.Figure:
    """Draw the figure ``name``. Raises ``ValueError`` for an unknown one, and one whose tables are not there."""
    title = TITLES[validation.choice("figure", name, TITLES)]
    return chart(CHARTS[name]) if name in CHARTS else _OTHERS[name][1](title=title)


def with_live(name: str, history: History, label: str) -> go.Figure:
    """Draw stored curves and, thick, a live run in front of them. Raises ``ValueError`` for other figures."""
    measure = CHARTS[validation.choice("figure", name, CHARTS)].measure
    figure, curve = chart(CHARTS[name]), history.frame.dropna(subset=measure)
    line = {"color": PURPLE, "width": 3.5}
    figure.add_scatter(x=curve["round"], y=curve[measure], name=label, mode="lines", line=line, legendrank=900)
    last, (alt, table) = curve.iloc[-1], (figure.layout.meta[what] for what in ("alt", "table"))
    end = [label, int(last["round"]), f"{last[measure]:.4g}", "", 1]
    text = f"{alt} {label}, one run: {end[2]} in round {end[1]}."
    set_description(figure, text, table["columns"], [*table["rows"], end])
    return figure


def chart(one: Chart, folder: Path = tables.TABLES) -> go.Figure:
    """Draw the curves of a chart. Raises ``ValueError`` for a table or a curve that is not there."""
    count = len(one.panels)
    height = _AROUND + _PANEL * count if count > 1 else 440 + _ENTRY * len(one.illustration)
    figure = new_figure(title=one.title, x_title="", y_title="", height=height)
    divide(figure, list(one.panels), "communication round", _TITLES[one.measure])
    styles = looks({line: line for line in one.lines})
    for line, (source, x, y) in one.illustration.items():
        look = {"color": styles[line].colour, "width": 2, "dash": "1.5px,4px"}
        name = f"{source}, illustration in the source"
        figure.add_scatter(x=list(x), y=list(y), name=name, mode="lines", line=look, legendrank=1100)
    form = _FORMATS[one.measure]
    hover = f"round %{{x}}<br>%{{y:{form}}} ± %{{customdata[0]:{form}}} over %{{customdata[1]}} seeds"
    rows = []
    for number, panel in enumerate(one.panels, start=1):
        curves = {line: one.curve(panel, line, folder) for line in one.lines}
        for line, curve in curves.items():
            if curve["n"].min() > 1:
                x, mean, spread = (curve[name].to_numpy() for name in ("round", "mean", "std"))
                band = f"{line}, ± one standard deviation"
                add_band(figure, x, mean - spread, mean + spread, styles[line], group=line, name=band)
                figure.data[-1].update(xaxis=f"x{number}", yaxis=f"y{number}")
        for line, curve in curves.items():
            x, mean, facts = curve["round"].to_numpy(), curve["mean"].to_numpy(), curve[["std", "n"]].to_numpy()
            about = {"customdata": facts, "hovertemplate": hover, "legendgroup": line, "showlegend": number == 1}
            add_curve(figure, x, mean, line, styles[line], **about, row=number, col=1)
            last = curve.iloc[-1]
            name = f"{panel}, {line}" if panel else line
            rows.append([name, int(last["round"]), f"{last['mean']:.4g}", f"{last['std']:.2g}", int(last["n"])])
    figure.update_traces(marker_maxdisplayed=_MARKERS_PER_CURVE, selector={"mode": "lines+markers"})
    if one.measure == "test_accuracy":
        figure.update_yaxes(tickformat=".0%")
    set_description(figure, _words(one, rows), _COLUMNS, rows)
    return figure


def divide(figure: go.Figure, titles: Sequence[str], x_title: str, y_title: str) -> None:
    """Divide a figure into panels, one below the other, each with its title; the last has the title of all x axes."""
    count = len(titles)
    names = [f"<b>{title}</b>" for title in titles if title]
    figure.set_subplots(count, 1, shared_xaxes=True, vertical_spacing=0.3 / count, subplot_titles=names)
    figure.update_annotations(x=0, xanchor="left", font_size=13)
    figure.update_xaxes(title_text=x_title, row=count)
    figure.update_yaxes(title={"text": y_title, "font": {"size": 14 if count == 1 else 12}})
    if titles[0]:
        figure.update_layout(margin_t=84, title_pad_b=34)


def _words(one: Chart, rows: list[list[Any]]) -> str:
    ends = "; ".join(f"{name} {mean} ± {spread}" for name, _, mean, spread, _ in rows)
    text = f"Stored curves of {_TITLES[one.measure]} by round: mean ± standard deviation over seeds. {one.title}. "
    text += f"In the last round: {ends}."
    drawn = ", ".join(name for name, *_ in one.illustration.values())
    return f"{text} Dotted, drawn in the source and not measured: {drawn}." if drawn else text


def mixes(dataset: str = "digits", alphas: tuple[float, ...] = (0.3, 0.7), *, title: str) -> go.Figure:
    """Draw the samples of each label of the first ten of 100 Dirichlet clients as discs, one panel for each α."""
    data = fl.load_dataset(dataset)
    figure = new_figure(title=title, x_title="", y_title="", height=_MIXES_HEIGHT, legend=False)
    divide(figure, [f"Dirichlet, α = {alpha:g}" for alpha in alphas], "client", "label")
    counts = {}
    for alpha in alphas:
        parts = fl.partition.dirichlet(data.train.y, num_clients=100, alpha=alpha, seed=0)
        counts[alpha] = fl.FederatedDataset(data, parts).heterogeneity().label_counts[:CLIENTS]
    most = max(int(count.max()) for count in counts.values())
    names = [str(name) for name in data.classes]
    rows, held_by = [], []
    for panel, (alpha, count) in enumerate(counts.items(), start=1):
        client, label = np.nonzero(count)
        held = count[client, label]
        figure.add_scatter(
            x=client,
            y=label,
            customdata=held,
            mode="markers",
            marker={"color": BLUE, "size": _LARGEST * np.sqrt(held / most), "line": {"width": 0}},
            hovertemplate="client %{x}, label %{y}: %{customdata} samples<extra></extra>",
            row=panel,
            col=1,
        )
        rows += [[f"{alpha:g}", k, int((one > 0).sum()), f"{one.max() / one.sum():.0%}"] for k, one in enumerate(count)]
        held_by.append(f"α = {alpha:g}: {np.mean((count > 0).sum(1)):.1f} labels a client")
    figure.update_xaxes(range=[-0.7, CLIENTS - 0.3], dtick=1)
    figure.update_yaxes(range=[-0.7, len(names) - 0.3], tickvals=list(range(len(names))), ticktext=names)
    text = f"Discs: samples of each label that the first {CLIENTS} of 100 clients hold, {data.name}. "
    set_description(figure, f"{text}{'; '.join(held_by)}.", ["α", "client", "labels", "share of the largest"], rows)
    return figure


def verdicts(source: str, *, title: str) -> go.Figure:
    """Draw the verdicts on the claims whose ids begin with ``source``, or on those of no source of the course."""
    every = judging.stored()
    mine = {id: one for id, one in every.items() if (id[:3] if id[:3] in _SOURCES else "others") == source}
    return forest.forest(mine, title=title)


_OTHERS: Mapping[str, tuple[str, Callable[..., go.Figure]]] = {
    **{f"verdicts-{one}": (f"Verdicts on [{one}]", partial(verdicts, one)) for one in _SOURCES},
    "verdicts-others": ("Verdicts on other papers", partial(verdicts, "others")),
    "002-3": ("Labels of the first ten clients, digits", mixes),
}
TITLES = {name: title for name, (title, _) in _OTHERS.items()} | {name: one.title for name, one in CHARTS.items()}
