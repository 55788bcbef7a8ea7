"""What all kinds of traces have in common."""

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from fedlab_core.write.axes import Axis
from fedlab_core.write.colours import colour
from fedlab_core.write.properties import Part


class Trace:
    """One trace of a figure: which values it has along each axis, what room it needs, and how it is drawn."""

    layer = 3.0  # heat maps lie below bars, bars below lines

    def __init__(self, part: Part, number: int, axes: dict[str, Axis], colorway: list[str]) -> None:
        self.part, self.number = part, number
        self.x_axis, self.y_axis = axes[part("xaxis", "x")], axes[part("yaxis", "y")]
        self.own_colour = colorway[number % len(colorway)]
        self.opacity = float(part("opacity", 1.0))
        self.name = part("name", f"trace {number}")

    @property
    def sideways(self) -> bool:
        """Whether bars or boxes lie along the x axis."""
        return bool(self.part.choice("orientation", "v", ("v", "h")) == "h")

    def axis(self, letter: str) -> Axis:
        return self.x_axis if letter == "x" else self.y_axis

    def values(self, letter: str) -> np.ndarray:
        """The values along an axis; where none are given, 0, 1, 2, …"""
        given = self.part(letter)
        if given is None:
            other = self.part("y" if letter == "x" else "x")
            given = range(0 if other is None else len(other))
        return np.asarray(given, dtype=object)

    def columns(self, letter: str) -> list[Any]:
        """Everything that stands along an axis."""
        return [self.values(letter)]

    def places(self, letter: str) -> np.ndarray:
        return self.axis(letter).places(self.values(letter))

    def reach(self) -> None:
        """Make room on both axes."""
        raise NotImplementedError

    def draw(self, axes: Axes) -> None:
        raise NotImplementedError

    def key(self) -> list[Artist]:
        """What the legend shows of it, on top of each other."""
        return []

    def error_ends(self, letter: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Where the error bars along an axis begin and end."""
        error = self.part.part(f"error_{letter}")
        if error("array") is None or error("visible", True) is False:
            return None
        error.choice("type", "data", ("data",))
        up = np.asarray(error("array"), dtype=float)
        down = up if error("symmetric", error("arrayminus") is None) else np.asarray(error("arrayminus"), dtype=float)
        values = np.array([float(value) for value in self.values(letter)])
        axis = self.axis(letter)
        return axis.places(values - down), axis.places(values + up)

    def draw_errors(self, axes: Axes, default: Any) -> None:
        for letter in "xy":
            ends, error = self.error_ends(letter), self.part.part(f"error_{letter}")
            if ends is None:
                continue
            low, high = ends
            width, cap = float(error("thickness", 2)), float(error("width", 4))
            shade = colour(error("color", default), self.opacity)
            across = self.places("y" if letter == "x" else "x")
            look: dict[str, Any] = {"colors": [shade], "linewidths": width, "zorder": self.layer}
            lines = axes.hlines if letter == "x" else axes.vlines
            lines(across, low, high, **look)
            half = cap / (self.y_axis if letter == "x" else self.x_axis).unit
            caps = axes.vlines if letter == "x" else axes.hlines
            for end in (low, high):
                if cap:
                    caps(end, across - half, across + half, **look)
