"""One idea in one figure with one or two sliders."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.progress import watched
from fedlab_course import chart, grid
from fedlab_course.goals import Goal, words


class Idea:
    """A figure drawn anew for every value of its sliders.

    ``draw``: a function of the sliders' values, by name, that returns a figure. ``sliders``: name → slider, as
    :func:`fedlab_course.chart.ladder` makes them. ``goal``: what the reader is asked to reach; its check is a function
    of the sliders' values. ``live``: whether somebody watches; found out if None.

    As the last line of a cell it shows itself: with its sliders where somebody can move them, and elsewhere as the
    plain figure of :meth:`figure`, with what a page needs to move it (:mod:`fedlab_course.grid`).
    """

    def __init__(
        self,
        draw: Callable[..., go.Figure],
        sliders: Mapping[str, Any],
        *,
        goal: Goal | None = None,
        live: bool | None = None,
    ) -> None:
        self.sliders = dict(sliders)
        self._draw, self._goal = draw, goal
        self._live = watched() if live is None else live
        self._lock = Lock()
        self._message, self._goal_line = chart.text(), chart.text(self._state())
        self.chart = chart.Chart(self.figure())
        for slider in self.sliders.values():
            slider.observe(lambda change: self._redraw(), "value")
        self.stage = chart.Stage(
            *self.sliders.values(), self._goal_line, self._message, self.chart.widget, look="fedlab-idea"
        )

    @property
    def values(self) -> dict[str, Any]:
        """What the sliders say."""
        return {name: slider.value for name, slider in self.sliders.items()}

    @property
    def message(self) -> str:
        """The error that the last move of a slider led to, in words; empty if there was none."""
        return str(self._message.value)

    @property
    def reached(self) -> bool | None:
        """Whether the sliders reach the goal; None if there is none."""
        return None if self._goal is None else bool(self._goal.check(**self.values))

    def figure(self, **values: Any) -> go.Figure:
        """The plain figure for ``values``, by default those of the sliders. Raises ``ValueError`` for other names."""
        for name in values:
            validation.choice("slider", name, self.sliders)
        return self._draw(**self.values | values)

    def _state(self) -> str:
        return chart.note(words(self._goal, self.reached)) if self._goal else ""

    def _redraw(self) -> None:
        with self._lock:
            try:
                self.chart.show(self.figure())
                self.stage.keep(self.chart.figure)
                self._message.value, self._goal_line.value = "", self._state()
            except Exception as error:
                self._message.value = chart.note(chart.error_in_words(error), kind="alert")
            self.stage.beat()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self._live:
            self.stage.display()
            self.stage.keep(self.chart.figure)
        else:
            display(grid.bundle(self._draw, self.sliders, self._goal), raw=True)
