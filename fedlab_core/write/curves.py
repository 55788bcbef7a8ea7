"""Scatter traces: lines, markers, texts, bands and error bars."""

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fedlab_core.write.colours import colour, colours
from fedlab_core.write.symbols import dashes, displayed, outline
from fedlab_core.write.trace import Trace
from fedlab_core.write.words import words

_SHAPES = {"linear": "default", "hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid"}
_FILLS = ("none", "toself", "tozeroy", "tonexty")
_SIDES = {"left": "right", "right": "left", "center": "center"}
_LINE_SPACING = 1.3


class Curve(Trace):
    """A scatter trace. ``before``: how many traces before it leave out some markers; ``below``: the one before it."""

    before = 0
    below: "Curve | None" = None
    text_size = 12.0
    text_colour = "#444"

    @property
    def mode(self) -> set[str]:
        default = "lines+markers" if len(self.values("x")) < 20 else "lines"
        return set(str(self.part("mode", default)).split("+"))

    @property
    def fill(self) -> str:
        return str(self.part.choice("fill", "none", _FILLS))

    @property
    def line_colour(self) -> Any:
        marker = self.part("marker.color")
        return self.part("line.color", marker if isinstance(marker, str) else self.own_colour)

    def sizes(self) -> np.ndarray:
        return np.broadcast_to(np.asarray(self.part("marker.size", 6), dtype=float), len(self.values("x")))

    def reach(self) -> None:
        drawn = "markers" in self.mode
        marks = np.maximum(self.sizes() / 1.6, 3) if drawn else 0.0
        loose = (drawn or "text" in self.mode or self.part("error_y.array") is not None) and self.fill in (
            *("none", "toself"),
        )
        self.x_axis.reach(self.places("x"), marks if loose else 0.0, share=loose)
        self.y_axis.reach(self.places("y"), marks)
        if self.fill == "tozeroy":
            self.y_axis.reach([0.0], share=False)
        for letter in "xy":
            for end in self.error_ends(letter) or ():
                self.axis(letter).reach(end)

    def draw(self, axes: Axes) -> None:
        x, y = self.places("x"), self.places("y")
        self._draw_fill(axes, x, y)
        self.draw_errors(axes, self.line_colour)
        if "lines" in self.mode and self._width:
            shown = ~(np.isnan(x) | np.isnan(y)) if self.part("connectgaps", False) else slice(None)
            axes.add_line(self._line(x[shown], y[shown]))
        if "markers" in self.mode:
            self._draw_markers(axes, x, y)
        if "text" in self.mode:
            self._draw_texts(axes, x, y)

    def key(self) -> list[Artist]:
        parts: list[Artist] = []
        if not len(self.values("x")):
            return parts
        if self.fill != "none":
            parts.append(Patch(facecolor=self._fill_colour, linewidth=0))
        if "lines" in self.mode and self._width:
            parts.append(self._line([0, 1], [0, 0]))
        if "markers" in self.mode:
            path, extent, filled = outline(self._symbols()[0])
            faces, edges, widths = self._marker_look(filled)
            size = float(min(max(self.sizes()[0], 2), 16)) * extent
            look = {"markerfacecolor": faces[0], "markeredgecolor": edges[0], "markeredgewidth": widths[0]}
            parts.append(Line2D([0.5], [0], linestyle="none", marker=path, markersize=size, **look))
        return parts

    @property
    def _width(self) -> float:
        return float(self.part("line.width", 2))

    @property
    def _fill_colour(self) -> Any:
        given = self.part("fillcolor")
        return colour(self.line_colour, 0.5) if given is None else colour(given, self.opacity)

    def _line(self, x: Any, y: Any) -> Line2D:
        style = _SHAPES[self.part.choice("line.shape", "linear", tuple(_SHAPES))]
        shade = colour(self.line_colour, self.opacity)
        line = Line2D(x, y, color=shade, linewidth=self._width, drawstyle=style, zorder=self.layer)
        line.set_linestyle(dashes(self.part("line.dash"), self._width))
        return line

    def _draw_fill(self, axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
        look = {"facecolor": self._fill_colour, "linewidth": 0, "zorder": self.layer}
        if self.fill != "none":
            self.part.choice("line.shape", "linear", ("linear",))
        if self.fill == "toself":
            gaps = np.flatnonzero(np.isnan(x) | np.isnan(y))
            for piece in np.split(np.arange(len(x)), gaps):
                points = [place for place in piece if place not in gaps]
                if len(points) > 2:
                    axes.fill(x[points], y[points], **look)
        elif self.fill == "tozeroy" or (self.fill == "tonexty" and self.below is None):
            axes.fill_between(x, y, 0.0, **look)
        elif self.fill == "tonexty" and self.below is not None:
            other = (self.below.places("x"), self.below.places("y"))
            axes.fill(np.concatenate([x, other[0][::-1]]), np.concatenate([y, other[1][::-1]]), **look)

    def _symbols(self) -> list[str]:
        given = self.part("marker.symbol", "circle")
        return [given] * len(self.values("x")) if isinstance(given, str) else list(given)

    def _marker_look(self, filled: bool) -> tuple[list[Any], list[Any], np.ndarray]:
        """Faces, edges and widths of the edges of all markers."""
        count = len(self.values("x"))
        many = np.ndim(self.part("marker.size", 6)) > 0
        opacity = self.opacity * float(self.part("marker.opacity", 0.7 if many else 1.0))
        faces = colours(self.part("marker.color", self.part("line.color", self.own_colour)), opacity)
        edges = colours(self.part("marker.line.color"), opacity) if self.part("marker.line.color") is not None else []
        widths = np.broadcast_to(np.asarray(self.part("marker.line.width", 0), dtype=float), count)
        if not filled:
            edges, faces, widths = faces, [(0, 0, 0, 0)], np.where(widths > 0, widths, 1.0)
        edges = edges or [colour("#444", opacity)]
        return faces * (count if len(faces) == 1 else 1), edges * (count if len(edges) == 1 else 1), widths

    def _draw_markers(self, axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
        inside = self._inside(x, y)
        chosen = inside[displayed(len(inside), int(self.part("marker.maxdisplayed", 0)), self.before)]
        turned = self.part.choice("marker.angleref", "up", ("up", "previous")) == "previous"
        groups: dict[tuple[str, float], list[int]] = {}
        symbols = self._symbols()
        for point in chosen:
            angle = self._angle(x, y, point) if turned else 0.0
            groups.setdefault((symbols[point], angle), []).append(point)
        for (symbol, angle), points in groups.items():
            path, extent, filled = outline(symbol, angle)
            faces, edges, widths = self._marker_look(filled)
            areas = (self.sizes()[points] * extent) ** 2
            looks: Any = zip(("facecolors", "edgecolors", "linewidths"), (faces, edges, widths), strict=True)
            look = {name: [values[point] for point in points] for name, values in looks}
            inner = {"clip_on": bool(self.part("cliponaxis", True)), "zorder": self.layer}
            axes.scatter(x[points], y[points], s=areas, marker=path, **look, **inner)

    def _inside(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The points within the axes."""
        shown = ~(np.isnan(x) | np.isnan(y))
        for axis, places in ((self.x_axis, x), (self.y_axis, y)):
            shown &= (places >= min(axis.ends)) & (places <= max(axis.ends))
        return np.flatnonzero(shown)

    def _angle(self, x: np.ndarray, y: np.ndarray, point: int) -> float:
        """The direction from the point before, clockwise from upwards, on the page."""
        if point == 0:
            return 0.0
        across, up = (axis.pixel(places) for axis, places in ((self.x_axis, x), (self.y_axis, y)))
        return math.atan2(across[point] - across[point - 1], up[point] - up[point - 1])

    def _draw_texts(self, axes: Axes, x: np.ndarray, y: np.ndarray) -> None:
        texts = self.part("text")
        texts = [texts] * len(x) if isinstance(texts, str) or texts is None else list(texts)
        sides = self.part("textposition", "middle center")
        sides = [sides] * len(x) if isinstance(sides, str) else list(sides)
        away = float(np.max(self.sizes(), initial=0)) / 1.6 + 1 if "markers" in self.mode else 0.0
        for point in self._inside(x, y):
            row, _, column = sides[point].partition(" ")
            offset = (away * {"left": -1, "right": 1}.get(column, 0), away * {"top": 1, "bottom": -1}.get(row, 0))
            text = words(texts[point] if point < len(texts) else "")
            vertical = {"top": "bottom", "bottom": "top", "middle": "center_baseline"}[row]
            look = {"ha": _SIDES[column], "va": vertical, "fontsize": self.part("textfont.size", self.text_size)}
            shade = colour(self.part("textfont.color", self.text_colour), self.opacity)
            look |= {"color": shade, "textcoords": "offset points", "zorder": self.layer, **text.font}
            axes.annotate(text.text, (x[point], y[point]), offset, linespacing=_LINE_SPACING, **look)
