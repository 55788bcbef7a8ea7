"""The grid of runs behind an explorer on a page: trained once, in parallel, and stored by
configuration.
"""

import dataclasses
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import plotly.graph_objects as go

import fedlab_core
from fedlab_core import plots
from fedlab_core.engines import cores
from fedlab_core.history import History
from fedlab_core.language import translator
from fedlab_core.simulation import Diverged
from fedlab_core.sweep.workers import workers_of
from fedlab_course import folders
from fedlab_course.catalogue.parameters import PARAMETERS
from fedlab_course.catalogue.splits import SPLITS
from fedlab_course.explore import goals, grid, view
from fedlab_course.explore.choices import Choice, Curve, tuned
from fedlab_course.explore.widgets import slider

_ = translator(__name__)
DATA = "digits"  # on other data a grid of runs takes hours
SHOWN = tuple(name for name, one in PARAMETERS.items() if one.stored)
_NOTE = _(
    "Runs on the digits with seed {seed} alone, as an example; all other settings as in the cell. "
    "In JupyterLab you can train every other value and seed."
)
_STILL = _(
    "This figure is static: interactive figures are stored for the digits only, and this run is on "
    "{dataset}. In JupyterLab you can train it."
)
_HEIGHT = 430
_DIVERGED = "diverged"  # key of the stored configuration: where the run diverged
_NAME = re.compile(r"((?P<library>[0-9a-f]{12})-)?[0-9a-f]{24}\.npz")


class Position(NamedTuple):
    """The runs at one position of the sliders: their histories so far, and those that ``diverged``,
    both by name.
    """

    histories: dict[str, History]
    diverged: dict[str, Diverged]

    @property
    def finished(self) -> dict[str, History]:
        """The histories of the runs that did not diverge."""
        return {
            name: history for name, history in self.histories.items() if name not in self.diverged
        }


def stored(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The grid, or on other data a note, for an explorer's ``request``; finished runs are stored in
    ``folder``.
    """
    choice = Choice(**request["choice"] | {"algorithms": tuple(request["choice"]["algorithms"])})
    if choice.dataset != DATA:
        return {grid.STILL: _STILL.format(dataset=choice.dataset)}
    sliders = sliders_of(choice)

    def at(**values: Any) -> Position:
        return _load(dataclasses.replace(choice, **values).curves(), folder)

    def draw(**values: Any) -> go.Figure:
        position = at(**values)
        trained = {name: history for name, history in position.histories.items() if history.records}
        figure = (
            plots.convergence(trained, x=request["x"], y=request["y"]) if trained else view.empty()
        )
        view.mark_ends(figure, position.diverged)
        figure.update_layout(height=_HEIGHT, legend_font_size=12)
        if request["x"] == "rounds":
            figure.update_xaxes(range=[0, 1.02 * choice.rounds])
        return figure.update_yaxes(range=[0, 1.02]) if request["y"] == "test_accuracy" else figure

    choices = [dataclasses.replace(choice, **values) for values in grid.positions(sliders)]
    _train({curve for one in choices for curve in one.curves()}, folder)
    wanted = goals.of_data(request.get("goal"))
    goal = (
        goals.Goal(wanted.text, lambda **values: wanted.check(at(**values).finished))
        if wanted
        else None
    )
    return {grid.MIME: grid.build(draw, sliders, goal) | {"note": _NOTE.format(seed=choice.seed)}}


def sliders_of(choice: Choice) -> dict[str, Any]:
    """The sliders of a page: parameters of the algorithms and
    of the split, and the local epochs.
    """
    taken = {name for algorithm in choice.algorithms for name in tuned(algorithm)} | {
        "local_epochs"
    }
    taken.add(SPLITS[choice.split].parameter)
    settings = {name: PARAMETERS[name] for name in SHOWN if name in taken}
    return {
        name: slider(one.label, one.stored, getattr(choice, name), one.tip)
        for name, one in settings.items()
    }


def _train(curves: Iterable[Curve], folder: Path) -> None:
    """Train the ``curves`` that are missing in ``folder``, one process for each core."""
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old(folder)
    paths = {curve: _path(curve, folder) for curve in sorted(curves, key=repr)}
    missing = [(curve, path) for curve, path in paths.items() if not path.exists()]
    if missing:
        with workers_of(None, min(cores.usable(), len(missing))) as pool:
            for future in [pool.submit(_run, *job) for job in missing]:
                future.result()


def _run(curve: Curve, path: Path) -> None:
    """Train one curve and save its history: of a run that diverged, the rounds before and where it
    diverged.
    """
    import torch

    torch.set_num_threads(1)
    simulation = curve.simulation()
    history = simulation.history
    try:
        simulation.run()
    except Diverged as error:
        history.config[_DIVERGED] = {"round": error.round, "client": error.client, "lr": error.lr}
    history.save(path)


def _load(curves: Iterable[Curve], folder: Path) -> Position:
    """The stored runs of these ``curves``."""
    histories = {}
    diverged = {}
    for curve in curves:
        history = History.load(_path(curve, folder))
        histories[curve.name] = history
        end = history.config.get(_DIVERGED)
        if end is not None:
            diverged[curve.name] = Diverged(curve.algorithm.name, **end, history=history)
    return Position(histories, diverged)


def _path(curve: Curve, folder: Path) -> Path:
    """The file of a run, whose name has the digests of the library and of the run's settings."""
    return folder / f"{_library()}-{hashlib.sha256(repr(curve).encode()).hexdigest()[:24]}.npz"


def _remove_old(folder: Path) -> None:
    """Remove the runs of another version of the library, which no page will use again, and no other
    file.
    """
    for path in folder.glob("*.npz"):
        named = _NAME.fullmatch(path.name)
        if named and named["library"] != _library():
            path.unlink(missing_ok=True)


@cache
def _library() -> str:
    return folders.digest(Path(fedlab_core.__file__).parent)[:12]
