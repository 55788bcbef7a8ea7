"""The explorer: choose algorithms and settings, watch them train, compare."""

import dataclasses
import html
import json
import time
from threading import RLock
from typing import Any

import plotly.graph_objects as go

from fedlab_core.history import History
from fedlab_core.plots.style import Look, looks
from fedlab_course.explore import goals, grid
from fedlab_course.explore.choices import Choice, Curve, Line, Training, owned
from fedlab_course.explore.controls import Controls
from fedlab_course.explore.live import Moving
from fedlab_course.explore.runner import Runner
from fedlab_course.explore.view import View

_DELAY, _DELAY_MOVING = 0.06, 0.15  # seconds without another change before training starts
_BETWEEN_DRAWINGS = 0.1
_RIVALS = ("fedavg", "fedprox", "scaffold")


class Explorer(Moving):
    """Curves of several algorithms under settings that a student changes.

    ``own``: algorithms of the reader, one or a list of classes or of functions that return an instance. Each parameter
    whose default is a number gets a slider. The default rivals are FedAvg, FedProx and SCAFFOLD.

    ``choice``: the initial value of every control, as keywords of :class:`Choice`, for example
    ``Explorer(algorithms=("fedavg", "scaffold"), alpha=0.1, rounds=100)``. ``x``: "rounds", "updates" or "bytes";
    ``y`` as in :func:`fedlab_core.plots.convergence`. ``goal``: one of :mod:`fedlab_course.explore.goals`. ``live``:
    whether a reader is there; detected if None.

    As the last line of a cell it shows itself: live with its controls, and headless as a plain figure, after training.
    Headless it does not train algorithms of the reader.
    """

    def __init__(
        self,
        *,
        own: Any = (),
        x: str = "rounds",
        y: str = "test_accuracy",
        goal: goals.Known | None = None,
        live: bool | None = None,
        **choice: Any,
    ) -> None:
        super().__init__(goal, live)
        readers = owned(own)
        if readers:
            named = (*choice.get("algorithms", _RIVALS), *(one.name for one in readers))
            choice |= {"own": readers, "algorithms": named}
        self._initial = Choice(**choice)
        self._lock = RLock()
        self._next_drawing = 0.0
        self._problem: Exception | None = None
        self.controls = self._controls()
        self.runner = Runner(Training, self._trained)
        self.kept: dict[Curve, Line] = {}
        self.view = View(self.controls.box, x, y, self._extra())
        self.stage, self.chart = self.view.stage, self.view.chart
        self._looks: dict[Curve, Look] = {}
        self._federation: Any = None
        self.controls.observe(lambda moving: self._request(_DELAY_MOVING if moving else _DELAY))
        buttons = {"run": self.start, "stop": self.stop, "keep": self.keep, "reset": self.reset}
        for name, action in buttons.items():
            self.view.buttons[name].on_click(lambda _, action=action: action())
        for axis in (self.view.x, self.view.y):
            axis.observe(lambda change: self._draw(), "value")

    @property
    def choice(self) -> Choice:
        """The values of the controls."""
        return self.controls.choice

    def run(self, **changes: Any) -> go.Figure:
        """Move the controls named in ``changes``, train to the end and return :meth:`figure`.

        Raises ``ValueError`` and ``DatasetNotFound`` before a control moves, and the error that ends the training.
        """
        choice = dataclasses.replace(self.choice, **changes)
        for curve in choice.curves()[:1] if changes else ():
            curve.simulation()
        self.controls.set(choice)
        self.start()
        self.wait()
        return self.figure()

    def wait(self, timeout: float | None = None) -> None:
        """Wait for the end of the training. Raises its error, and ``TimeoutError`` after ``timeout`` seconds."""
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
        text, dealt = "import fedlab_core as fl\n\nhistories = {}\n", ""
        for name, line in self._shown().items():
            federation = line.curve.federation.code
            text += "" if federation == dealt else f"\n{federation}\n"
            text += f"histories[{json.dumps(name, ensure_ascii=False)}] = {line.curve.code}"
            dealt = federation
        return f'{text}\nfl.plots.convergence(histories, x="{self.view.x.value}", y="{self.view.y.value}")\n'

    def keep(self) -> None:
        """Keep the curves of the controls on the chart when the controls move."""
        for line in self._current():
            self.kept.pop(line.curve, None)  # an equal curve may have another number of rounds
            self.kept[line.curve] = line
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

    def start(self) -> None:
        """Train the curves of the controls."""
        self._request()

    def _reaches(self, goal: goals.Known) -> bool:
        """Whether the curves of the controls, trained to the end, reach the goal."""
        histories = {line.curve.name: line.history for line in self._current()}
        return not self.runner.busy and bool(histories) and bool(goal.check(histories))

    def _request(self, delay: float = 0.0) -> None:
        """Show the partition of the present choice at once, and request its curves."""
        try:
            choice = self.choice
            with self._lock:
                self._problem, self._next_drawing = None, 0.0
                if choice.federation != self._federation:
                    self.view.picture.show(self.view.partition_figure(choice))
                    self._federation = choice.federation
            self.runner.request(choice.curves(), delay)
        except Exception as error:
            self.runner.request(())
            self._federation, self._problem = None, error
        self._draw()

    def _trained(self) -> None:
        """Draw after a round, ten times to once a second, and in at most a fifth of the time."""
        started = time.monotonic()
        if not self.runner.busy or started >= self._next_drawing:
            self._draw()
            ended = time.monotonic()
            pause = max(_BETWEEN_DRAWINGS, min(self.runner.elapsed / 5, 1.0))
            self._next_drawing = ended + max(pause, 4 * (ended - started))

    def _current(self) -> list[Line]:
        """The curves of the controls that have at least one round."""
        runs = [run for run in self.runner.runs() if run.history is not None and run.history.history.records]
        return [run.history.first(run.curve) for run in runs]

    def _shown(self) -> dict[str, Line]:
        """The curves that have at least one round, by their names on the chart."""
        current = {line.curve: line for line in self._current()}
        shown = {curve.name: line for curve, line in current.items()}
        now = self.choice.curves()
        for curve, line in self.kept.items():
            if curve not in current or current[curve].rounds < line.rounds:
                differences = curve.differences(now[0]) if now else ""
                first = f"{curve.name}, {differences} (kept)" if differences else f"{curve.name} (kept)"
                name, number = first, 2
                while name in shown:
                    name, number = f"{first} #{number}", number + 1
                shown[name] = line
        return shown

    def _draw(self) -> None:
        """Update chart, progress and messages."""
        with self._lock:
            try:
                runs, shown = self.runner.runs(), self._shown()
                curves = dict.fromkeys([*self.kept, *(run.curve for run in runs)])
                self._looks = looks({curve: curve.algorithm for curve in curves}, self._looks)
                styles = {name: self._looks[line.curve] for name, line in shown.items()}
                rounds = max((run.curve.rounds for run in runs), default=1)
                self.view.draw_curves(shown, styles, rounds, None if self.runner.busy else self._federation)
                self.view.tell(runs, self.runner, self._problem)
                self.view.goal.value = self._goal_in_words()
                if not self.runner.busy:
                    area = '<textarea readonly spellcheck="false" aria-label="The same in Python">'
                    self.view.fold.value = f"{area}\n{html.escape(self.code)}</textarea>"
                    self.stage.keep(self.chart.figure)
            except Exception as error:
                self._problem = error
                self.view.tell([], self.runner, error)

    def _controls(self) -> Controls:
        return Controls(self._initial)

    def _extra(self) -> tuple[Any, ...]:
        """Further widgets below the buttons."""
        return ()

    def _headless(self) -> str:
        """The text for an explorer with algorithms of the reader, which does not train headless."""
        names = " and ".join(one.name for one in self._initial.own)
        return f"An explorer of {names}. Open this notebook in JupyterLab: there it has controls, and trains."

    _begin = start

    def _bundle(self) -> dict[str, Any]:
        if self._initial.own:
            return {"text/plain": self._headless()}
        axes = {"x": self.view.x.value, "y": self.view.y.value}
        request = {"choice": dataclasses.asdict(self.choice), "goal": goals.as_data(self._goal), **axes}
        return grid.plain(self.run()) | {grid.RUNS: request}
