"""What an explorer shows: controls on the left; charts, buttons and messages on the right."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets
import numpy as np
import plotly.graph_objects as go

from fedlab_core import plots, validation
from fedlab_core.plots.style import Look, new_figure, set_description
from fedlab_course.explore import widgets
from fedlab_course.explore.choices import Choice, Federation, Line
from fedlab_course.explore.live import Chart, Stage
from fedlab_course.explore.runner import Run, Runner

_X = {"rounds": "rounds", "server updates": "updates", "bytes": "bytes"}
_Y = {"test accuracy": "test_accuracy", "test loss": "test_loss", "training loss": "train_loss", "drift": "drift"}
_BUTTONS = {
    "run": ("Run", "play", "Train with these settings, or continue after Stop"),
    "stop": ("Stop", "stop", "Stop training within one round"),
    "keep": ("Keep curves", "thumb-tack", "Keep these curves on the chart when the settings change"),
    "reset": ("Reset", "undo", "Put every control back and drop the kept curves"),
}
_STRIP, _HEIGHT, _ROW = 128, 330, 20  # pixels: the clients, the curves with a legend, one more line of legend


class View:
    """The widgets and the two figures of an explorer, and how they are updated."""

    def __init__(self, controls: Any, x: str, y: str, extra: Sequence[Any] = ()) -> None:
        validation.choice("x", x, _X.values())
        validation.choice("y", y, _Y.values())
        menu = partial(widgets.control, ipywidgets.Dropdown, wide=False)
        self.y = menu("show", "The quantity on the vertical axis", options=list(_Y.items()), value=y)
        self.x = menu("against", "The quantity on the horizontal axis", options=list(_X.items()), value=x)
        self.buttons = {name: widgets.button(label, tip, icon) for name, (label, icon, tip) in _BUTTONS.items()}
        self.status, self.messages, self.goal = (widgets.text() for _ in range(3))
        opener, self.fold = widgets.fold("The same in Python", "fedlab-code")
        self.picture = Chart(_empty("client", "label", _STRIP))
        self.chart = Chart(_empty("communication round", "test accuracy", _HEIGHT))
        bar = widgets.row(*self.buttons.values(), self.status)
        axes = widgets.row(self.y, self.x)
        main = widgets.column(axes, self.chart.widget, bar, self.goal, *extra, look="fedlab-main")
        below = widgets.column(self.messages, opener, self.fold, look="fedlab-below")
        strip = self.picture.widget.add_class("fedlab-strip")
        self.stage = Stage(strip, controls, main, below, look="fedlab-training")

    def partition_figure(self, choice: Choice) -> go.Figure:
        """The samples of each client, by label, under ``choice``."""
        figure = plots.partition(choice.federation.build())
        figure.update_layout(height=_STRIP, margin={"t": 17, "b": 26, "l": 40}, font_size=11)
        figure.update_layout(xaxis_title_standoff=0, yaxis2={"showticklabels": False, "ticks": "", "title": None})
        figure.update_traces(selector={"type": "heatmap"}, z=np.asarray(figure.data[0].z, dtype=np.float32))
        return figure.update_traces(selector={"type": "heatmap"}, colorbar={"nticks": 3, "len": 1, "title": "samples"})

    def draw_curves(
        self, lines: Mapping[str, Line], looks: Mapping[str, Look], rounds: int, federation: Federation | None
    ) -> None:
        """Draw the curves over an axis of ``rounds``, each with its look, or an empty chart without curves.

        Curves on ``federation`` get the cohorts of their rounds, which are long: pass None while the curves grow.
        """
        if not lines:
            self.chart.show(_empty("communication round", "test accuracy", _HEIGHT))
            return
        histories = {name: line.history for name, line in lines.items()}
        figure = plots.convergence(histories, x=self.x.value, y=self.y.value)
        for trace in figure.data:
            x, one, line = np.asarray(trace.x), looks[trace.name], lines[trace.name]
            cohorts = [cohort.tolist() for cohort in line.cohorts] if line.curve.federation == federation else None
            # Integers and no groups make a smaller message to the browser.
            trace.update(customdata=cohorts, legendgroup=None, x=x.astype(int) if (x == x.round()).all() else x)
            trace.line.update(color=one.colour, dash=one.dash)
            trace.marker.update(color=one.colour, symbol=one.marker)
        kept = sum("(kept)" in name for name in histories)
        figure.update_layout(height=_HEIGHT + _ROW * kept, font_size=12, margin={"t": 24, "r": 12})
        longest = max(rounds, *(history.records[-1].round for history in histories.values()))
        figure.update_xaxes(range=[0, longest * 1.02] if self.x.value == "rounds" else None, rangemode="tozero")
        figure.update_yaxes(range=[0, 1.02] if self.y.value == "test_accuracy" else None)
        self.chart.show(figure)

    def tell(self, runs: Sequence[Run], runner: Runner, problem: Exception | None) -> None:
        """Show progress, elapsed time, warnings and errors."""
        total, done = sum(run.curve.rounds for run in runs), sum(min(run.rounds, run.curve.rounds) for run in runs)
        busy = runner.busy
        self.buttons["stop"].disabled = not busy
        self.buttons["run"].disabled = busy or (done == total and total > 0)
        errors = [(run.curve.name, run.error) for run in runs if run.error is not None]
        stop = "stopping" if runner.advancing else "stopped"
        word = "training" if busy else stop if runner.stopped and done < total else "done"
        word = "ended with an error" if (errors or problem) and not busy else word
        if not runs and problem is None:
            self.status.value = widgets.note("Choose at least one algorithm.")
        else:
            text = f"{word}, {done} of {total} rounds, {runner.elapsed:.1f} s"
            bar = f'<progress max="{max(total, 1)}" value="{done}" aria-hidden="true"></progress>'
            self.status.value = bar + widgets.note(text, kind="timer" if busy else "status")
        notes = [(widgets.error_in_words(error, name), "alert") for name, error in errors]
        notes += [(widgets.error_in_words(problem), "alert")] if problem is not None else []
        notes += [(f"{run.curve.name}: {text}", "warning") for run in runs for text in run.warnings]
        self.messages.value = "".join(widgets.note(text, kind=kind) for text, kind in notes)


def _empty(x_title: str, y_title: str, height: int) -> go.Figure:
    figure = new_figure(title=None, x_title=x_title, y_title=y_title, height=height)
    set_description(figure, "An empty chart: nothing has been trained yet.", ["name"], [])
    return figure
