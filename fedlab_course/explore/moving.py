"""A figure as a function of sliders: they move it in a live notebook, and elsewhere it is a plain figure."""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.progress import watched
from fedlab_course.explore import goals
from fedlab_course.explore.live import Chart, Stage
from fedlab_course.explore.widgets import note


class Moving:
    """The common part of ideas, which compute their figure, and explorers, which train for it in the background.

    ``live``: whether a reader is there; detected if None.
    """

    stage: Stage
    chart: Chart

    def __init__(self, goal: goals.Known | None, live: bool | None) -> None:
        self._goal = goal
        self._live = watched() if live is None else live

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None without a goal."""
        return None if self._goal is None else self._reaches(self._goal)

    def figure(self) -> go.Figure:
        """The present chart, as a plain figure."""
        return go.Figure(self.chart.figure)

    def _reaches(self, goal: goals.Known) -> bool:
        raise NotImplementedError

    def _bundle(self) -> dict[str, Any]:
        """The MIME bundle for a notebook without a reader."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Fill the figure, once it is on the page."""
        raise NotImplementedError

    def _goal_in_words(self) -> str:
        return note(goals.words(self._goal, self.reached)) if self._goal else ""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self._live:
            self.stage.display()
            self._begin()
        else:
            display(self._bundle(), raw=True)
