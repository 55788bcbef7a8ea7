"""Explorers: how far local steps lead away from the optimum, and what the Dirichlet α does to the clients."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core import plots
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.data.dataset import Dataset
from fedlab_core.plots.style import BLACK, BLUE, GREEN, GREY, VERMILLION, new_figure, set_description
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import Quadratics, rest
from fedlab_course.explore.sliders import Slider

_STEPS, _RATES = (1, 2, 3, 5, 10, 20, 50), (0.01, 0.03, 0.1, 0.3)
_LOOKS = ((BLUE, "square", "9px,3px"), (VERMILLION, "triangle-up", "5px,2px,1px,2px"))


def local_steps(
    a: Sequence[float] = (1.0, 3.0),
    b: Sequence[float] = (0.0, 1.0),
    *,
    steps: int = 10,
    lr: float = 0.1,
    **options: Any,
) -> Idea:
    """Two clients f_k(w) = a_k/2 (w − b_k)² make ``steps`` local steps from the optimum, and FedAvg takes the mean.

    Sliders ``steps`` and ``lr``. The figure shows the walks, their mean, and where FedAvg comes to rest.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    clients = Quadratics.of(a, b)
    sliders = {
        "steps": Slider.over("local steps τ", _STEPS, steps, "Local steps in a round"),
        "lr": Slider.over("learning rate η", _RATES, lr, "Step size of the local steps"),
    }
    return Idea(lambda steps, lr: _figure(clients, steps, lr), sliders, **options)


def _figure(clients: Quadratics, steps: int, lr: float) -> go.Figure:
    stop = rest(lambda w: clients.walk(w, steps, lr)[-1].mean(0), 1)
    walks = clients.walk(clients.optimum, steps, lr)
    mean = walks[-1].mean(0)
    figure = _parabolas(clients, walks)
    _mark(figure, clients, clients.optimum, "optimum, where the round begins", "star", BLACK)
    _mark(figure, clients, mean, "mean after the round", "diamond", GREEN)
    _mark(figure, clients, stop, "where FedAvg comes to rest", "x", GREY)
    numbers = {"optimum": clients.optimum[0], "mean after one round": mean[0], "FedAvg comes to rest at": stop[0]}
    phrases = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items())
    text = f"Parabolas of the clients and their mean, with {steps} local steps each at η={lr:g}: {phrases}."
    rows = [[name, f"{value:.10f}"] for name, value in numbers.items()]
    set_description(figure, text, ["quantity", "w"], rows)
    return figure


def _parabolas(clients: Quadratics, walks: np.ndarray) -> go.Figure:
    """The loss of each client with its steps ``walks`` [steps + 1, N, 1] on it, and the mean of the losses."""
    figure = new_figure(title=None, x_title="w", y_title="loss", height=520)
    low, high = min(clients.b.min(), clients.optimum[0]), max(clients.b.max(), clients.optimum[0])
    grid = np.linspace(low - 0.2 * (high - low), high + 0.2 * (high - low), 121)[:, None]
    losses = clients.loss(grid)
    at_steps = np.stack([clients.loss(walk)[k] for k, walk in enumerate(walks.swapaxes(0, 1))])
    for k, (values, points) in enumerate(zip(losses, at_steps, strict=True)):
        colour, symbol, dash = _LOOKS[k % 2]
        line = {"color": colour, "dash": dash}
        figure.add_scatter(x=grid[:, 0], y=values, name=f"f<sub>{k + 1}</sub>", mode="lines", line=line)
        figure.add_scatter(
            x=walks[:, k, 0],
            y=points,
            name=f"steps of client {k + 1}",
            mode="lines+markers",
            line={"color": colour, "width": 1},
            marker={"symbol": symbol, "color": colour, "size": 9},
        )
    thick = {"color": BLACK, "width": 3}
    figure.add_scatter(x=grid[:, 0], y=losses.mean(0), name="F, their mean", mode="lines", line=thick)
    figure.update_xaxes(range=[grid[0, 0], grid[-1, 0]])
    figure.update_yaxes(range=[-0.05, 2.2 * at_steps.max()])
    return figure


def _mark(figure: go.Figure, clients: Quadratics, w: np.ndarray, name: str, symbol: str, colour: str) -> None:
    marker = {"symbol": symbol, "size": 14, "color": colour, "line": {"color": "white", "width": 1}}
    figure.add_scatter(x=w, y=[clients.loss(w).mean()], name=name, mode="markers", marker=marker)


_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0)


def skew(
    data: Dataset | None = None,
    *,
    alpha: float = 0.3,
    num_clients: int = 50,
    by: str = "client",
    seed: int = 0,
    **options: Any,
) -> Idea:
    """Who holds what when ``data`` (digits if None) is dealt with label mixes from Dir(α). Sliders ``alpha``, ``seed``.

    ``by``: "client" or "class", the two laws of :func:`fedlab_core.partition.dirichlet`.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    data = load_dataset("digits") if data is None else data

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = partition.dirichlet(data.train.y, num_clients=num_clients, alpha=alpha, by=by, seed=seed)
        return prefixed(plots.partition(FederatedDataset(data, parts)), f"Dirichlet α={alpha:g}, seed {seed}.")

    sliders = {
        "alpha": Slider.over("α of Dirichlet", _ALPHAS, alpha, "Small: few labels per client"),
        "seed": Slider.over("seed", range(10), seed, "Another draw from the same law"),
    }
    return Idea(draw, sliders, **options)
