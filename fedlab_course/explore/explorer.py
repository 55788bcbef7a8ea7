"""The explorer: choose algorithms and settings, watch them train, compare."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping, Sequence
from threading import RLock
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from fedlab_core.history import History
from fedlab_core.plots.style import Look, looks
from fedlab_course.explore import goals, grid
from fedlab_course.explore.choices import Choice, Curve
from fedlab_course.explore.controls import Controls
from fedlab_course.explore.moving import Moving
from fedlab_course.explore.own import Own, owned
from fedlab_course.explore.runner import Runner
from fedlab_course.explore.training import Line, Training
from fedlab_course.explore.view import View

_DELAY, _DELAY_MOVING = 0.06, 0.15  # seconds without another change before training starts
_BETWEEN_DRAWINGS = 0.1
_RIVALS = ("fedavg", "fedprox", "scaffold")


class Explorer(Moving):
    """Curves of several algorithms under settings that a student changes.

    ``own``: the reader's own algorithms, a class or a list of classes, or of functions that return one. Each parameter
    whose default is a number gets a slider; ``values`` lists its positions, as in
    ``Explorer(own=Mine, values={"beta": (0, 0.5, 0.9)})``. Without ``algorithms`` they race against FedAvg, FedProx and
    SCAFFOLD.

    ``choice``: the initial value of every control, as keywords of :class:`Choice`, for example
    ``Explorer(algorithms=("fedavg", "scaffold"), alpha=0.1, rounds=100)``. ``x``: "rounds", "updates" or "bytes";
    ``y`` as in :func:`fedlab_core.plots.convergence`. ``goal``: what the reader is asked to reach with the curves of
    the controls, of :mod:`fedlab_course.explore.goals`; a page cannot check a goal with a check of its own. ``live``:
    whether somebody watches; found out if None.

    As the last line of a cell it shows itself: live with its controls, and headless, after training, as a plain figure.
    With algorithms of the reader it trains nothing headless. :meth:`run` trains at once and returns that figure;
    :attr:`frame` and :attr:`code` are the curves as data and as the calls that make them.
    """

    def __init__(
        self,
        *,
        own: Any = (),
        values: Mapping[str, Sequence[float]] | None = None,
        x: str = "rounds",
        y: str = "test_accuracy",
        goal: goals.Known | None = None,
        live: bool | None = None,
        **choice: Any,
    ) -> None:
        super().__init__(goal, live)
        self._initial = _first_choice(owned(own, values), choice)
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
        self._connect()

    @property
    def choice(self) -> Choice:
        """The values of the controls."""
        return self.controls.choice

    def run(self, **changes: Any) -> go.Figure:
        """Move the controls named in ``changes``, train to the end and return :meth:`figure`.

        Raises ``ValueError`` and ``DatasetNotFound`` before a control has moved, and whatever ends the training.
        """
        choice = dataclasses.replace(self.choice, **changes)
        choice.federation.build()
        self.controls.set(choice)
        self._request(delay=0.0)
        self.wait()
        return self.figure()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until training has ended. Raises what went wrong, and ``TimeoutError`` after ``timeout`` seconds."""
        self.runner.wait(timeout)
        if self._problem is not None:
            raise self._problem

    def partition(self) -> go.Figure:
        """The picture of who holds what, as a plain figure."""
        return go.Figure(self.view.picture.figure)

    @property
    def histories(self) -> dict[str, History]:
        """The curves on the chart by name: those of the controls, then those kept."""
        return {name: line.history for name, line in self._shown().items()}

    @property
    def frame(self) -> pd.DataFrame:
        """The curves on the chart as one table: the columns of ``History.frame`` and, first, ``curve``."""
        frames = [history.frame.assign(curve=name) for name, history in self.histories.items()]
        table = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame({"curve": []})
        return table[["curve", *table.columns.drop("curve")]]

    @property
    def code(self) -> str:
        """The lines of Python that make the curves on the chart again, as ``histories``, and draw them."""
        text, dealt = "import fedlab_core as fl\n\nhistories = {}\n", ""
        for name, line in self._shown().items():
            federation, call = line.curve.federation.code, line.curve.code.partition("\nhistory = ")[2]
            text += "" if federation == dealt else f"\n{federation}\n"
            text += f"histories[{json.dumps(name, ensure_ascii=False)}] = {call}"
            dealt = federation
        return f'{text}\nfl.plots.convergence(histories, x="{self.view.x.value}", y="{self.view.y.value}")\n'

    def keep(self) -> None:
        """Keep the present curves on the chart when the controls move on."""
        for line in self._current():
            self.kept.pop(line.curve, None)  # the same run to another number of rounds
            self.kept[line.curve] = line
        self._draw()

    def reset(self) -> None:
        """Put every control back where it was at first, and drop the kept curves."""
        self.kept.clear()
        self.controls.set(self._initial)
        self._request(delay=0.0)

    def stop(self) -> None:
        """Stop training within one round, and say so at once. :meth:`start` continues from there."""
        self.runner.stop()
        self._draw()

    def start(self) -> None:
        """Train the curves of the controls."""
        self._request(delay=0.0)

    def _reaches(self, goal: goals.Known) -> bool:
        """Whether the curves of the controls, trained to the end, reach the goal."""
        histories = {line.curve.name: line.history for line in self._current()}
        return not self.runner.busy and bool(histories) and bool(goal.check(histories))

    def _connect(self) -> None:
        self.controls.observe(lambda moving: self._answer(self._request, _DELAY_MOVING if moving else _DELAY))
        buttons = {"run": self.start, "stop": self.stop, "keep": self.keep, "reset": self.reset}
        for name, action in buttons.items():
            self.view.buttons[name].on_click(lambda _, action=action: self._answer(action))
        self.view.on_axes(lambda: self._answer(self._draw))

    def _answer(self, action: Callable[..., None], *arguments: Any) -> None:
        """Act on a control, and tell the browser that the kernel has answered."""
        action(*arguments)
        self.stage.beat(self.runner.busy)

    def _request(self, delay: float) -> None:
        """Show the partition of the present choice at once, and request its curves."""
        try:
            choice = self.choice
            with self._lock:
                self._problem = None
                if choice.federation != self._federation:
                    self.view.picture.show(self.view.partition_figure(choice))
                    self._federation = choice.federation
            self.runner.request(choice.curves(), delay)
        except Exception as error:
            self.runner.request(())
            self._federation, self._problem = None, error
        if self._live:
            self.stage.beat_while(lambda: self.runner.busy)
        self._draw()

    def _trained(self) -> None:
        """Draw after a round: at most ten times a second at first, later once a second, and in a fifth of the time."""
        first = all(run.rounds <= 1 for run in self.runner.runs())
        if first or not self.runner.busy or time.monotonic() >= self._next_drawing:
            started = time.monotonic()
            self._draw()
            ended = time.monotonic()
            pause = min(max(_BETWEEN_DRAWINGS, self.runner.elapsed / 5), max(_BETWEEN_DRAWINGS, 1.0))
            self._next_drawing = ended + max(pause, 4 * (ended - started))

    def _current(self) -> list[Line]:
        """The curves of the controls that have begun."""
        return [Line.of(run) for run in self.runner.runs() if run.history is not None and run.history.history.records]

    def _shown(self) -> dict[str, Line]:
        """The curves that have begun, by the names that they have on the chart."""
        current = {line.curve: line for line in self._current()}
        shown = {curve.name: line for curve, line in current.items()}
        now = self.choice.curves()
        for curve, line in self.kept.items():
            if curve not in current or current[curve].rounds < line.rounds:
                shown[_unused(_kept_name(curve, now), shown)] = line
        return shown

    def _draw(self) -> None:
        """Bring chart, progress and messages up to date."""
        with self._lock:
            try:
                runs, shown = self.runner.runs(), self._shown()
                curves = dict.fromkeys([*self.kept, *(run.curve for run in runs)])
                self._looks = looks({curve: curve.algorithm for curve in curves}, self._looks)
                self.view.draw_curves(
                    shown,
                    {name: self._looks[line.curve] for name, line in shown.items()},
                    max((run.curve.rounds for run in runs), default=1),
                    self._federation,
                )
                self.view.tell(runs, self.runner, self._problem)
                self.view.goal.value = self._goal_in_words()
                if not self.runner.busy:
                    self.view.export(self.code, self.frame if shown else None)
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
        """The text in place of an explorer with algorithms of the reader, which trains nothing headless."""
        names = " and ".join(one.name for one in self._initial.own)
        return f"An explorer of {names}. Open this notebook in JupyterLab: there it has controls, and trains."

    def _begin(self) -> None:
        self.start()

    def _bundle(self) -> dict[str, Any]:
        if self._initial.own:
            return {"text/plain": self._headless()}
        axes = {"x": self.view.x.value, "y": self.view.y.value}
        request = {"choice": dataclasses.asdict(self.choice), "goal": goals.as_data(self._goal), **axes}
        return grid.plain(self.run()) | {grid.RUNS: request}


def _first_choice(own: tuple[Own, ...], choice: dict[str, Any]) -> Choice:
    """The initial choice, in which the algorithms of the reader take part."""
    if own:
        named = (*choice.get("algorithms", _RIVALS), *(one.name for one in own))
        choice = {**choice, "own": own, "algorithms": named}
    return Choice(**choice)


def _kept_name(curve: Curve, now: tuple[Curve, ...]) -> str:
    """The name of a kept curve, with the settings in which it differs from the present ones."""
    differences = curve.differences(now[0]) if now else ""
    return f"{curve.name}, {differences} (kept)" if differences else f"{curve.name} (kept)"


def _unused(name: str, taken: dict[str, Any]) -> str:
    number = 2
    while name in taken:
        name, number = f"{name.partition(' #')[0]} #{number}", number + 1
    return name
