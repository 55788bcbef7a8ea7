"""One idea each: a figure with sliders in a live notebook, and a plain figure everywhere else."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_course.explore import grid, widgets
from fedlab_course.explore.goals import Goal, Known
from fedlab_course.explore.live import Chart, Moving, Stage
from fedlab_course.explore.sliders import Slider


class Idea(Moving):
    """A figure that is drawn again for each position of its sliders.

    ``draw``: a function of the sliders' values, by name, that returns a figure. ``sliders``: name →
    :class:`fedlab_course.explore.sliders.Slider`; the attribute holds their widgets. ``goal``: its check is a function
    of the sliders' values. ``live``: whether a reader is there; detected if None. As the last line of a cell it shows
    itself: live with its sliders, and elsewhere as a plain figure, with all its positions for a page.
    """

    def __init__(
        self,
        draw: Callable[..., go.Figure],
        sliders: Mapping[str, Slider],
        *,
        goal: Goal | None = None,
        live: bool | None = None,
    ) -> None:
        super().__init__(goal, live)
        self._draw, self._positions, self._lock = draw, dict(sliders), Lock()
        self.sliders = {name: widgets.slider(one) for name, one in sliders.items()}
        self.message, self._goal_line = widgets.text(), widgets.text(self._goal_in_words())
        self.chart = Chart(self.figure())
        for slider in self.sliders.values():
            slider.observe(lambda change: self._redraw(), "value")
        parts = (*self.sliders.values(), self._goal_line, self.message, self.chart.widget)
        self.stage = Stage(*parts, look="fedlab-idea")

    @property
    def values(self) -> dict[str, Any]:
        """The values of the sliders."""
        return {name: slider.value for name, slider in self.sliders.items()}

    def figure(self, **values: Any) -> go.Figure:
        """The plain figure for ``values``, by default those of the sliders. Raises ``ValueError`` for other names."""
        for name in values:
            validation.choice("slider", name, self.sliders)
        return self._draw(**self.values | values)

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of the figure with all its positions, which a page without a kernel can move."""
        now = {name: replace(one, value=self.sliders[name].value) for name, one in self._positions.items()}
        return grid.plain(self.figure()) | {grid.MIME: grid.build(self._draw, now, self._goal)}

    def _reaches(self, goal: Known) -> bool:
        return bool(goal.check(**self.values))

    def _begin(self) -> None:
        self.stage.keep(self.chart.figure)

    def _redraw(self) -> None:
        with self._lock:
            try:
                self.chart.show(self.figure())
                self.stage.keep(self.chart.figure)
                self.message.value, self._goal_line.value = "", self._goal_in_words()
            except Exception as error:
                self.message.value = widgets.note(widgets.error_in_words(error), kind="alert")


def gallery(figures: Mapping[float, go.Figure], label: str, *, value: float | None = None, **more: Any) -> Idea:
    """One of several figures by number, for example one per λ.

    The slider ``value`` has the text ``label`` and begins at ``value``, by default the least number. ``more``: ``goal``
    and ``live`` of :class:`Idea`. Raises ``ValueError`` for a number without a figure.
    """

    def draw(value: float) -> go.Figure:
        if value not in figures:
            raise ValueError(f"value={value:g}: must be one of {', '.join(f'{key:g}' for key in sorted(figures))}")
        return go.Figure(figures[value])

    first = min(figures) if value is None else value
    return Idea(draw, {"value": Slider.over(label, figures, first, label)}, **more)
