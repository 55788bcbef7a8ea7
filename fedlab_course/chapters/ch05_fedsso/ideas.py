"""Explorer: clusters as valleys of the reachability plot."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core import clustering
from fedlab_course.chapters.ch05_fedsso import figures
from fedlab_course.chart import ladder
from fedlab_course.goals import Goal
from fedlab_course.ideas import gallery
from fedlab_course.ideas.idea import Idea

__all__ = ["gallery", "reachability"]

_XI = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)


def reachability(
    points: Any, *, xi: float = 0.25, min_samples: int = 2, goal: Goal | None = None, live: bool | None = None
) -> Idea:
    """The reachability plot of OPTICS on ``points`` [N, D], with the clusters it cuts out. Slider ``xi``."""
    values = np.asarray(points)

    def draw(xi: float) -> go.Figure:
        figure = figures.reachability(clustering.optics(values, min_samples=min_samples, xi=xi))
        meta = figure.layout.meta
        return figure.update_layout(meta=meta | {"alt": f"ξ={xi:g}. {meta['alt']}"})

    slider = ladder("steepness ξ", _XI, xi, "A cluster begins where the reachability falls by 1 − ξ")
    return Idea(draw, {"xi": slider}, goal=goal, live=live)
