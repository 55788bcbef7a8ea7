"""Markers and dashes in the shapes that Plotly gives them."""

import math
from typing import Any

import numpy as np
from matplotlib.path import Path as Outline
from matplotlib.transforms import Affine2D

from fedlab_core.write.properties import untranslatable

_NAMED_DASHES = {"dot": (1, 1), "dash": (3, 3), "longdash": (5, 5), "dashdot": (3, 1, 1, 1)}
_NAMED_DASHES |= {"longdashdot": (5, 2, 1, 2)}
_FOUR = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
_CROSS = [(0.4, 1.2), (0.4, 0.4), (1.2, 0.4), (1.2, -0.4), (0.4, -0.4), (0.4, -1.2)]
_CROSS += [(-x, -y) for x, y in _CROSS]
_A = 0.8 / math.sqrt(2)
_X = [(0, _A), (_A, 2 * _A), (2 * _A, _A), (_A, 0), (2 * _A, -_A), (_A, -2 * _A)]
_X += [(-x, -y) for x, y in _X]
_UP = [(-2 / math.sqrt(3), -0.5), (2 / math.sqrt(3), -0.5), (0, 1)]
_ARROW = [(0, 0), (-2 * math.cos(0.4 * math.pi), -2 * math.sin(0.4 * math.pi))]
_ARROW += [(2 * math.cos(0.4 * math.pi), -2 * math.sin(0.4 * math.pi))]


def _regular(corners: int, radius: float = 1.0, inner: float | None = None) -> list[tuple[float, float]]:
    """A polygon with a corner at the top, or with ``inner`` a star."""
    steps = corners if inner is None else 2 * corners
    radii = [radius if inner is None or step % 2 == 0 else inner for step in range(steps)]
    turns = [2 * math.pi * step / steps for step in range(steps)]
    return [(r * math.sin(turn), r * math.cos(turn)) for r, turn in zip(radii, turns, strict=True)]


# In units of half the marker's size, y upwards.
_SHAPES: dict[str, Any] = {
    "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    "diamond": [(1.3 * x, 1.3 * y) for x, y in _FOUR],
    "cross": _CROSS,
    "x": _X,
    "triangle-up": _UP,
    "triangle-down": [(x, -y) for x, y in _UP],
    "triangle-left": [(-y, x) for x, y in _UP],
    "triangle-right": [(y, x) for x, y in _UP],
    "pentagon": _regular(5),
    "hexagon": _regular(6),
    "star": _regular(5, 1.4, 1.4 * 0.382),
    "arrow": _ARROW,
}
_STROKES: dict[str, list[Any]] = {"line-ns": [(0, -1.4), (0, 1.4)], "line-ew": [(-1.4, 0), (1.4, 0)]}
_STROKES |= {"cross-thin": [(0, -1.4), (0, 1.4), (-1.4, 0), (1.4, 0)], "x-thin": [(-1, -1), (1, 1), (-1, 1), (1, -1)]}


def outline(symbol: str, angle: float = 0.0) -> tuple[Outline, float, bool]:
    """The outline of a marker, turned clockwise by ``angle`` (radians), its extent, and whether it is filled.

    The extent is in units of half the marker's size: matplotlib draws outlines of any size as large as it is told.
    """
    name = str(symbol).removesuffix("-open")
    if name == "circle":
        path = Outline.unit_circle()
    elif name in _SHAPES:
        corners = [tuple(corner) for corner in _SHAPES[name]]
        path = Outline([*corners, corners[0]], closed=True)
    elif name in _STROKES:
        ends: list[Any] = _STROKES[name]
        path = Outline(ends, [Outline.MOVETO, Outline.LINETO] * (len(ends) // 2))
    else:
        raise untranslatable(f"the marker symbol {symbol!r}")
    path = path.transformed(Affine2D().rotate(-angle))
    filled = name not in _STROKES and not str(symbol).endswith("-open")
    return path, float(np.abs(path.vertices).max()), filled


def dashes(dash: Any, width: float) -> Any:
    """A dash as matplotlib has it, in pixels: "solid", a name, or "9px,3px"."""
    if dash in (None, "", "solid") or width == 0:
        return "solid"
    unit = max(width, 3.0)
    if dash in _NAMED_DASHES:
        return (0, [unit * length for length in _NAMED_DASHES[dash]])
    try:
        return (0, [float(part.strip().removesuffix("px")) for part in str(dash).replace(" ", ",").split(",")])
    except ValueError:
        raise untranslatable(f"the dash {dash!r}") from None


def displayed(count: int, most: int, before: int) -> np.ndarray:
    """Which of ``count`` points have a marker when at most ``most`` may: Plotly's rule, shifted from curve to curve."""
    if most <= 0 or count <= most:
        return np.arange(count)
    step = math.ceil(count / most)
    first = math.floor(before * step / 3 + math.floor(before / 3) * step / 7.1 + 0.5)
    return np.flatnonzero((np.arange(count) + first) % step == 0)
