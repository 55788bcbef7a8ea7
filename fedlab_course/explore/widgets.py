"""The widgets that all explorers share, under ipywidgets 7 and 8, and lines of text beside them."""

import html
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import ipywidgets

from fedlab_core.data import DatasetNotFound
from fedlab_core.language import translator
from fedlab_core.simulation import Diverged
from fedlab_course.catalogue.parameters import parameter

_ = translator(__name__)


@cache
def shared(kind: Any, **traits: str | None) -> Any:
    """One layout or style for all widgets that look the same: each object costs a message to the
    browser.
    """
    return kind(**traits)


def style(kind: Any, **traits: str | None) -> Any:
    """A style for widgets of a ``kind``. ipywidgets 7 has one style class for several kinds of
    widgets.
    """
    return shared(kind.class_traits()["style"].klass, **traits)


def hint(words: str) -> dict[str, str]:
    """The help text of a control under the name that this version of ipywidgets uses."""
    return {"tooltip" if hasattr(ipywidgets.DOMWidget, "tooltip") else "description_tooltip": words}


def control(kind: Any, label: str, tip: str, *, wide: bool = True, **traits: Any) -> Any:
    """A control with a label before it, as ``wide`` as its place or as its content."""
    layout = shared(ipywidgets.Layout, width="100%" if wide else "auto")
    look = style(kind, description_width="9em" if wide else "auto")
    return kind(description=label, layout=layout, style=look, **hint(tip), **traits)


def slider(
    label: str, positions: Iterable[Any], value: Any, tip: str, *, moving: bool = True
) -> Any:
    """A slider over ``positions`` and ``value``, where it begins; ``moving``: it acts while it is
    dragged.
    """
    traits = {"options": _options([*positions, value]), "value": value, "continuous_update": moving}
    return control(ipywidgets.SelectionSlider, label, tip, **traits)


def named_slider(label: str, positions: Mapping[str, Any], value: Any, tip: str) -> Any:
    """A slider whose positions have names, in their order: name → value; it begins at ``value``."""
    traits = {"options": [*positions.items()], "value": value, "continuous_update": True}
    return control(ipywidgets.SelectionSlider, label, tip, **traits)


def slider_of(name: str, room: str = "", *, value: Any = None, moving: bool = True) -> Any:
    """A slider for a parameter as a ``room`` has it, at ``value`` in place of its default."""
    one = parameter(name, room)
    first = one.default if value is None else value
    return slider(one.label, one.values, first, one.tip, moving=moving)


def move(widget: Any, value: Any) -> None:
    """Set the ``value`` of a control; a slider without this position gets it."""
    if isinstance(widget, ipywidgets.SelectionSlider):
        widget.options = _options([*(number for _, number in widget.options), value])
    widget.value = value


def _options(positions: Iterable[Any]) -> list[tuple[str, Any]]:
    """Each position once, sorted, below its text."""
    return [(f"{number:g}", number) for number in sorted(set(positions))]


def text(value: str = "", look: str = "") -> Any:
    """A place for HTML; ``look``: its CSS classes."""
    plain = {"layout": shared(ipywidgets.Layout), "style": style(ipywidgets.HTML)}
    return ipywidgets.HTML(value, _dom_classes=look.split(), **plain)


def box(*parts: Any, look: str) -> Any:
    """Widgets below each other, or beside each other where ``look``, its CSS classes, has
    "fedlab-row".
    """
    return ipywidgets.VBox(parts, layout=shared(ipywidgets.Layout), _dom_classes=look.split())


def button(label: str, action: Callable[[], Any], tooltip: str = "", icon: str = "") -> Any:
    """A button as wide as its label, which calls ``action``."""
    look = {"layout": shared(ipywidgets.Layout, width="auto"), "style": style(ipywidgets.Button)}
    made = ipywidgets.Button(description=label, tooltip=tooltip, icon=icon, **look)
    made.on_click(lambda _: action())
    return made


def show(widget: Any, shown: bool) -> None:
    """Show or hide a widget that is as wide as its place."""
    widget.layout = shared(ipywidgets.Layout, width="100%", display=None if shown else "none")


def note(text: str, *, kind: str = "status") -> str:
    """A line of HTML.

    Screen readers announce a "status", a "result" (a run that diverged), a "warning" and an "alert"
    (an error). They do not announce a "timer".
    """
    if not text:
        return ""
    role = "status" if kind in ("warning", "result") else kind
    form = {
        "warning": _("<b>Warning.</b> {text}"),
        "alert": _("<b>Error.</b> {text}"),
        "result": _("<b>Diverged.</b> {text}"),
    }.get(kind, "{text}")
    words = form.format(text=html.escape(text))
    return f'<div class="fedlab-note" data-kind="{kind}" role="{role}">{words}</div>'


def error_note(error: BaseException, subject: str = "") -> str:
    """A line of HTML about an error of ``subject``. A run that
    diverged is a result, not an error.
    """
    kind = "result" if isinstance(error, Diverged) else "alert"
    return note(error_in_words(error, subject), kind=kind)


def divergence_in_words(error: Diverged, subject: str = "") -> str:
    """Say that the run of ``subject`` diverged, where, and at which learning rate."""
    name = subject or error.algorithm.removesuffix("()")
    words = _("{name} diverged in its probe at η={rate}")
    if error.round:
        words = _("{name} diverged in round {round} at η={rate}")
    return words.format(name=name, round=error.round, rate=f"{error.lr:g}")


def error_in_words(error: BaseException, subject: str = "") -> str:
    """Describe an error of ``subject``; name its type where the message alone says too little."""
    if isinstance(error, Diverged):
        advice = _("{divergence}. Try a smaller learning rate.")
        return advice.format(divergence=divergence_in_words(error, subject))
    is_clear = isinstance(error, (ValueError, RuntimeError, DatasetNotFound)) and str(error)
    words = str(error) if is_clear else f"{type(error).__name__}: {error}"
    return about(subject, words) if subject else words


def about(subject: str, words: str) -> str:
    """Words about a ``subject``."""
    return _("{subject}: {words}").format(subject=subject, words=words)
