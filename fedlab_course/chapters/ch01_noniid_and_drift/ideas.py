"""Explorers: how far local steps lead away from the optimum, and what the Dirichlet α does to the
clients.
"""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

import fedlab_core as fl
from fedlab_core.plots.colours import GREY, GROUPS, INK
from fedlab_core.plots.style import group_look, set_description
from fedlab_course import theory
from fedlab_course.chapters.ch01_noniid_and_drift.figures import CLIENTS, A, B, add_mark, losses
from fedlab_course.explore.figures import add_curve, prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.widgets import slider_of


def local_steps(*, goal: Goal | None = None) -> Idea:
    """Two clients a_k/2 (w − b_k)², a = (1, 3) and b = (0, 1), make local steps, and FedAvg takes
    the mean.

    Sliders ``steps`` and ``lr``. The figure shows the walks from the optimum, their mean, and where
    FedAvg comes to rest.
    """
    sliders = {
        "steps": slider_of("local_steps"),
        "lr": slider_of("lr", "quadratics"),
    }
    return Idea(_walks, sliders, goal=goal)


def _walks(steps: int, lr: float) -> go.Figure:
    walks = CLIENTS.walk(CLIENTS.optimum, steps, lr)
    optimum = CLIENTS.optimum.item()
    mean = walks[-1].mean()
    stop = theory.resting_point(A, B, steps, lr)
    figure = losses(np.linspace(-0.2, 1.2, 121), height=520)
    highest = 0.0
    for k, walk in enumerate(walks.swapaxes(0, 1)):
        at_steps = CLIENTS.loss(walk)[k]
        style = replace(group_look(k), dash="solid")
        highest = max(highest, at_steps.max())
        add_curve(figure, walk[:, 0], at_steps, f"steps of client {k + 1}", style, size=9, width=1)
    add_mark(figure, optimum, "optimum, where the round begins", "star", INK)
    add_mark(figure, mean, "mean after the round", "diamond", GROUPS[4])
    add_mark(figure, stop, "where FedAvg comes to rest", "x", GREY)
    figure.update_xaxes(range=[-0.2, 1.2])
    figure.update_yaxes(range=[-0.05, 2.2 * highest])
    numbers = {"optimum": optimum, "mean after one round": mean, "FedAvg comes to rest at": stop}
    phrases = ", ".join(f"{name} {value:.4f}" for name, value in numbers.items())
    text = (
        f"Parabolas of the clients and their mean, with {steps} local steps each at η={lr:g}: "
        f"{phrases}."
    )
    rows = [[name, f"{value:.10f}"] for name, value in numbers.items()]
    set_description(figure, text, ["quantity", "w"], rows)
    return figure


def skew(data: fl.Dataset) -> Idea:
    """Who holds what when ``data`` is dealt with label mixes from Dir(α). Sliders ``alpha`` and
    ``seed``.
    """

    def draw(alpha: float, seed: int) -> go.Figure:
        parts = fl.partition.dirichlet(data.train.y, num_clients=50, alpha=alpha, seed=seed)
        return prefixed(
            fl.plots.partition(fl.FederatedDataset(data, parts)),
            f"Dirichlet α={alpha:g}, seed {seed}.",
        )

    sliders = {
        "alpha": slider_of("alpha", "skew"),
        "seed": slider_of("seed", "skew"),
    }
    return Idea(draw, sliders)
