"""Explorer: clusters as valleys of the reachability plot."""

from typing import Any

import plotly.graph_objects as go

from fedlab_core import clustering
from fedlab_course.chapters.ch05_fedsso import figures
from fedlab_course.explore.figures import prefixed
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.ideas import Idea, gallery
from fedlab_course.explore.widgets import slider

__all__ = ["gallery", "reachability"]

_XI = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7)


def reachability(points: Any, *, xi: float = 0.25, goal: Goal | None = None) -> Idea:
    """The reachability plot of OPTICS on ``points`` [N, D], with the clusters it cuts out. Slider ``xi``."""

    def draw(xi: float) -> go.Figure:
        return prefixed(figures.reachability(clustering.optics(points, xi=xi)), f"ξ={xi:g}.")

    steepness = slider("steepness ξ", _XI, xi, "A cluster begins where the reachability falls by 1 − ξ", moving=False)
    return Idea(draw, {"xi": steepness}, goal=goal)
