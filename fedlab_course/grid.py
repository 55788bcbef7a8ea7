"""A figure on the grid of its sliders: what a page without a kernel needs to move it.

A MIME bundle holds the plain figure for the present values and, under ``MIME``, all the others::

    {"sliders": [{"name", "label", "options": ["0.1", …], "start": 3, "left_out": ["0.2", …]}, …],
     "cells": [figure or {"error": "why there is none"}, …],   the last slider runs fastest
     "values": [parts that figures share, …]}

In a figure ``{"$": n}`` stands for ``values[n]``, so that what two figures have in common is stored once. Numbers are
rounded to six digits. A "note", if there is one, says what holds for all figures, and a "goal" what the reader is asked
to reach: its "text", and in "met" whether each cell does. A grid with more than ``CELLS`` positions or more than
``BYTES`` compressed loses every second position of its longest slider, and says so in ``left_out``.
"""

import base64
import itertools
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_course.goals import Goal

MIME = "application/vnd.fedlab.grid+json"
RUNS = "application/vnd.fedlab.runs+json"  # the choice of an explorer, over which a page stores a grid of runs
STILL = "application/vnd.fedlab.still"  # why a figure cannot be moved, in words
PLOTLY = "application/vnd.plotly.v1+json"
CELLS, BYTES = 120, 400_000
_SHORT = 40  # a part of so few characters is not worth a reference


@dataclass(frozen=True)
class Slider:
    """A slider ``label`` at position ``start`` of its ``options``, pairs (text, value); ``left_out``: other texts."""

    label: str
    options: tuple[tuple[str, Any], ...]
    start: int
    left_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, widget: Any) -> "Slider":
        """What an ipywidgets slider or selection offers. Raises ``ValueError`` for a widget without positions."""
        if hasattr(widget, "options"):
            pairs = [option if isinstance(option, tuple) else (str(option), option) for option in widget.options]
        elif hasattr(widget, "step"):
            count = round((widget.max - widget.min) / widget.step) + 1
            along = (type(widget.value)(value) for value in np.linspace(widget.min, widget.max, count))
            # The value itself stands in its place, whatever rounding made of that.
            pairs = [(f"{one:g}", widget.value if np.isclose(one, widget.value) else one) for one in along]
        else:
            raise ValueError(f"slider {widget.description!r}: has neither options nor steps")
        return cls(widget.description, tuple(pairs), [value for _, value in pairs].index(widget.value))

    def thinned(self) -> "Slider":
        """Every second position, counted from the one it starts at, and both ends."""
        last = len(self.options) - 1
        kept = [i for i in range(last + 1) if (i - self.start) % 2 == 0 or i in (0, last)]
        gone = tuple(text for i, (text, _) in enumerate(self.options) if i not in kept)
        return Slider(self.label, tuple(self.options[i] for i in kept), kept.index(self.start), self.left_out + gone)


def bundle(draw: Callable[..., go.Figure], widgets: Mapping[str, Any], goal: Goal | None = None) -> dict[str, Any]:
    """The MIME bundle of a figure that ``draw`` makes of the values of ``widgets``, by name, with its ``goal``."""
    now = draw(**{name: widget.value for name, widget in widgets.items()})
    return plain(now) | {MIME: build(draw, {name: Slider.of(widget) for name, widget in widgets.items()}, goal)}


def plain(figure: go.Figure) -> dict[str, Any]:
    """The MIME bundle of a figure that stands still."""
    spec = json.loads(figure.to_json())
    return {PLOTLY: spec, "text/plain": (spec["layout"].get("meta") or {}).get("alt", "Figure")}


def build(draw: Callable[..., go.Figure], sliders: Mapping[str, Slider], goal: Goal | None = None) -> dict[str, Any]:
    """All figures of ``draw`` over the positions of ``sliders``, or over so many as ``CELLS`` and ``BYTES`` allow.

    ``goal``: its check is a function of the values of the sliders.
    """
    chosen, drawn, reached = dict(sliders), {}, {}
    while True:
        while int(np.prod([len(slider.options) for slider in chosen.values()])) > CELLS:
            chosen = _thinned(chosen)
        values: dict[str, int] = {}
        cells, met = [], []
        for options in itertools.product(*(slider.options for slider in chosen.values())):
            key = tuple(text for text, _ in options)
            if key not in drawn:
                named = dict(zip(chosen, (value for _, value in options), strict=True))
                drawn[key] = _cell(draw, named)
                reached[key] = goal is not None and "error" not in drawn[key] and bool(goal.check(**named))
            cells.append(_packed(drawn[key], values))
            met.append(reached[key])
        grid: dict[str, Any] = {
            "sliders": [_described(name, slider) for name, slider in chosen.items()],
            "cells": cells,
            "values": [json.loads(text) for text in values],
        }
        if goal is not None:
            grid["goal"] = {"text": goal.text, "met": met}
        longest = max((len(slider.options) for slider in chosen.values()), default=0)
        if size(grid) <= BYTES or longest <= 3:
            return grid
        chosen = _thinned(chosen)


def size(grid: Mapping[str, Any]) -> int:
    """Bytes of a grid as a page holds it, compressed."""
    return len(zlib.compress(json.dumps(grid, separators=(",", ":"), ensure_ascii=False).encode()))


def _thinned(sliders: Mapping[str, Slider]) -> dict[str, Slider]:
    longest = max(sliders, key=lambda name: len(sliders[name].options))
    return {name: slider.thinned() if name == longest else slider for name, slider in sliders.items()}


def _described(name: str, slider: Slider) -> dict[str, Any]:
    texts = [text for text, _ in slider.options]
    return {
        "name": name,
        "label": slider.label,
        "options": texts,
        "start": slider.start,
        "left_out": list(slider.left_out),
    }


def _cell(draw: Callable[..., go.Figure], values: dict[str, Any]) -> Any:
    try:
        return _plain(draw(**values).to_plotly_json())
    except ValueError as error:  # settings that have no figure, such as a rate at which all diverges
        return {"error": str(error)}


def _plain(value: Any) -> Any:
    """``value`` in the types of JSON, numbers with six digits, NaN as None."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Mapping) and "bdata" in value:  # how Plotly writes an array of numbers
        array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return _plain(array.reshape([int(n) for n in str(value.get("shape", array.size)).split(",")]))
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        rounded = float(f"{value:.6g}") if np.isfinite(value) else None
        return int(rounded) if rounded is not None and rounded.is_integer() and abs(rounded) < 1e15 else rounded
    return value


def _packed(value: Any, values: dict[str, int], key: str = "") -> Any:
    """``value`` with references for its long parts, which are added to ``values``, text → number."""
    if isinstance(value, dict):
        packed: Any = {name: _packed(one, values, name) for name, one in value.items()}
    elif isinstance(value, list):
        packed = [_packed(one, values) for one in value]
    else:
        return value
    text = json.dumps(packed, separators=(",", ":"), ensure_ascii=False)
    # A list of colours stays below its key, by which the page knows what it is.
    if len(text) <= _SHORT or (isinstance(packed, list) and "color" in key):
        return packed
    return {"$": values.setdefault(text, len(values))}
