"""Explorers: how far local steps lead away from the optimum, and what the Dirichlet α does to the clients."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core import plots
from fedlab_core.data import FederatedDataset, load_dataset, partition
from fedlab_core.data.dataset import Dataset
from fedlab_core.plots.style import BLACK, GREEN, GREY, look, new_figure, set_description
from fedlab_course.chapters.ch01_noniid_and_drift import figures
from fedlab_course.explore.figures import add_curve, prefixed
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.quadratics import Quadratics, rest
from fedlab_course.explore.sliders import Slider

_STEPS, _RATES = (1, 2, 3, 5, 10, 20, 50), (0.01, 0.03, 0.1, 0.3)


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
    walks = clients.walk(clients.optimum, steps, lr)
    optimum, mean = float(clients.optimum[0]), float(walks[-1].mean())
    stop = float(rest(lambda w: clients.walk(w, steps, lr)[-1].mean(0), 1)[0])
    figure = new_figure(title=None, x_title="w", y_title="loss", height=520)
    low, high = min(clients.b.min(), optimum), max(clients.b.max(), optimum)
    margin = 0.2 * (high - low)
    figures.add_losses(figure, clients, np.linspace(low - margin, high + margin, 121))
    highest = 0.0
    for k, walk in enumerate(walks.swapaxes(0, 1)):
        at_steps, style = clients.loss(walk)[k], replace(look(k + 1), dash="solid")
        highest = max(highest, at_steps.max())
        add_curve(figure, walk[:, 0], at_steps, f"steps of client {k + 1}", style, size=9, width=1)
    figures.add_mark(figure, clients, optimum, "optimum, where the round begins", "star", BLACK)
    figures.add_mark(figure, clients, mean, "mean after the round", "diamond", GREEN)
    figures.add_mark(figure, clients, stop, "where FedAvg comes to rest", "x", GREY)
    figure.update_xaxes(range=[low - margin, high + margin])
    figure.update_yaxes(range=[-0.05, 2.2 * highest])
    numbers = {"optimum": optimum, "mean after one round": mean, "FedAvg comes to rest at": stop}
    phrases = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items())
    text = f"Parabolas of the clients and their mean, with {steps} local steps each at η={lr:g}: {phrases}."
    rows = [[name, f"{value:.10f}"] for name, value in numbers.items()]
    set_description(figure, text, ["quantity", "w"], rows)
    return figure


_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0)


def skew(
    data: Dataset | None = None, *, alpha: float = 0.3, num_clients: int = 50, seed: int = 0, **options: Any
) -> Idea:
    """Who holds what when ``data`` (digits if None) is dealt with label mixes from Dir(α). Sliders ``alpha``, ``seed``.

    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    data = load_dataset("digits") if data is None else data

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = partition.dirichlet(data.train.y, num_clients=num_clients, alpha=alpha, seed=seed)
        return prefixed(plots.partition(FederatedDataset(data, parts)), f"Dirichlet α={alpha:g}, seed {seed}.")

    sliders = {
        "alpha": Slider.over("α of Dirichlet", _ALPHAS, alpha, "Small: few labels per client"),
        "seed": Slider.over("seed", range(10), seed, "Another draw from the same law"),
    }
    return Idea(draw, sliders, **options)
