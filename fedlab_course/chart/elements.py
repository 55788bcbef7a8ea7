"""The elements that all explorers share: sliders over listed numbers, and lines that tell something."""

import html
from functools import cache
from typing import Any

import ipywidgets

from fedlab_core.data import DatasetNotFound
from fedlab_core.simulation import Diverged


@cache
def _plain() -> dict[str, Any]:
    """One layout and one style for all that the style sheet arranges: each is a message to the browser of its own."""
    return {"layout": ipywidgets.Layout(), "style": ipywidgets.HTML().style}


def text() -> Any:
    """A place for HTML."""
    return ipywidgets.HTML(**_plain())


def column(*parts: Any, look: str) -> Any:
    """Widgets below each other; ``look``: the CSS classes of the box."""
    return ipywidgets.VBox(parts, layout=_plain()["layout"], _dom_classes=look.split())


def row(*parts: Any) -> Any:
    """Widgets beside each other, or below where there is no room."""
    return ipywidgets.HBox(parts, layout=_plain()["layout"], _dom_classes=["fedlab-row"])


def ladder(label: str, values: Any, value: float, tooltip: str, *, continuous: bool = False) -> Any:
    """A slider over listed numbers; ``value`` is added to them if it is not among them."""
    slider = ipywidgets.SelectionSlider(
        options=[(f"{value:g}", value)],
        value=value,
        description=label,
        tooltip=tooltip,
        continuous_update=continuous,
        layout={"width": "100%"},
        style={"description_width": "9em"},
    )
    return extend(slider, values)


def extend(slider: Any, values: Any) -> Any:
    """Add numbers to a ladder, in order, and leave its value where it is."""
    known = {number for _, number in slider.options}
    if not known.issuperset(values):
        value = slider.value
        slider.options = [(f"{number:g}", number) for number in sorted(known.union(values))]
        slider.value = value
    return slider


def note(text: str, *, kind: str = "status") -> str:
    """A line of HTML. Screen readers announce a "status", a "warning" and an "alert" (an error), but not a "timer"."""
    if not text:
        return ""
    role = "status" if kind == "warning" else kind
    word = {"warning": "<b>Warning.</b> ", "alert": "<b>Error.</b> "}.get(kind, "")
    return f'<div class="fedlab-note" data-kind="{kind}" role="{role}">{word}{html.escape(text)}</div>'


def error_in_words(error: BaseException, subject: str = "") -> str:
    """An error as one would say it, about ``subject``: its message, with its type where that alone says too little."""
    start = f"{subject}: " if subject else ""
    if isinstance(error, Diverged):
        place = "the global model" if error.client is None else f"client {error.client}"
        rate = f"η={error.lr:g}. Try a smaller learning rate."
        when = f"round {error.round}" if error.round else "its probe"
        return f"{start}diverged in {when}, the loss of {place} is not finite at {rate}"
    spoken = isinstance(error, (ValueError, RuntimeError, DatasetNotFound)) and str(error)
    return start + (str(error) if spoken else f"{type(error).__name__}: {error}")
