"""Explorer: where rules of averaging come to rest when one client does less and less."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from fedlab_course import theory
from fedlab_course.explore.figures import resting_points
from fedlab_course.explore.ideas import Idea
from fedlab_course.explore.sliders import Slider

_RATES, _MU = (0.01, 0.03, 0.1), (0.0, 0.3, 1.0, 3.0, 10.0)


def unequal_work(
    a: Sequence[float] = (2.0, 2.0),
    b: Sequence[float] = (0.0, 1.0),
    *,
    most: int = 10,
    lr: float = 0.1,
    mu: float = 1.0,
    **options: Any,
) -> Idea:
    """Two clients F_k(w) = a_k/2 (w − b_k)²; the first makes ``most`` local steps, the second from 1 to ``most``.

    Sliders ``lr`` and ``mu``. The figure shows the resting points of FedAvg, FedProx, FedNova, and FedNova with the
    spring, against the steps of the second client; with μ = 0 the spring is left out.
    ``options``: those of ``Idea``, ``goal`` and ``live``.
    """
    sliders = {
        "lr": Slider.over("learning rate η", _RATES, lr, "Step size of the local steps"),
        "mu": Slider.over("μ of the spring", _MU, mu, "Proximal strength"),
    }
    return Idea(lambda lr, mu: _figure(a, b, most, lr, mu), sliders, **options)


def _figure(a: Sequence[float], b: Sequence[float], most: int, lr: float, mu: float) -> go.Figure:
    steps = list(range(1, most + 1))
    rules = {"FedAvg": (0.0, False), "FedNova": (0.0, True)}
    if mu:
        rules |= {f"FedProx μ={mu:g}": (mu, False), f"FedNova μ={mu:g}": (mu, True)}
    lines = {
        name: (steps, [theory.resting_point(a, b, [most, tau], lr, pull, normalised=nova) for tau in steps])
        for name, (pull, nova) in rules.items()
    }
    optimum = sum(x * y for x, y in zip(a, b, strict=True)) / sum(a)
    return resting_points(lines, optimum=optimum, x_title="steps of client 2")
