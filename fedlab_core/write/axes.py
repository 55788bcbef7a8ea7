"""The axes of a figure: what their numbers or categories are, from where to where they go, and where they lie."""

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from fedlab_core.write.properties import Part, untranslatable
from fedlab_core.write.ticks import Tick, ticks

_KINDS = ("linear", "log", "category")
_DATE = re.compile(r"\d{4}-\d\d?(-\d\d?|$)")
_SHARE = 0.05  # of the axis, that Plotly leaves free beyond points
Reach = tuple[float, float, float]  # a place, and what the axis needs beyond it: pixels, and a share of its length


class Axis:
    """One x or y axis: ``places`` turns values into places on it, ``pixel`` places into pixels.

    Places are numbers, log10 of them on a logarithmic axis, and positions of categories. ``start`` and ``length`` are
    in pixels, from the left or from below.
    """

    def __init__(self, name: str, part: Part) -> None:
        self.name, self.letter, self.part = name, name[0], part
        upright = {"upright": True} if self.letter == "y" else {}
        self.ticks_part = Part(part.where, *part.layers, upright)
        self.kind = ""
        self.names: list[str] = []
        self.reaches: list[Reach] = []
        self.ends = (0.0, 1.0)
        self.start, self.length = 0.0, 100.0
        self.domain = tuple(float(end) for end in part("domain", (0.0, 1.0)))

    def learn(self, columns: Iterable[Any]) -> None:
        """Find out from everything that is drawn along this axis what kind it is, and its categories."""
        columns = [np.asarray(column, dtype=object).ravel() for column in columns]
        values = [value for column in columns for value in column if value is not None]
        given = self.part("type")
        self.kind = given if given not in (None, "-") else "linear" if all(map(_is_number, values)) else "category"
        if self.kind not in _KINDS or any(_is_date(value) for value in values):
            raise untranslatable(f"{self.part.where}.type={'date' if self.kind in _KINDS else self.kind!r}")
        if self.kind == "category":
            order = self.part.choice("categoryorder", "trace", ("trace", "array"))
            first = list(map(str, self.part("categoryarray", ()))) if order == "array" else []
            self.names = list(dict.fromkeys([*first, *map(_category, values)]))

    def places(self, values: Any) -> np.ndarray:
        """Values as places: NaN for what is missing, or not positive on a logarithmic axis."""
        array = np.asarray(values, dtype=object)
        if self.kind == "category":
            index = {name: place for place, name in enumerate(self.names)}
            found = [math.nan if value is None else index[_category(value)] for value in array.ravel()]
            return np.array(found, dtype=float).reshape(array.shape)
        numbers = np.array([math.nan if value is None else float(value) for value in array.ravel()], dtype=float)
        if self.kind == "log":
            numbers = np.log10(np.where(numbers > 0, numbers, np.nan))
        return numbers.reshape(array.shape)

    def place(self, value: Any) -> float:
        """Where a shape stands: a value, or on an axis of categories also a position."""
        if self.kind == "category" and str(value) not in self.names:
            return float(value)
        return float(self.places([value])[0])

    def reach(self, places: Any, pixels: Any = 0.0, *, share: bool = True) -> None:
        """Make room for ``places`` and ``pixels`` beyond them; ``share``: and for a twentieth of the axis."""
        marks = np.broadcast_to(np.asarray(pixels, dtype=float), np.shape(places))
        for place, mark in zip(np.ravel(places), np.ravel(marks), strict=True):
            if math.isfinite(place):
                self.reaches.append((float(place), float(mark), _SHARE if share else 0.0))

    def find_ends(self, reaches: list[Reach]) -> None:
        """From where to where the axis goes: as it is told, or so that everything fits in."""
        direction = self.part.choice("autorange", True, (True, False, "reversed"))
        given = list(self.part("range", (None, None)))
        if None in given:
            found = self._fitting(reaches)
            found = found[::-1] if direction == "reversed" else found
            given = [end if told is None else told for told, end in zip(given, found, strict=True)]
        self.ends = (float(given[0]), float(given[1]))

    def _fitting(self, reaches: list[Reach]) -> tuple[float, float]:
        """As Plotly does: the widest of all pairs of outermost points, each with its pixels beyond it."""
        mode = self.part.choice("rangemode", "normal", ("normal", "tozero", "nonnegative"))
        points = [(place, mark + share * self.length) for place, mark, share in reaches]
        if not points:
            return (
                (-0.5, len(self.names) - 0.5) if self.kind == "category" else (-1.0, 6.0 if self.letter == "x" else 4.0)
            )
        least, most = min(place for place, _ in points), max(place for place, _ in points)
        if mode != "normal" and self.kind == "linear":
            points += [(0.0, 0.0)]
            points = [(place, 0.0 if place == 0 else mark) for place, mark in points]
        if least == most and not (mode == "tozero" and least):
            return least - 1, least + 1
        lows, highs = _outermost(points), _outermost([(-place, mark) for place, mark in points])
        best, ends = 0.0, (least, most)
        for low, before in lows:
            for minus_high, after in highs:
                room = max(self.length - before - after, self.length / 10)
                unit = (-minus_high - low) / room
                if unit > best:
                    best, ends = unit, (low - unit * before, -minus_high + unit * after)
        return ends

    @property
    def unit(self) -> float:
        """Pixels per unit."""
        return self.length / abs(self.ends[1] - self.ends[0])

    def pixel(self, places: Any) -> Any:
        low, high = self.ends
        return self.start + (np.asarray(places, dtype=float) - low) / (high - low) * self.length

    def ticks(self, size: float) -> list[Tick]:
        return ticks(self.ticks_part, self.kind, self.ends, self.length, size, self.names)


def keep_scale(first: Axis, second: Axis) -> None:
    """Give the axis ``first`` as many pixels per unit as ``second`` (times its scaleratio), as it asks for."""
    wanted = second.unit * float(first.part("scaleratio", 1.0))
    axis, factor = (first, wanted / first.unit) if first.unit > wanted else (second, first.unit / wanted)
    if axis.part.choice("constrain", "range", ("range", "domain")) == "domain":
        axis.start, axis.length = axis.start + axis.length * (1 - factor) / 2, axis.length * factor
    else:
        middle, half = sum(axis.ends) / 2, (axis.ends[1] - axis.ends[0]) / 2 / factor
        axis.ends = (middle - half, middle + half)


def _outermost(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that may decide where an axis begins: those that no lower one with as many pixels makes needless."""
    kept: list[tuple[float, float]] = []
    for place, mark in sorted(points):
        if not kept or mark > kept[-1][1]:
            kept.append((place, mark))
    return kept


def _is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_date(value: Any) -> bool:
    return hasattr(value, "year") or isinstance(value, np.datetime64) or bool(_DATE.match(str(value)))


def _category(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
