"""Figures that change in place, and the elements that all explorers share."""

import html
from collections.abc import Callable, Sequence
from typing import Any

import anywidget
import ipywidgets
import numpy as np
import plotly.graph_objects as go
import traitlets

from fedlab_core.data import DatasetNotFound
from fedlab_core.simulation import Diverged


def canvas(source: go.Figure, live: bool) -> Any:
    """A copy of ``source`` that can change: a FigureWidget in a live notebook, a plain figure elsewhere."""
    if not live:
        return go.Figure(source)
    widget = go.FigureWidget(_sendable(source))
    widget._config = {**(widget._config or {}), "responsive": True, "displaylogo": False}
    return widget


def show(target: Any, source: go.Figure) -> None:
    """Make ``target`` show what ``source`` shows: new values for the same traces if it can, other traces if it must."""
    source = _sendable(source)
    if _kinds(target) != _kinds(source):
        target.data = ()
        target.add_traces(source.data)
    with target.batch_update():
        for old, new in zip(target.data, source.data, strict=True):
            _take_over(old, new, ("type", "uid", "name"))
        _take_over(target.layout, source.layout, ("template", "height", "width", "autosize"))
    if target.layout.height != source.layout.height:
        # Plotly fixes the width with the height unless it is told to autosize; and only what changes is sent.
        target.layout.autosize = None
        with target.batch_update():
            target.layout.height, target.layout.autosize = source.layout.height, True


class Fit(anywidget.AnyWidget):
    """An invisible widget that tells the charts around it when there is more or less room.

    A FigureWidget is drawn before it has a place, 700 pixels wide, and looks again only when the window changes. This
    widget reports every change of the output it stands in as a change of the window.
    """

    _esm = traitlets.Unicode(
        """
        function render({ el }) {
          const observer = new ResizeObserver(() => window.dispatchEvent(new Event("resize")));
          const attach = () => {
            if (el.isConnected) observer.observe(el.closest(".jp-OutputArea-output") ?? el.parentElement);
            else requestAnimationFrame(attach);
          };
          attach();
          return () => observer.disconnect();
        }
        export default { render };
        """
    ).tag(sync=True)


def when_shown(figures: Sequence[Any], action: Callable[[], None]) -> None:
    """Call ``action`` once, as soon as the browser shows all the FigureWidgets.

    A FigureWidget is sent as it is and then changed by messages. Those that come while the browser still loads its
    code are lost, and later ones then speak of traces that it does not have.
    """

    def look(_: Any = None) -> None:
        if not all(figure._view_count for figure in figures):
            return
        for figure in figures:
            figure.unobserve(look, "_view_count")
        action()

    for figure in figures:
        figure.observe(look, "_view_count")
    look()


def plain(figure: Any) -> go.Figure:
    """The figure as a plain ``go.Figure``, which a saved notebook shows."""
    return go.Figure(data=figure.data, layout=figure.layout)


def _sendable(figure: go.Figure) -> go.Figure:
    """The figure with None for NaN in matrices, which travel to the browser as JSON."""
    for trace in figure.data:
        if trace.type == "heatmap" and trace.z is not None and not isinstance(trace.z, (str, dict)):
            values = np.array(trace.z, dtype=object)
            values[np.isnan(values.astype(float))] = None
            trace.z = values
    return figure


def _kinds(figure: Any) -> list[tuple[str, str | None]]:
    """What an existing trace cannot change into: its type and, so that hidden curves stay hidden, its name."""
    return [(trace.type, trace.name) for trace in figure.data]


def _take_over(old: Any, new: Any, leave: tuple[str, ...]) -> None:
    """Give ``old`` the properties of ``new`` that differ; those that ``new`` lacks are removed."""
    had, wanted = old.to_plotly_json(), new.to_plotly_json()
    for name in had.keys() | wanted.keys():
        if name not in leave and not _same(had.get(name), wanted.get(name)):
            old[name] = wanted.get(name)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(value, b[name]) for name, value in a.items())
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.array_equal(np.asarray(a, object), np.asarray(b, object)))
    return bool(a == b)


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
    if kind in ("status", "timer"):
        return f'<div role="{kind}" style="line-height:1.5">{html.escape(text)}</div>'
    colour, word = ("#8A3B00", "Warning") if kind == "warning" else ("#A40000", "Error")
    style = f"border-left:4px solid {colour};padding:4px 10px;color:{colour};line-height:1.5;white-space:pre-wrap"
    role = "alert" if kind == "alert" else "status"
    return f'<div role="{role}" style="{style}"><b>{word}.</b> {html.escape(text)}</div>'


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
