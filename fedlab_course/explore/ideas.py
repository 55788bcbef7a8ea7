"""One idea each: a figure with sliders in a live notebook, and a plain figure everywhere else."""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_course.explore import grid, widgets
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.live import Live


class Idea(Live):
    """A figure that is drawn again for each position of its sliders.

    ``draw``: a function of the sliders' values, by name, that returns a figure. ``sliders``: name →
    :func:`fedlab_course.explore.widgets.slider`. ``goal``: its check is a function of the sliders'
    values. As the last line of a cell it shows itself: live with its sliders, and elsewhere as a
    plain figure, with all its positions for a page.
    """

    def __init__(
        self,
        draw: Callable[..., go.Figure],
        sliders: Mapping[str, Any],
        *,
        goal: Goal | None = None,
    ) -> None:
        super().__init__(goal)
        self._draw = draw
        self.sliders = sliders
        self._lock = Lock()
        self.message = widgets.text()
        for slider in sliders.values():
            slider.observe(lambda change: self.start(), "value")
        self._arrange(
            *sliders.values(), self._goal_line, self.message, self.chart.widget, look="fedlab-idea"
        )

    @property
    def values(self) -> dict[str, Any]:
        """The values of the sliders."""
        return {name: slider.value for name, slider in self.sliders.items()}

    def figure(self, **values: Any) -> go.Figure:
        """The plain figure for ``values``, by default those of the sliders. Raises ``ValueError``
        for other names.
        """
        for name in values:
            validation.choice("slider", name, self.sliders)
        return self._draw(**self.values | values)

    def start(self) -> None:
        """Draw the figure for the values of the sliders."""
        with self._lock:
            try:
                self._present(self.figure())
                self.message.value = ""
            except Exception as error:
                self.message.value = widgets.error_note(error)

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of the figure with all its positions, which a page without a kernel can
        move.
        """
        return grid.plain(self.figure()) | {
            grid.MIME: grid.build(self._draw, self.sliders, self._goal)
        }

    def _reaches(self, goal: Goal) -> bool:
        return bool(goal.check(**self.values))


def gallery(
    figures: Mapping[float, go.Figure],
    label: str,
    *,
    value: float | None = None,
    goal: Goal | None = None,
) -> Idea:
    """One of several figures by number, for example one per λ.

    The slider ``value`` has the text ``label`` and begins at ``value``, by default the least
    number. Raises ``ValueError`` for a number without a figure.
    """

    def draw(value: float) -> go.Figure:
        if value not in figures:
            raise ValueError(
                f"value={value:g}: must be one of "
                f"{', '.join(f'{key:g}' for key in sorted(figures))}"
            )
        return go.Figure(figures[value])

    first = min(figures) if value is None else value
    return Idea(draw, {"value": widgets.slider(label, figures, first, label)}, goal=goal)
