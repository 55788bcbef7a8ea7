"""What the explorer looks like: controls on the left; picture, chart, buttons and messages on the right."""

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets
import numpy as np
import pandas as pd
import plotly.graph_objects as go

from fedlab_core import plots, validation
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course import chart
from fedlab_course.explorer.choices import Choice, Federation
from fedlab_course.explorer.line import Line, about
from fedlab_course.explorer.palette import paint
from fedlab_course.explorer.runner import Run, Runner

_X = (("rounds", "rounds"), ("server updates", "updates"), ("bytes", "bytes"))
_Y = (
    ("test accuracy", "test_accuracy"),
    ("test loss", "test_loss"),
    ("training loss", "train_loss"),
    ("drift", "drift"),
)
_BUTTONS = {
    "run": ("Run", "play", "Train what the controls say, or go on after Stop"),
    "stop": ("Stop", "stop", "Stop training within one round"),
    "keep": ("Keep curves", "thumb-tack", "Keep these curves on the chart when the controls move on"),
    "reset": ("Reset", "undo", "Put every control back and drop the kept curves"),
}

_STRIP, _HEIGHT, _ROW = 128, 330, 20  # pixels: the clients, the curves with a legend, one more line of legend


class View:
    """The widgets and the two figures of an explorer, and how they are brought up to date."""

    def __init__(self, controls: Any, x: str, y: str, extra: Sequence[Any] = ()) -> None:
        validation.choice("x", x, [value for _, value in _X])
        validation.choice("y", y, [value for _, value in _Y])
        self.x = ipywidgets.ToggleButtons(
            options=_X,
            value=x,
            description="against",
            **chart.hint("The quantity on the horizontal axis"),
            tooltips=["communication rounds", "aggregations by the server", "sent up and down since the start"],
            layout=chart.shared(ipywidgets.Layout),
            style=chart.style(ipywidgets.ToggleButtons, button_width="auto", description_width="auto"),
        )
        self.y = ipywidgets.Dropdown(
            options=_Y,
            value=y,
            description="show",
            **chart.hint("The quantity on the vertical axis"),
            layout=chart.shared(ipywidgets.Layout, width="auto"),
            style=chart.style(ipywidgets.Dropdown, description_width="auto"),
        )
        self.buttons = {name: chart.button(label, tooltip, icon) for name, (label, icon, tooltip) in _BUTTONS.items()}
        self.status, self.messages, self.fold, self.goal = (chart.text() for _ in range(4))
        self.picture = chart.Chart(_empty("client", "label", _STRIP))
        self.chart = chart.Chart(_empty("communication round", "test accuracy", _HEIGHT))
        self.stage = self._staged(controls, extra)

    def on_axes(self, handler: Callable[[], None]) -> None:
        """Call ``handler`` when another axis is chosen."""
        for widget in (self.x, self.y):
            widget.observe(lambda change: handler(), "value")

    def partition_figure(self, choice: Choice) -> go.Figure:
        """Who holds what under ``choice``."""
        figure = plots.partition(choice.federation.build())
        figure.update_layout(height=_STRIP, margin={"t": 17, "b": 26, "l": 40}, font_size=11)
        figure.update_layout(xaxis_title_standoff=0, yaxis2={"showticklabels": False, "ticks": "", "title": None})
        figure.update_traces(selector={"type": "bar"}, hovertemplate=None, hoverinfo="none")  # the caption says it
        figure.update_traces(selector={"type": "heatmap"}, z=np.asarray(figure.data[0].z, dtype=np.float32))
        return figure.update_traces(selector={"type": "heatmap"}, colorbar={"nticks": 3, "len": 1, "title": "samples"})

    def draw_curves(
        self, lines: Mapping[str, Line], looks: Mapping[str, Look], rounds: int, federation: Federation | None
    ) -> None:
        """Draw the curves, each with its look, or an empty chart if there are none yet.

        ``rounds``: what the axis has room for; ``federation``: the one in the picture of the clients.
        """
        histories = {name: line.history for name, line in lines.items()}
        if not histories:
            self.chart.show(_empty("communication round", "test accuracy", _HEIGHT))
            return
        figure = plots.convergence(histories, x=self.x.value, y=self.y.value)
        _lighten(figure)
        paint(figure, looks)
        kept = sum("(kept)" in name for name in histories)
        figure.update_layout(height=_HEIGHT + _ROW * kept, font_size=12, margin={"t": 24, "r": 12})
        longest = max(rounds, *(history.records[-1].round for history in histories.values()))
        figure.update_xaxes(range=[0, longest * 1.02] if self.x.value == "rounds" else None, rangemode="tozero")
        figure.update_yaxes(range=[0, 1.02] if self.y.value == "test_accuracy" else None)
        self.chart.show(figure, about(lines, federation))

    def tell(self, runs: Sequence[Run], runner: Runner, problem: Exception | None) -> None:
        """Progress, elapsed time, warnings and errors."""
        total, done = sum(run.curve.rounds for run in runs), sum(min(run.rounds, run.curve.rounds) for run in runs)
        busy = runner.busy
        self.buttons["stop"].disabled = not busy
        self.buttons["run"].disabled = busy or (done == total and total > 0)
        errors = [(run.curve.name, run.error) for run in runs if run.error is not None]
        stop = "stopping" if runner.advancing else "stopped"
        word = "training" if busy else stop if runner.stopped and done < total else "done"
        word = "ended with an error" if (errors or problem) and not busy else word
        if not runs and problem is None:
            self.status.value = chart.note("Choose at least one algorithm.")
        else:
            text = f"{word}, {done} of {total} rounds, {runner.elapsed:.1f} s"
            bar = f'<progress max="{max(total, 1)}" value="{done}" aria-hidden="true"></progress>'
            self.status.value = bar + chart.note(text, kind="timer" if busy else "status")
        warnings = [chart.note(f"{run.curve.name}: {text}", kind="warning") for run in runs for text in run.warnings]
        texts = [chart.error_in_words(error, name) for name, error in errors]
        texts += [chart.error_in_words(problem)] if problem is not None else []
        self.messages.value = "".join([*(chart.note(text, kind="alert") for text in texts), *warnings])

    def export(self, code: str, frame: pd.DataFrame | None) -> None:
        """Offer the calls as text and the data as a file."""
        link = ""
        if frame is not None:
            data = base64.b64encode(frame.to_csv(index=False, float_format="%.9g").encode()).decode()
            link = f'<a download="curves.csv" href="data:text/csv;base64,{data}">Save the data as CSV</a>'
            link += f" ({len(frame)} rows)"
        self.fold.value = (
            '<fedlab-fold><details class="fedlab-fold"><summary>The same in Python, and the data as CSV</summary>'
            f'<textarea readonly spellcheck="false" aria-label="The same in Python">\n{html.escape(code)}</textarea>'
            f"<p>{link}</p></details></fedlab-fold>"
        )

    def _staged(self, controls: Any, extra: Sequence[Any]) -> chart.Stage:
        axes, bar = chart.row(self.y, self.x), chart.row(*self.buttons.values(), self.status)
        main = chart.column(axes, self.chart.widget, bar, self.goal, *extra, look="fedlab-main")
        below = chart.column(self.messages, self.fold, look="fedlab-below")
        strip = self.picture.widget.add_class("fedlab-strip")
        return chart.Stage(strip, controls, main, below, look="fedlab-training")


def _lighten(figure: go.Figure) -> None:
    """Leave out what nobody sees, and the browser gets many times: spreads over one seed, groups, halves."""
    for trace in figure.data:
        x = np.asarray(trace.x)
        trace.update(customdata=None, legendgroup=None, x=x.astype(int) if (x == x.round()).all() else x)


def _empty(x_title: str, y_title: str, height: int) -> go.Figure:
    figure = new_figure(title=None, x_title=x_title, y_title=y_title, height=height)
    set_description(figure, "An empty chart: nothing has been trained yet.", ["name"], [])
    return figure
