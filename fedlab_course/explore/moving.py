"""A figure as a function of sliders: in a live notebook they move it, and elsewhere it is a plain figure."""

from typing import Any

import plotly.graph_objects as go

from fedlab_core.progress import watched
from fedlab_course.explore import goals
from fedlab_course.explore.live import Chart, Stage
from fedlab_course.explore.widgets import note


class Moving:
    """What ideas and explorers share. A subclass fills the figure: it computes, or it trains in the background.

    ``live``: whether somebody watches; found out if None.
    """

    stage: Stage
    chart: Chart

    def __init__(self, goal: goals.Known | None, live: bool | None) -> None:
        self._goal = goal
        self._live = watched() if live is None else live

    @property
    def reached(self) -> bool | None:
        """Whether the goal is reached; None if there is none."""
        return None if self._goal is None else self._reaches(self._goal)

    def figure(self) -> go.Figure:
        """The chart as it is now, as a plain figure."""
        return go.Figure(self.chart.figure)

    def _reaches(self, goal: goals.Known) -> bool:
        raise NotImplementedError

    def _bundle(self) -> dict[str, Any]:
        """What a notebook without a reader shows, as a MIME bundle."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Fill the figure once it is on the page."""
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
