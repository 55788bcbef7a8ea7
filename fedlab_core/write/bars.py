"""Bars: beside each other, stacked, or one over the other."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from fedlab_core.write.colours import colour, colours
from fedlab_core.write.properties import Part
from fedlab_core.write.ticks import formatted
from fedlab_core.write.trace import Trace
from fedlab_core.write.words import words

_HATCHES = {"": "", "/": "//", "\\": "\\\\", "x": "xx", "-": "--", "|": "||", "+": "++", ".": ".."}


class Bars(Trace):
    """A bar trace; ``arrange`` tells it how wide its bars are, and how far they are moved and lifted."""

    layer = 2.0
    width = 0.8
    moved = 0.0
    room = 1.0
    text_size = 12.0
    text_colour = "#444"

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.along, self.across = ("y", "x") if self.sideways else ("x", "y")
        self.lifted: np.ndarray | None = None

    def sizes(self) -> np.ndarray:
        """How long each bar is."""
        return np.array([0.0 if value is None else float(value) for value in self.values(self.across)])

    def widths(self) -> np.ndarray:
        given = self.part("width")
        return np.broadcast_to(np.asarray(self.width if given is None else given, dtype=float), len(self.sizes()))

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Left, right, foot and top of each bar, as places."""
        middle = self.places(self.along) + self.moved
        foot = np.zeros(len(middle)) if self.lifted is None else self.lifted
        axis = self.axis(self.across)
        top = axis.places(foot + self.sizes())
        if axis.kind == "log":  # where zero is infinitely far below
            below = axis.places(foot)
            foot = np.where(np.isnan(below), min(axis.ends) - 1, below)
        return middle - self.widths() / 2, middle + self.widths() / 2, foot, top

    def reach(self) -> None:
        left, right, foot, top = self.edges()
        middle = self.places(self.along)
        ends = [left, right, middle - self.room / 2, middle + self.room / 2]
        self.axis(self.along).reach(np.concatenate(ends), share=False)
        if self.axis(self.across).kind != "log":
            self.axis(self.across).reach(foot, share=False)
        for place, size in zip(top, self.sizes(), strict=True):
            self.axis(self.across).reach([place], share=bool(size))
        for end in self.error_ends(self.across) or ():
            self.axis(self.across).reach(end)

    def draw(self, axes: Axes) -> None:
        looks = self._looks()
        for bar, (left, right, foot, top) in enumerate(zip(*self.edges(), strict=True)):
            corner, width, height = (left, foot), right - left, top - foot
            if self.sideways:
                corner, width, height = (foot, left), height, width
            if height and width:
                axes.add_patch(Rectangle(corner, width, height, zorder=self.layer, **looks[bar % len(looks)]))
        self.draw_errors(axes, "#444")
        if self.part("text") is not None or self.part("texttemplate") is not None:
            self._draw_texts(axes)

    def key(self) -> list[Artist]:
        return [Rectangle((0, 0), 1, 1, **self._looks()[0])]

    def _looks(self) -> list[dict[str, Any]]:
        """How each bar is drawn, or all of them; a pattern has the bar's colour, on white."""
        marker = self.part.part("marker")
        opacity = self.opacity * float(marker("opacity", 1.0))
        hatch = _HATCHES[marker.choice("pattern.shape", "", tuple(_HATCHES))]
        faces = colours(marker("color", self.own_colour), opacity)
        if hatch:
            return [{"facecolor": "white", "edgecolor": face, "hatch": hatch, "linewidth": 0} for face in faces]
        width = float(marker("line.width", 0))
        edge = colour(marker("line.color", "#444"), opacity)
        return [{"facecolor": face, "edgecolor": edge, "linewidth": width} for face in faces]

    def _draw_texts(self, axes: Axes) -> None:
        if self.part("textposition") not in ("outside", "none"):
            self.part.refuse("textposition", self.part("textposition", "auto"))
        texts = self._texts() if self.part("textposition") == "outside" else []
        for text, (left, right, _, top) in zip(texts, zip(*self.edges(), strict=True), strict=True):
            found, middle = words(text), (left + right) / 2
            look: dict[str, Any] = {"fontsize": self.part("textfont.size", self.text_size), **found.font}
            look |= {"color": self.text_colour, "textcoords": "offset points", "annotation_clip": True}
            if self.sideways:
                axes.annotate(found.text, (top, middle), (3, 0), ha="left", va="center", **look)
            else:
                axes.annotate(found.text, (middle, top), (0, 3), ha="center", va="bottom", **look)

    def _texts(self) -> list[str]:
        template, texts = self.part("texttemplate"), self.part("text")
        if template is None:
            return [texts] * len(self.sizes()) if isinstance(texts, str) else list(texts)
        name, _, form = template.strip("%{}").partition(":")
        if template != f"%{{{name}:{form}}}" or name != self.across:
            self.part.refuse("texttemplate", template)
        return [formatted(value, form) for value in self.sizes()]


def arrange(bars: list[Bars], layout: Part) -> None:
    """Tell the bars of one pair of axes, after their axes know what they are, where each stands."""
    mode = layout.choice("barmode", "group", ("group", "stack", "relative", "overlay"))
    for key in {(bar.x_axis.name, bar.y_axis.name) for bar in bars}:
        mine = [bar for bar in bars if (bar.x_axis.name, bar.y_axis.name) == key]
        everywhere = np.concatenate([bar.places(bar.along) for bar in mine])
        places = np.unique(everywhere)
        # Bars that nowhere meet need not make room for each other.
        beside = len(mine) if mode == "group" and len(places) < len(everywhere) else 1
        gap = float(np.diff(places).min()) if len(places) > 1 else 1.0
        room = gap * (1 - float(layout("bargap", 0.2)))
        ups: dict[float, float] = {}
        downs: dict[float, float] = {}
        for number, bar in enumerate(mine):
            bar.room = gap
            bar.width = room / beside * (1 - float(layout("bargroupgap", 0.0)))
            bar.moved = (number - (beside - 1) / 2) * room / beside if beside > 1 else 0.0
            if bar.part("base") is not None:
                bar.lifted = np.broadcast_to(np.asarray(bar.part("base"), dtype=float), len(bar.sizes()))
            elif mode in ("stack", "relative"):
                bar.lifted = _stacked(bar, ups, downs)


def _stacked(bar: Bars, ups: dict[float, float], downs: dict[float, float]) -> np.ndarray:
    """Where the bars begin, on those before: positive ones upwards, negative ones downwards."""
    feet = []
    for place, size in zip(bar.places(bar.along), bar.sizes(), strict=True):
        heap = ups if size >= 0 else downs
        feet.append(heap.get(float(place), 0.0))
        heap[float(place)] = feet[-1] + size
    return np.array(feet)
