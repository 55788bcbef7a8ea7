"""Colours as CSS has them, and scales of colours, as matplotlib has them."""

import re
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgba
from plotly.colors import get_colorscale

from fedlab_core.write.properties import Part, untranslatable

Colour = tuple[float, float, float, float]


def colour(css: Any, opacity: float = 1.0) -> Colour:
    """A CSS colour: a name, #rrggbb, rgb(…) or rgba(…), made paler by ``opacity``."""
    text = str(css).strip().lower()
    found = re.fullmatch(r"rgba?\(([^)]*)\)", text)
    try:
        if found:
            red, green, blue, *alpha = [float(part.strip().rstrip("%")) for part in found[1].split(",")]
            red, green, blue, rest = red / 255, green / 255, blue / 255, (alpha or [1.0])[0]
        else:
            red, green, blue, rest = to_rgba("none" if text == "transparent" else text)
    except ValueError:
        raise untranslatable(f"the colour {css!r}") from None
    return red, green, blue, rest * opacity


def colours(css: Any, opacity: float = 1.0) -> list[Colour]:
    """One colour, or one per point."""
    many = [css] if isinstance(css, str) else list(css)
    if not all(isinstance(one, str) for one in many):
        raise untranslatable("numbers as colours of markers or bars")
    return [colour(one, opacity) for one in many]


def scale(part: Part, given: Any) -> LinearSegmentedColormap:
    """The scale of colours of a trace, which has none if the values are missing."""
    if given is None:
        raise untranslatable(f"{part.where} without a colorscale")
    steps = get_colorscale(given) if isinstance(given, str) else given
    steps = [(float(place), colour(css)) for place, css in steps]
    if part("reversescale", False):
        steps = [(1 - place, one) for place, one in reversed(steps)]
    return LinearSegmentedColormap.from_list("scale", steps, N=256)


def limits(part: Part, values: np.ndarray, low: str, high: str) -> tuple[float, float]:
    """The numbers at the ends of the scale of colours."""
    finite = values[np.isfinite(values)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return float(part(low, least)), float(part(high, most))
