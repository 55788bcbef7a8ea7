"""Explorers: how far local steps lead away from the optimum, and what the Dirichlet α does to the clients."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.style import BLACK, GREEN, GREY, look, set_description
from fedlab_course import theory
from fedlab_course.chapters.ch01_noniid_and_drift.figures import CLIENTS, A, B, add_mark, losses
from fedlab_course.explore.figures import add_curve, prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider

_STEPS, _RATES = (1, 2, 3, 5, 10, 20, 50), (0.01, 0.03, 0.1, 0.3)
_ALPHAS = (0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 3.0, 10.0, 100.0)


def local_steps(*, goal: Goal | None = None) -> Idea:
    """Two clients a_k/2 (w − b_k)², a = (1, 3) and b = (0, 1), make local steps, and FedAvg takes the mean.

    Sliders ``steps`` and ``lr``. The figure shows the walks from the optimum, their mean, and where FedAvg comes to
    rest.
    """
    sliders = {
        "steps": slider("local steps τ", _STEPS, 10, "Local steps in a round"),
        "lr": slider("learning rate η", _RATES, 0.1, "Step size of the local steps"),
    }
    return Idea(_walks, sliders, goal=goal)


def _walks(steps: int, lr: float) -> go.Figure:
    walks = CLIENTS.walk(CLIENTS.optimum, steps, lr)
    optimum, mean, stop = CLIENTS.optimum.item(), walks[-1].mean(), theory.resting_point(A, B, steps, lr)
    figure = losses(np.linspace(-0.2, 1.2, 121), height=520)
    highest = 0.0
    for k, walk in enumerate(walks.swapaxes(0, 1)):
        at_steps, style = CLIENTS.loss(walk)[k], replace(look(k + 1), dash="solid")
        highest = max(highest, at_steps.max())
        add_curve(figure, walk[:, 0], at_steps, f"steps of client {k + 1}", style, size=9, width=1)
    add_mark(figure, optimum, "optimum, where the round begins", "star", BLACK)
    add_mark(figure, mean, "mean after the round", "diamond", GREEN)
    add_mark(figure, stop, "where FedAvg comes to rest", "x", GREY)
    figure.update_xaxes(range=[-0.2, 1.2])
    figure.update_yaxes(range=[-0.05, 2.2 * highest])
    numbers = {"optimum": optimum, "mean after one round": mean, "FedAvg comes to rest at": stop}
    phrases = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items())
    text = f"Parabolas of the clients and their mean, with {steps} local steps each at η={lr:g}: {phrases}."
    rows = [[name, f"{value:.10f}"] for name, value in numbers.items()]
    set_description(figure, text, ["quantity", "w"], rows)
    return figure


def skew(data: fl.Dataset) -> Idea:
    """Who holds what when ``data`` is dealt with label mixes from Dir(α). Sliders ``alpha`` and ``seed``."""

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = fl.partition.dirichlet(data.train.y, num_clients=50, alpha=alpha, seed=seed)
        return prefixed(fl.plots.partition(fl.FederatedDataset(data, parts)), f"Dirichlet α={alpha:g}, seed {seed}.")

    sliders = {
        "alpha": slider("α of Dirichlet", _ALPHAS, 0.3, "Small: few labels per client"),
        "seed": slider("seed", range(10), 0, "Another draw from the same law"),
    }
    return Idea(draw, sliders)
