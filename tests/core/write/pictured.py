"""Figures for the tests: every function of fl.plots, and one of each thing else that can be drawn."""

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

import fedlab_core as fl
from fedlab_core.history import ClientReport, History, RoundRecord


def history(name: str, seed: int, rounds: int = 30, *, lift: float = 0.0) -> History:
    rng = np.random.default_rng(seed)
    accuracy = lift + 0.8 * (1 - np.exp(-np.arange(1, rounds + 1) / 8)) + rng.normal(scale=0.01, size=rounds)
    records = [
        RoundRecord(t, t, float(a), 1 - float(a), 2 - float(a), 70_000 * t, 90_000 * t, 0.5 / t, 0.1, 0.1 * t)
        for t, a in enumerate(accuracy, start=1)
    ]
    report = ClientReport(np.clip(rng.normal(0.7 + lift, 0.15, size=40), 0, 1), np.full(40, 10))
    return History({"seed": seed, "algorithm": {"name": name}}, records, clients=report)


def race() -> dict[str, list[History]]:
    names = {"FedAvg": "fedavg", "FedProx μ=0.1": "fedprox", "SCAFFOLD": "scaffold"}
    pairs = enumerate(names.items())
    return {
        shown: [history(name, 10 * row + seed, lift=0.05 * row) for seed in range(3)] for row, (shown, name) in pairs
    }


def partition() -> go.Figure:
    labels = np.random.default_rng(0).integers(10, size=1000)
    return fl.plots.partition(fl.partition.dirichlet(labels, num_clients=30, alpha=0.3, seed=0), labels)


def default_look() -> go.Figure:
    """Plotly's own template: bars beside each other, a line, HTML in the texts, a note and two lines across."""
    figure = go.Figure(layout={"title": "Sales: $5 <b>bold</b> <i>it</i> 5 %", "xaxis_title": "x<br>second <b>x</b>"})
    figure.add_scatter(y=[1, 3, 2], name="a<sub>k</sub> &mu;")
    figure.add_bar(y=[2, 1, 3], name="b", marker_pattern_shape="/")
    figure.add_bar(y=[1, 1, 2], name="c", texttemplate="%{y:.1f}", textposition="outside")
    figure.add_hline(y=1.5, line_dash="dot", annotation_text="goal")
    figure.add_vrect(x0=0.5, x1=1.5, fillcolor="grey", opacity=0.2, layer="below", line_width=0)
    return figure


def panels() -> go.Figure:
    figure = make_subplots(rows=2, cols=2, shared_xaxes=True, subplot_titles=["a", "b", "c", "d"])
    for number in range(4):
        y = np.array([1, 4, 9]) * 10.0 ** (2 * number)
        figure.add_scatter(x=[1, 2, 3], y=y, row=number // 2 + 1, col=number % 2 + 1)
    return figure


def powers() -> go.Figure:
    figure = go.Figure()
    x = np.geomspace(1, 3000, 30)
    figure.add_scatter(x=x, y=1 / x, error_y={"type": "data", "array": 0.2 / x, "color": "#0072B2"}, mode="markers")
    figure.add_scatter(x=x, y=2 / x, mode="lines", line_dash="dash")
    figure.update_xaxes(type="log", title="rounds")
    figure.update_yaxes(type="log", exponentformat="power")
    return figure


def stacked() -> go.Figure:
    figure = go.Figure(layout={"barmode": "relative", "showlegend": False})
    for _ in range(3):
        figure.add_bar(y=["one", "two", "three", "four"], x=[1, 2, -1, 3], orientation="h")
    return figure


def marked() -> go.Figure:
    figure = go.Figure(layout={"xaxis_side": "top"})
    look = {"xgap": 2, "ygap": 2, "showscale": False, "colorscale": "Blues", "texttemplate": "%{text}"}
    figure.add_heatmap(z=[[0, 1], [2, 3]], text=[["a", "b"], ["c", "d"]], textfont_size=15, **look)
    return figure


def logarithmic_bars() -> go.Figure:
    return go.Figure(go.Bar(x=["a", "b"], y=[0.5, 500]), layout={"yaxis": {"type": "log"}})


def contours() -> go.Figure:
    x = np.linspace(-2, 2, 41)
    z = x[None, :] ** 2 + 2 * x[:, None] ** 2
    look = {"ncontours": 12, "contours": {"coloring": "lines"}, "showscale": False, "colorscale": "Greys"}
    figure = go.Figure(layout={"width": 500, "height": 500})
    figure.add_contour(x=x, y=x, z=z, **look)
    figure.add_scatter(x=[0, 1, 1], y=[0, 1, 0], marker={"symbol": "arrow", "angleref": "previous", "size": 14})
    figure.update_yaxes(scaleanchor="x", constrain="domain")
    return figure


def texts() -> go.Figure:
    figure = go.Figure()
    figure.add_scatter(x=["a", "b", "c"], y=[1, 2, 3], mode="markers+text", text=["one", "two", "three"])
    figure.update_traces(textposition=["top center", "middle left", "bottom right"], marker_size=[8, 14, 20])
    return figure.update_yaxes(autorange="reversed", tickformat=".0%")


FIGURES: dict[str, Callable[[], go.Figure]] = {
    "convergence": lambda: fl.plots.convergence(race(), title="Digits, α = 0.3"),
    "illustrated": lambda: fl.plots.convergence(race(), "bytes", illustration={"paper": ([1e6, 4e6], [0.3, 0.9])}),
    "losses": lambda: fl.plots.convergence(race(), y="train_loss", log_y=True),
    "drift": lambda: fl.plots.drift(race()),
    "clients": lambda: fl.plots.clients(race()),
    "partition": partition,
    "default_look": default_look,
    "panels": panels,
    "powers": powers,
    "stacked": stacked,
    "marked": marked,
    "logarithmic_bars": logarithmic_bars,
    "contours": contours,
    "texts": texts,
}
