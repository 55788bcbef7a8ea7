"""The elements that all explorers share: sliders over listed numbers, and lines that tell something."""

import html
from functools import cache
from typing import Any

import ipywidgets

from fedlab_core.data import DatasetNotFound
from fedlab_core.simulation import Diverged


@cache
def shared(kind: Any, **traits: str | None) -> Any:
    """A layout or a style with these traits, one for all that look so: each is a message to the browser of its own."""
    return kind(**traits)


def style(kind: Any, **traits: str | None) -> Any:
    """A style for widgets of a ``kind``; ipywidgets 7 has one for several kinds where 8 has one for each."""
    return shared(kind.class_traits()["style"].klass, **traits)


def hint(words: str) -> dict[str, str]:
    """What a control says while a mouse rests on it, under the name that this ipywidgets has for it."""
    return {"tooltip" if hasattr(ipywidgets.DOMWidget, "tooltip") else "description_tooltip": words}


def labelled(kind: Any) -> dict[str, Any]:
    """The look of a control of a ``kind`` that is as wide as its place, with a label before it."""
    return {"layout": shared(ipywidgets.Layout, width="100%"), "style": style(kind, description_width="9em")}


def text(value: str = "", look: str = "") -> Any:
    """A place for HTML; ``look``: its CSS classes."""
    plain = {"layout": shared(ipywidgets.Layout), "style": style(ipywidgets.HTML)}
    return ipywidgets.HTML(value, _dom_classes=look.split(), **plain)


def column(*parts: Any, look: str) -> Any:
    """Widgets below each other; ``look``: the CSS classes of the box."""
    return ipywidgets.VBox(parts, layout=shared(ipywidgets.Layout), _dom_classes=look.split())


def row(*parts: Any) -> Any:
    """Widgets beside each other, or below where there is no room."""
    return ipywidgets.HBox(parts, layout=shared(ipywidgets.Layout), _dom_classes=["fedlab-row"])


def button(label: str, tooltip: str = "", icon: str = "") -> Any:
    """A button as wide as its label."""
    look = {"layout": shared(ipywidgets.Layout, width="auto"), "style": style(ipywidgets.Button)}
    return ipywidgets.Button(description=label, tooltip=tooltip, icon=icon, **look)


def ladder(label: str, values: Any, value: float, tooltip: str, *, continuous: bool = False) -> Any:
    """A slider over listed numbers; ``value`` is added to them if it is not among them."""
    return ipywidgets.SelectionSlider(
        options=_steps({*values, value}),
        value=value,
        description=label,
        continuous_update=continuous,
        **hint(tooltip),
        **labelled(ipywidgets.SelectionSlider),
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
