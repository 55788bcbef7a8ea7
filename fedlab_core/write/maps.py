"""Heat maps, contour lines, and the bars that say what their colours mean."""

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection

from fedlab_core.write.colours import colour, limits, scale
from fedlab_core.write.properties import Part
from fedlab_core.write.ticks import multiples, round_step
from fedlab_core.write.trace import Trace
from fedlab_core.write.words import words


class Map(Trace):
    """What is drawn from a matrix ``z`` [rows, columns]. ``shared``: the colour axis of the layout, if it has one."""

    shared: Part | None = None
    text_size = 12.0

    def matrix(self) -> np.ndarray:
        return np.array([[math.nan if value is None else float(value) for value in row] for row in self.part("z")])

    def values(self, letter: str) -> np.ndarray:
        given = self.part(letter)
        given = range(self.matrix().shape[1 if letter == "x" else 0]) if given is None else given
        return np.asarray(given, dtype=object)

    def colouring(self) -> tuple[Any, tuple[float, float], Part]:
        """The scale, the numbers at its ends, and the part that its bar is described in."""
        if self.shared is not None:
            return (
                scale(self.shared, self.shared("colorscale")),
                limits(self.shared, self.matrix(), *_ENDS),
                self.shared,
            )
        return scale(self.part, self.part("colorscale")), limits(self.part, self.matrix(), "zmin", "zmax"), self.part


_ENDS = ("cmin", "cmax")


class HeatMap(Map):
    layer = 1.0

    def edges(self, letter: str) -> np.ndarray:
        """Where the cells begin and end: halfway between their middles, unless all edges are given."""
        places = self.places(letter)
        if len(places) == self.matrix().shape[1 if letter == "x" else 0] + 1:
            return places
        if len(places) == 1:
            return np.array([places[0] - 0.5, places[0] + 0.5])
        inner = (places[1:] + places[:-1]) / 2
        return np.array([2 * places[0] - inner[0], *inner, 2 * places[-1] - inner[-1]])

    def reach(self) -> None:
        for letter in "xy":
            self.axis(letter).reach(self.edges(letter), share=False)

    def draw(self, axes: Axes) -> None:
        colours, (low, high), _ = self.colouring()
        x, y, z = self.edges("x"), self.edges("y"), self.matrix()
        across, up = (float(self.part(f"{letter}gap", 0)) / self.axis(letter).unit / 2 for letter in "xy")
        rows, columns = np.nonzero(~np.isnan(z))
        left, right, low_edge, high_edge = x[columns] + across, x[columns + 1] - across, y[rows] + up, y[rows + 1] - up
        corners = [(left, low_edge), (right, low_edge), (right, high_edge), (left, high_edge)]
        cells = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
        shares = (z[rows, columns] - low) / ((high - low) or 1.0)
        faces = colours(np.clip(shares, 0, 1))
        # Without a gap, a hair of the cell's own colour hides the seams between neighbours.
        seam = {"edgecolors": faces, "linewidths": 0.3} if not across and not up else {"linewidths": 0}
        axes.add_collection(PolyCollection(cells, facecolors=faces, zorder=self.layer, **seam), autolim=False)
        if self.part("texttemplate") is not None:
            self._draw_texts(axes, rows, columns, faces)

    def _draw_texts(self, axes: Axes, rows: np.ndarray, columns: np.ndarray, faces: np.ndarray) -> None:
        """The text of every cell, black or white if it has no colour of its own."""
        self.part.choice("texttemplate", None, ("%{text}",))
        x, y, texts = self.places("x"), self.places("y"), self.part("text")
        for row, column, face in zip(rows, columns, faces, strict=True):
            text = words(texts[row][column])
            own = "#444" if face[:3].mean() > 0.5 else "white"
            look = {"ha": "center", "va": "center_baseline", "fontsize": self.part("textfont.size", self.text_size)}
            shade = colour(self.part("textfont.color", own))
            axes.text(x[column], y[row], text.text, color=shade, zorder=self.layer, **look, **text.font)


class Contours(Map):
    layer = 1.5

    def reach(self) -> None:
        for letter in "xy":
            self.axis(letter).reach(self.places(letter), share=False)

    def draw(self, axes: Axes) -> None:
        self.part.choice("contours.coloring", "fill", ("lines",))
        colours, (low, high), _ = self.colouring()
        step = round_step((high - low) / int(self.part("ncontours", 15)))
        levels = [level for level in multiples(low, high, step) if low < level < high]
        shares = np.linspace(0, 1, len(levels)) if len(levels) > 1 else np.zeros(len(levels))
        look = {"linewidths": float(self.part("line.width", 0.5)), "zorder": self.layer}
        x, y = self.places("x"), self.places("y")
        axes.contour(x, y, self.matrix(), levels=levels, colors=list(colours(shares)), **look)
