"""The explorer: choose algorithms and settings, watch them train, compare."""

import dataclasses
import html
import json
import time
from functools import partial
from threading import RLock
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from fedlab_core import validation
from fedlab_core.history import History
from fedlab_core.language import translator
from fedlab_core.plots.style import Look, looks
from fedlab_core.simulation import Diverged
from fedlab_course.explore import grid, view, widgets
from fedlab_course.explore.choices import Choice, Curve, owned
from fedlab_course.explore.controls import Controls
from fedlab_course.explore.goals import Goal
from fedlab_course.explore.live import Chart, Live
from fedlab_course.explore.runner import CurveRun, Runner
from fedlab_course.explore.view import Line

_ = translator(__name__)

_DELAY = 0.1  # seconds without another change before training starts
_BETWEEN_DRAWINGS = 0.1
_RIVALS = ("fedavg", "fedprox", "scaffold")
_X = {_("rounds"): "rounds", _("server updates"): "updates", _("bytes"): "bytes"}
_Y = {
    _("test accuracy"): "test_accuracy",
    _("test loss"): "test_loss",
    _("training loss"): "train_loss",
    _("drift"): "drift",
}


class Explorer(Live):
    """Curves of several algorithms under settings that a student changes.

    ``own``: algorithms of the reader, one or a list of classes or of functions that return an
    instance. Each parameter whose default is a number gets a slider. The default rivals are FedAvg,
    FedProx and SCAFFOLD.

    ``choice``: the initial value of every control, as keywords of :class:`Choice`, for example
    ``Explorer(algorithms=("fedavg", "scaffold"), alpha=0.1, rounds=100)``. ``x``: "rounds",
    "updates" or "bytes"; ``y`` as in :func:`fedlab_core.plots.convergence`. ``goal``: one of
    :mod:`fedlab_course.explore.goals`.

    As the last line of a cell it shows itself: live with its controls, and headless as a plain
    figure, after training. Headless it does not train algorithms of the reader.
    """

    offered = True  # whether the controls offer the algorithms

    def __init__(
        self,
        *,
        own: Any = (),
        x: str = "rounds",
        y: str = "test_accuracy",
        goal: Goal | None = None,
        **choice: Any,
    ) -> None:
        super().__init__(goal)
        validation.choice("x", x, _X.values())
        validation.choice("y", y, _Y.values())
        readers = owned(own)
        if readers:
            named = (*choice.get("algorithms", _RIVALS), *(one.name for one in readers))
            choice |= {"own": readers, "algorithms": named}
        self._initial = Choice(**choice)
        self._lock = RLock()
        self._next_drawing = 0.0
        self._problem: Exception | None = None
        self._looks: dict[Curve, Look] = {}
        self._federation: Any = None
        self.kept: dict[Curve, Line] = {}
        self.runner = Runner(Curve.simulation, self._trained)
        self.controls = Controls(self._initial, offered=self.offered)
        self.picture = Chart()
        self._set_out(x, y)
        self.controls.observe(lambda: self.start(_DELAY))
        for axis in (self.x, self.y):
            axis.observe(lambda change: self._draw(), "value")

    @property
    def choice(self) -> Choice:
        """The values of the controls."""
        return self.controls.choice

    def run(self, **changes: Any) -> go.Figure:
        """Move the controls named in ``changes``, train to the end and return :meth:`figure`.

        A run that diverges is a result: its curve ends in a cross. Raises ``ValueError`` and
        ``DatasetNotFound`` before a control moves, and every other error that ends the training.
        """
        choice = dataclasses.replace(self.choice, **changes)
        for curve in choice.curves()[:1] if changes else ():
            curve.simulation()
        self.controls.set(choice)
        self.start()
        self.wait()
        return self.figure()

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the end of the training.

        Raises its error, unless a run diverged, and ``TimeoutError`` after ``timeout`` seconds.
        """
        self.runner.wait(timeout)
        if self._problem is not None:
            raise self._problem

    @property
    def histories(self) -> dict[str, History]:
        """The curves on the chart by name: first those of the controls, then the kept ones."""
        return {name: line.history for name, line in self._shown().items()}

    @property
    def code(self) -> str:
        """Python that makes the curves on the chart again, as ``histories``, and draws them."""
        text = "import fedlab_core as fl\n\nhistories = {}\n"
        dealt = ""
        for name, line in self._shown().items():
            federation = line.curve.federation.code
            text += "" if federation == dealt else f"\n{federation}\n"
            text += f"histories[{json.dumps(name, ensure_ascii=False)}] = {line.curve.code}"
            dealt = federation
        return f'{text}\nfl.plots.convergence(histories, x="{self.x.value}", y="{self.y.value}")\n'

    def keep(self) -> None:
        """Keep the curves of the controls on the chart when the controls move."""
        self.kept |= {line.curve: line for line in self._current()}
        self._draw()

    def reset(self) -> None:
        """Put every control back to its initial value, and drop the kept curves."""
        self.kept.clear()
        self.controls.set(self._initial)
        self.start()

    def stop(self) -> None:
        """Stop training within one round. :meth:`start` continues from there."""
        self.runner.stop()
        self._draw()

    def start(self, delay: float = 0.0) -> None:
        """Show the clients of the present choice at once, and train its curves, ``delay`` seconds
        later.
        """
        try:
            choice = self.choice
            with self._lock:
                self._problem = None
                self._next_drawing = 0.0
                if choice.federation != self._federation:
                    self.picture.show(view.clients(choice.federation))
                    self._federation = choice.federation
            self.runner.request(choice.curves(), delay)
        except Exception as error:
            self.runner.request(())
            self._federation = None
            self._problem = error
        self._draw()

    def _reaches(self, goal: Goal) -> bool:
        """Whether the curves of the controls, trained to the end, reach the goal. A run that
        diverged reaches none.
        """
        lines = self._current()
        lost = self._diverged()
        histories = {line.curve.name: line.history for line in lines if line.curve.name not in lost}
        return not self.runner.busy and bool(lines) and bool(goal.check(histories))

    def _trained(self) -> None:
        """Draw after a round, ten times to once a second, and in at most a fifth of the time."""
        started = time.monotonic()
        if self.runner.busy and started < self._next_drawing:
            return
        self._draw()
        ended = time.monotonic()
        pause = max(_BETWEEN_DRAWINGS, min(self.runner.elapsed / 5, 1.0))
        self._next_drawing = ended + max(pause, 4 * (ended - started))

    def _current(self) -> list[Line]:
        """The curves of the controls that have at least one round."""
        runs = [run for run in self.runner.runs() if run.rounds]
        return [
            Line(run.curve, _first(run.history, run.curve.rounds), run.cohorts[: run.curve.rounds])
            for run in runs
        ]

    def _diverged(self) -> dict[str, Diverged]:
        """The curves of the controls that diverged, by name."""
        return {
            run.curve.name: run.error
            for run in self.runner.runs()
            if isinstance(run.error, Diverged)
        }

    def _shown(self) -> dict[str, Line]:
        """The curves that have at least one round, by their names on the chart."""
        current = {line.curve: line for line in self._current()}
        shown = {curve.name: line for curve, line in current.items()}
        now = dataclasses.replace(self.choice, algorithms=_RIVALS[:1]).curves()[0]
        for curve, line in self.kept.items():
            if curve not in current or len(current[curve].history.records) < len(
                line.history.records
            ):
                # equal curves may have other numbers of rounds
                words = [curve.name, line.curve.differences(now)]
                shown[view.kept(", ".join(filter(None, words)))] = line
        return shown

    def _draw(self) -> None:
        """Update chart, progress and messages."""
        with self._lock:
            try:
                runs = self.runner.runs()
                shown = self._shown()
                busy = self.runner.busy
                curves = dict.fromkeys([*self.kept, *(run.curve for run in runs)])
                self._looks = looks({curve: curve.algorithm.name for curve in curves}, self._looks)
                styles = {name: self._looks[line.curve] for name, line in shown.items()}
                rounds = max((run.curve.rounds for run in runs), default=1)
                federation = None if busy else self._federation
                figure = view.curves(shown, styles, self.x.value, self.y.value, rounds, federation)
                view.mark_ends(figure, self._diverged())
                self._present(figure, keep=not busy)
                self._tell(runs)
                if not busy:
                    label = html.escape(_("The same in Python"))
                    area = f'<textarea readonly spellcheck="false" aria-label="{label}">'
                    self.fold.value = f"{area}\n{html.escape(self.code)}</textarea>"
            except Exception as error:
                self._problem = error
                self._tell([])

    def _tell(self, runs: list[CurveRun]) -> None:
        """Show progress, elapsed time, warnings and errors."""
        total = sum(run.curve.rounds for run in runs)
        done = sum(min(run.rounds, run.curve.rounds) for run in runs)
        busy = self.runner.busy
        stopped = self.runner.stopped and done < total
        self.buttons["Stop"].disabled = not busy
        self.buttons["Run"].disabled = busy or (done == total and total > 0)
        ends = [(run.curve.name, run.error) for run in runs if run.error is not None]
        ends += [("", self._problem)] if self._problem is not None else []
        errors = [error for _, error in ends if not isinstance(error, Diverged)]
        if not runs and not errors:
            self.status.value = widgets.note(_("Choose at least one algorithm."))
        else:
            if busy:
                state = _("training")
            elif errors:
                state = _("ended with an error")
            else:
                state = _("stopped") if stopped else _("done")
            text = _("{state}, {done} of {total} rounds, {seconds} s").format(
                state=state, done=done, total=total, seconds=f"{self.runner.elapsed:.1f}"
            )
            bar = f'<progress max="{max(total, 1)}" value="{done}" aria-hidden="true"></progress>'
            self.status.value = bar + widgets.note(text, kind="timer" if busy else "status")
        notes = [widgets.error_note(error, name) for name, error in ends]
        notes += [
            widgets.note(widgets.about(run.curve.name, text), kind="warning")
            for run in runs
            for text in run.warnings
        ]
        self.messages.value = "".join(notes)

    def _set_out(self, x: str, y: str) -> None:
        """The controls on the left; charts, buttons and messages on the right."""
        menu = partial(widgets.control, ipywidgets.Dropdown, wide=False)
        self.y = menu(
            _("show"), _("The quantity on the vertical axis"), options=list(_Y.items()), value=y
        )
        self.x = menu(
            _("against"),
            _("The quantity on the horizontal axis"),
            options=list(_X.items()),
            value=x,
        )
        self.buttons = self._buttons()
        self.status = widgets.text()
        self.messages = widgets.text()
        self.fold = widgets.text(look="fedlab-code")
        layout = widgets.shared(ipywidgets.Layout, width="auto")
        opener = ipywidgets.ToggleButton(description=_("The same in Python"), layout=layout)
        opener.observe(lambda change: widgets.show(self.fold, change["new"]), "value")
        widgets.show(self.fold, False)
        bar = widgets.box(*self.buttons.values(), self.status, look="fedlab-row")
        axes = widgets.box(self.y, self.x, look="fedlab-row")
        main = widgets.box(
            axes, self.chart.widget, bar, self._goal_line, *self._extra(), look="fedlab-main"
        )
        below = widgets.box(self.messages, opener, self.fold, look="fedlab-below")
        strip = self.picture.widget.add_class("fedlab-strip")
        self._arrange(strip, self.controls.box, main, below, look="fedlab-training")

    def _buttons(self) -> dict[str, Any]:
        """The buttons below the chart, by their names in English."""
        run = _("Train with these settings, or continue after Stop")
        stop = _("Stop training within one round")
        keep = _("Keep these curves on the chart when the settings change")
        reset = _("Put every control back and drop the kept curves")
        return {
            "Run": widgets.button(_("Run"), self.start, run, "play"),
            "Stop": widgets.button(_("Stop"), self.stop, stop, "stop"),
            "Keep curves": widgets.button(_("Keep curves"), self.keep, keep, "thumb-tack"),
            "Reset": widgets.button(_("Reset"), self.reset, reset, "undo"),
        }

    def _extra(self) -> tuple[Any, ...]:
        """Further widgets below the buttons."""
        return ()

    def _headless(self) -> str:
        """The text for an explorer with algorithms of the reader, which does not train headless."""
        names = _(" and ").join(one.name for one in self._initial.own)
        return _(
            "An explorer of {names}. Open this notebook in JupyterLab: there it has controls, and "
            "trains."
        ).format(names=names)

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of the trained figure, and what a page needs to train its other
        positions.
        """
        if self._initial.own:
            return {"text/plain": self._headless()}
        axes = {"x": self.x.value, "y": self.y.value}
        request = {
            "choice": dataclasses.asdict(self.choice),
            "goal": self._goal.data if self._goal else None,
            **axes,
        }
        return grid.plain(self.run()) | {grid.RUNS: request}


def _first(history: History, rounds: int) -> History:
    """At most so many ``rounds`` of a history. The model of an earlier round is not known."""
    if len(history.records) <= rounds:
        return history
    return History(
        history.config | {"rounds": rounds}, history.records[:rounds], template=history.template
    )
