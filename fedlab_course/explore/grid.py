"""A figure on the grid of its sliders: what a page without a kernel needs to move it.

A MIME bundle holds the plain figure for the present values and, under ``MIME``, all the others::

    {"sliders": [{"name", "label", "options": ["0.1", …], "start": 3}, …],
     "cells": [figure or {"error": "why there is none"}, …],   the last slider runs fastest
     "values": [parts that figures share, …], "note": "…",
      "goal": {"text": "…", "met": [for each cell, …]}}

In a figure ``{"$": n}`` stands for ``values[n]``. Numbers are rounded to six digits.
"""

import base64
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fedlab_core.language import translator
from fedlab_core.simulation import Diverged
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.widgets import error_in_words

_ = translator(__name__)

MIME = "application/vnd.fedlab.grid+json"
# the choice of an explorer; a page stores a grid of runs for it
RUNS = "application/vnd.fedlab.runs+json"
STILL = "application/vnd.fedlab.still"  # why a figure cannot be moved, in words
PLOTLY = "application/vnd.plotly.v1+json"
_SHORT = 40  # a part with fewer characters is not worth a reference


def plain(figure: go.Figure) -> dict[str, Any]:
    """The MIME bundle of a figure that cannot be moved."""
    spec = json.loads(figure.to_json())
    return {PLOTLY: spec, "text/plain": (spec["layout"].get("meta") or {}).get("alt", _("Figure"))}


def positions(sliders: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of ``sliders`` by name, at each of their positions."""
    values = ([value for _, value in slider.options] for slider in sliders.values())
    return [dict(zip(sliders, position, strict=True)) for position in itertools.product(*values)]


def build(
    draw: Callable[..., go.Figure], sliders: Mapping[str, Any], goal: Goal | None = None
) -> dict[str, Any]:
    """All figures of ``draw`` over the positions of ``sliders``. The check of ``goal`` takes the
    sliders' values.
    """
    values: dict[str, int] = {}
    cells = []
    met = []
    for named in positions(sliders):
        try:
            cell = _plain(json.loads(draw(**named).to_json()))
        except (
            ValueError,
            Diverged,
        ) as error:  # settings without a figure, such as too large a learning rate
            cell = {"error": error_in_words(error)}
        cells.append(_packed(cell, values))
        met.append(goal is not None and "error" not in cell and bool(goal.check(**named)))
    grid = {
        "sliders": [
            {
                "name": name,
                "label": one.description,
                "options": [text for text, _ in one.options],
                "start": one.index,
            }
            for name, one in sliders.items()
        ],
        "cells": cells,
        "values": [json.loads(text) for text in values],
    }
    return grid if goal is None else grid | {"goal": {"text": goal.text, "met": met}}


def _plain(value: Any) -> Any:
    """``value`` with arrays as lists, numbers with six digits, and NaN as None."""
    if isinstance(value, dict) and "bdata" in value:  # how Plotly writes an array of numbers
        array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return _plain(
            array.reshape([int(n) for n in str(value.get("shape", array.size)).split(",")]).tolist()
        )
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        rounded = float(f"{value:.6g}") if np.isfinite(value) else None
        return (
            int(rounded)
            if rounded is not None and rounded.is_integer() and abs(rounded) < 1e15
            else rounded
        )
    return value


def _packed(value: Any, values: dict[str, int], key: str = "") -> Any:
    """``value`` with references for its long parts, which are
    added to ``values``, text → number.
    """
    if isinstance(value, dict):
        packed: Any = {name: _packed(one, values, name) for name, one in value.items()}
    elif isinstance(value, list):
        packed = [_packed(one, values) for one in value]
    else:
        return value
    text = _json(packed)
    # A list of colours stays below its key: the page recognises colours by their key.
    if len(text) <= _SHORT or (isinstance(packed, list) and "color" in key):
        return packed
    return {"$": values.setdefault(text, len(values))}


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
