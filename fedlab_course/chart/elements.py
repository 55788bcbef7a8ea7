"""The elements that all explorers share: sliders over listed numbers, and lines that tell something."""

import html
from functools import cache
from typing import Any

import ipywidgets
from ipywidgets.widgets.widget_button import ButtonStyle
from ipywidgets.widgets.widget_int import SliderStyle
from ipywidgets.widgets.widget_string import HTMLStyle

from fedlab_core.data import DatasetNotFound
from fedlab_core.simulation import Diverged


@cache
def shared(kind: Any, **traits: str | None) -> Any:
    """A layout or a style with these traits, one for all that look so: each is a message to the browser of its own."""
    return kind(**traits)


def _plain() -> dict[str, Any]:
    """What all that the style sheet arranges has."""
    return {"layout": shared(ipywidgets.Layout), "style": shared(HTMLStyle)}


def labelled(kind: Any = SliderStyle) -> dict[str, Any]:
    """The look of a control as wide as its place, with a label before it; ``kind`` of its style."""
    return {"layout": shared(ipywidgets.Layout, width="100%"), "style": shared(kind, description_width="9em")}


def text(value: str = "", look: str = "") -> Any:
    """A place for HTML; ``look``: its CSS classes."""
    return ipywidgets.HTML(value, _dom_classes=look.split(), **_plain())


def column(*parts: Any, look: str) -> Any:
    """Widgets below each other; ``look``: the CSS classes of the box."""
    return ipywidgets.VBox(parts, layout=_plain()["layout"], _dom_classes=look.split())


def row(*parts: Any) -> Any:
    """Widgets beside each other, or below where there is no room."""
    return ipywidgets.HBox(parts, layout=_plain()["layout"], _dom_classes=["fedlab-row"])


def button(label: str, tooltip: str = "", icon: str = "") -> Any:
    """A button as wide as its label."""
    look = {"layout": shared(ipywidgets.Layout, width="auto"), "style": shared(ButtonStyle)}
    return ipywidgets.Button(description=label, tooltip=tooltip, icon=icon, **look)


def ladder(label: str, values: Any, value: float, tooltip: str, *, continuous: bool = False) -> Any:
    """A slider over listed numbers; ``value`` is added to them if it is not among them."""
    return ipywidgets.SelectionSlider(
        options=_steps({*values, value}),
        value=value,
        description=label,
        tooltip=tooltip,
        continuous_update=continuous,
        **labelled(),
    )


def extend(slider: Any, values: Any) -> Any:
    """Add numbers to a ladder, in order, and leave its value where it is."""
    known = {number for _, number in slider.options}
    if not known.issuperset(values):
        value = slider.value
        slider.options = _steps(known.union(values))
        slider.value = value
    return slider


def _steps(numbers: Any) -> list[tuple[str, float]]:
    return [(f"{number:g}", number) for number in sorted(numbers)]


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
