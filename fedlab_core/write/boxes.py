"""Boxes with whiskers, and the values beside or over them."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from fedlab_core.write.colours import colour
from fedlab_core.write.symbols import outline
from fedlab_core.write.trace import Trace

_GOLDEN = (5**0.5 - 1) / 2


class Boxes(Trace):
    """A box trace: per position the middle half with the median, whiskers to 1.5 of its width, and points."""

    layer = 2.5

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.along, self.across = ("y", "x") if self.sideways else ("x", "y")

    def values(self, letter: str) -> np.ndarray:
        if letter == self.along and self.part(letter) is None:
            return np.array([self.name] * len(super().values(self.across)), dtype=object)
        return super().values(letter)

    @property
    def width(self) -> float:
        return float(self.part("width", 0.5))

    def reach(self) -> None:
        positions = np.unique(self.places(self.along))
        for side in (-0.5, 0.5):
            self.axis(self.along).reach(positions + side * max(self.width, 1.0), share=False)
        self.axis(self.across).reach(self.places(self.across), float(self.part("marker.size", 6)) / 2)

    def draw(self, axes: Axes) -> None:
        positions, values = self.places(self.along), self.places(self.across)
        for position in np.unique(positions):
            mine = np.sort(values[(positions == position) & ~np.isnan(values)])
            if len(mine):
                self._draw_box(axes, float(position), mine)
                self._draw_points(axes, float(position), mine)

    def key(self) -> list[Artist]:
        return [Rectangle((0, 0), 1, 1, **self._look())]

    def _look(self) -> dict[str, Any]:
        edge = self.part("line.color", self.part("marker.color", self.own_colour))
        face = colour(self.part("fillcolor"), self.opacity) if self.part("fillcolor") else colour(edge, 0.5)
        width = float(self.part("line.width", 2))
        return {"facecolor": face, "edgecolor": colour(edge, self.opacity), "linewidth": width}

    def _summary(self, values: np.ndarray) -> tuple[float, float, float, float, float]:
        """Whisker, quartile, median, quartile, whisker, as Plotly's "linear" quartiles."""
        first, median, third = np.quantile(values, (0.25, 0.5, 0.75), method="hazen")
        reach = 1.5 * (third - first)
        low, high = values[values >= first - reach].min(), values[values <= third + reach].max()
        return min(low, first), first, median, third, max(high, third)

    def _draw_box(self, axes: Axes, position: float, values: np.ndarray) -> None:
        low, first, median, third, high = self._summary(values)
        box, half = self._look(), self.width / 2
        corner, size = (position - half, first), (2 * half, third - first)
        corner, size = (corner[::-1], size[::-1]) if self.sideways else (corner, size)
        axes.add_patch(Rectangle(corner, *size, **box, zorder=self.layer))
        look = {"color": box["edgecolor"], "linewidth": box["linewidth"], "zorder": self.layer}
        strokes = [((position, position), ends) for ends in ((low, first), (third, high))]
        strokes += [((position - half, position + half), (median, median))]
        strokes += [((position - half / 2, position + half / 2), (end, end)) for end in (low, high)]
        for along, across in strokes:
            axes.plot(*((across, along) if self.sideways else (along, across)), solid_capstyle="butt", **look)

    def _draw_points(self, axes: Axes, position: float, values: np.ndarray) -> None:
        shown = self.part.choice("boxpoints", "outliers", ("all", "outliers", False))
        low, _, _, _, high = self._summary(values)
        if shown == "outliers":
            values = values[(values < low) | (values > high)]
        if shown is False or not len(values):
            return
        # Plotly scatters the points at random; here they are spread evenly, the same in every drawing.
        spread = (np.arange(len(values)) * _GOLDEN % 1 - 0.5) * float(self.part("jitter", 0.3 if shown == "all" else 0))
        along = position + self.width * (spread + float(self.part("pointpos", -1.8 if shown == "all" else 0)) / 2)
        path, extent, _ = outline(self.part("marker.symbol", "circle"))
        face = colour(self.part("marker.color", self.own_colour), self.opacity * float(self.part("marker.opacity", 1)))
        area = (float(self.part("marker.size", 6)) * extent) ** 2
        points = (values, along) if self.sideways else (along, values)
        axes.scatter(*points, s=area, marker=path, facecolors=[face], linewidths=0, zorder=self.layer)
