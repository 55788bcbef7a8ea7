"""What is written and drawn along the axes: grids, lines, ticks, labels and titles."""

from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from fedlab_core.write.axes import Axis
from fedlab_core.write.colours import colour
from fedlab_core.write.page import Page
from fedlab_core.write.words import words

_GAP = 4.0  # between a tick and its label
_TITLE_GAP = 8.0
_ANGLES = (0, 30, 90)


class Ruler:
    """The decoration of one axis; ``draw`` returns the box that it takes, in pixels."""

    def __init__(self, page: Page, axis: Axis) -> None:
        self.page, self.axis, self.part = page, axis, axis.part
        default = "bottom" if axis.letter == "x" else "left"
        allowed = ("bottom", "top") if axis.letter == "x" else ("left", "right")
        self.side = self.part.choice("side", default, allowed)
        self.outward = 1 if self.side in ("top", "right") else -1
        across = axis.letter == "x"
        self.panels = {page.axes[names[across]]: one for names, one in page.panels.items() if axis.name in names}
        self.home = page.home(axis)
        self.partner = next(other for other, panel in self.panels.items() if panel is self.home)
        self.size = float(self.part("tickfont.size", page.font_size))

    @property
    def edge(self) -> float:
        """Where the axis line lies, across the axis."""
        return self.partner.start + (self.partner.length if self.outward > 0 else 0.0)

    def draw(self) -> Bbox | None:
        if not self.part("visible", True):
            return None
        ticks = self.axis.ticks(self.size)
        self._grid([tick.place for tick in ticks])
        self._lines()
        boxes = self._ticks(ticks)
        title = words(self.part("title.text"))
        if title.text:
            boxes.append(self._title(title, boxes))
        return Bbox.union(boxes) if boxes else None

    def _stroke(
        self, panel: Any, along: tuple[float, float], across: tuple[float, float], pen: tuple[Any, float], z: float
    ) -> None:
        """A line on the page."""
        x, y = (along, across) if self.axis.letter == "x" else (across, along)
        look = {"color": colour(pen[0]), "linewidth": pen[1], "transform": self.page.pixels, "solid_capstyle": "butt"}
        panel.add_artist(Line2D(x, y, zorder=z, clip_on=False, **look))

    def _grid(self, places: list[float]) -> None:
        for partner, panel in self.panels.items():
            ends = (partner.start, partner.start + partner.length)
            if self.part("showgrid", not self.page.stands_along(self.axis)):
                for pixel in self.axis.pixel(places):
                    self._stroke(panel, (pixel, pixel), ends, self._pen("gridcolor", "#eee", "gridwidth"), 0.5)
            inside = min(self.axis.ends) < 0 < max(self.axis.ends)
            if self.part("zeroline", True) and self.axis.kind == "linear" and inside:
                zero = float(self.axis.pixel(0.0))
                self._stroke(panel, (zero, zero), ends, self._pen("zerolinecolor", "#444", "zerolinewidth"), 0.6)

    def _pen(self, css: str, default: str, width: str) -> tuple[Any, float]:
        return self.part(css, default), float(self.part(width, 1))

    def _lines(self) -> None:
        if not self.part("showline", False):
            return
        ends = (self.axis.start, self.axis.start + self.axis.length)
        edges = [self.edge]
        if self.part.choice("mirror", False, (True, False)):
            edges.append(self.partner.start + (0.0 if self.outward > 0 else self.partner.length))
        for edge in edges:
            self._stroke(self.home, ends, (edge, edge), self._pen("linecolor", "#444", "linewidth"), 8)

    def _ticks(self, ticks: list[Any]) -> list[Bbox]:
        shown = self.part.choice("ticks", "", ("", "outside", "inside"))
        length = float(self.part("ticklen", 5)) * {"": 0, "outside": 1, "inside": -1}[shown] * self.outward
        pixels = [float(self.axis.pixel(tick.place)) for tick in ticks]
        if length:
            for pixel in pixels:
                tip = (self.edge, self.edge + length)
                self._stroke(self.home, (pixel, pixel), tip, self._pen("tickcolor", "#444", "tickwidth"), 8)
        if not self.part("showticklabels", True) or not ticks:
            return []
        away = self.edge + (max(length * self.outward, 0) + _GAP) * self.outward
        angle = self._angle(ticks, pixels)
        return [self._label(tick, pixel, away, angle) for tick, pixel in zip(ticks, pixels, strict=True)]

    def _angle(self, ticks: list[Any], pixels: list[float]) -> float:
        """As it is told, or the first at which the labels of an x axis do not overlap."""
        given = self.part("tickangle", "auto")
        if given != "auto" or self.axis.letter == "y" or len(ticks) < 2:
            return 0.0 if given == "auto" else float(given)
        widths = np.array([self.measured(tick.text, self.size * tick.size).width for tick in ticks])
        needed = (widths[1:] + widths[:-1]) / 2 + 2
        if (needed <= np.abs(np.diff(pixels))).all():
            return _ANGLES[0]
        return _ANGLES[1] if np.abs(np.diff(pixels)).min() >= 2.2 * self.size else _ANGLES[2]

    def measured(self, text: str, size: float) -> Bbox:
        found = words(text)
        artist = self.page.canvas.text(0, 0, found.text, fontsize=size, **found.font)
        box = artist.get_window_extent(self.page.renderer)
        artist.remove()
        return box

    def _label(self, tick: Any, pixel: float, away: float, angle: float) -> Bbox:
        found = words(tick.text)
        look: dict[str, Any] = {"fontsize": self.size * tick.size, "rotation": -angle, **found.font}
        look |= {"color": colour(self.part("tickfont.color", self.page.layout("font.color", "#444")))}
        if self.axis.letter == "y":
            place = (away, pixel)
            look |= {"ha": "left" if self.outward > 0 else "right", "va": "center_baseline"}
        else:
            place = (pixel, away)
            side = "center" if angle in (0, 90, -90) else "left" if angle > 0 else "right"
            look |= {"ha": side, "va": "bottom" if self.outward > 0 else "top", "rotation_mode": "default"}
        return self._text(place, found.text, look)

    def _title(self, title: Any, boxes: list[Bbox]) -> Bbox:
        size = float(self.part("title.font.size", round(1.2 * self.page.font_size)))
        shade = colour(self.part("title.font.color", self.page.layout("font.color", "#444")))
        look: dict[str, Any] = {"fontsize": size, "color": shade, **title.font, "multialignment": "center"}
        gap = float(self.part("title.standoff", _TITLE_GAP))
        middle = self.axis.start + self.axis.length / 2
        around = Bbox.union(boxes) if boxes else Bbox.from_extents(self.edge, self.edge, self.edge, self.edge)
        if self.axis.letter == "x":
            away = around.y1 + gap if self.outward > 0 else around.y0 - gap
            look |= {"ha": "center", "va": "bottom" if self.outward > 0 else "top"}
            return self._text((middle, away), title.text, look)
        away = around.x1 + gap if self.outward > 0 else around.x0 - gap
        look |= {"rotation": 90, "ha": "left" if self.outward > 0 else "right", "va": "center"}
        return self._text((away, middle), title.text, look)

    def _text(self, place: tuple[float, float], text: str, look: dict[str, Any]) -> Bbox:
        artist = self.home.text(*place, text, transform=self.page.pixels, zorder=9, **look)
        return artist.get_window_extent(self.page.renderer)
