"""One idea in one figure with one or two sliders."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.progress import watched
from fedlab_course import chart, grid


class Idea:
    """A figure drawn anew for every value of its sliders.

    ``draw``: a function of the sliders' values, by name, that returns a figure. ``sliders``: name → slider, as
    :func:`fedlab_course.chart.ladder` makes them. ``live``: whether somebody watches; found out if None.

    As the last line of a cell it shows itself: with its sliders where somebody can move them, and elsewhere as the
    plain figure of :meth:`figure`, with what a page needs to move it (:mod:`fedlab_course.grid`).
    """

    def __init__(self, draw: Callable[..., go.Figure], sliders: Mapping[str, Any], *, live: bool | None = None) -> None:
        self.sliders = dict(sliders)
        self._draw = draw
        self._live = watched() if live is None else live
        self._lock = Lock()
        self._message = chart.text()
        self.chart = chart.Chart(self.figure())
        for slider in self.sliders.values():
            slider.observe(lambda change: self._redraw(), "value")
        self.stage = chart.Stage(*self.sliders.values(), self._message, self.chart.widget, look="fedlab-idea")

    @property
    def values(self) -> dict[str, Any]:
        """What the sliders say."""
        return {name: slider.value for name, slider in self.sliders.items()}

    @property
    def message(self) -> str:
        """The error that the last move of a slider led to, in words; empty if there was none."""
        return str(self._message.value)

    def figure(self, **values: Any) -> go.Figure:
        """The plain figure for ``values``, by default those of the sliders. Raises ``ValueError`` for other names."""
        for name in values:
            validation.choice("slider", name, self.sliders)
        return self._draw(**self.values | values)

    def _redraw(self) -> None:
        with self._lock:
            try:
                self.chart.show(self.figure())
                self.stage.keep(self.chart.figure)
                self._message.value = ""
            except Exception as error:
                self._message.value = chart.note(chart.error_in_words(error), kind="alert")
            self.stage.beat()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if self._live:
            self.stage.display()
            self.stage.keep(self.chart.figure)
        else:
            display(grid.bundle(self._draw, self.sliders), raw=True)
