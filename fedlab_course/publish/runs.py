"""The grid of runs behind an explorer on a page: trained once, in parallel, and stored by configuration."""

import dataclasses
import hashlib
import itertools
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go

import fedlab_core
from fedlab_core import plots
from fedlab_core.engines import cores
from fedlab_core.history import History
from fedlab_core.simulation import Diverged
from fedlab_course import folders
from fedlab_course.explore import goals, grid
from fedlab_course.explore.choices import Choice, Curve, tuned
from fedlab_course.explore.sliders import SETTINGS, Slider

# On other data a grid of runs takes hours.
DATA = "digits"
SHOWN = ("mu", "strength", "alpha", "labels", "local_epochs")
NOTE = (
    "Runs on the digits with seed {seed} alone, as an example; all other settings as in the cell. In JupyterLab you "
    "can train every other value and seed."
)
ELSEWHERE = (
    "This figure is static: interactive figures are stored for the digits only, and this run is on {dataset}. In "
    "JupyterLab you can train it."
)
MOST_PROCESSES = 61  # the limit of a pool on Windows
_HEIGHT = 430


def stored(request: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Make the grid for an explorer's ``request`` (``choice``, ``x``, ``y``, ``goal``), as an entry of a MIME bundle.

    For other data than the digits, the entry is a note. Finished runs are stored in ``folder``.
    """
    given = {**request["choice"], "algorithms": tuple(request["choice"]["algorithms"])}
    choice = Choice(**given)
    if choice.dataset != DATA:
        return {grid.STILL: ELSEWHERE.format(dataset=choice.dataset)}
    sliders = sliders_of(choice)
    combinations = itertools.product(*(slider.positions for slider in sliders.values()))
    choices = [dataclasses.replace(choice, **dict(zip(sliders, values, strict=True))) for values in combinations]
    train({curve for one in choices for curve in one.curves()}, folder)

    def draw(**values: Any) -> go.Figure:
        return _figure(dataclasses.replace(choice, **values).curves(), folder, request["x"], request["y"])

    wanted = goals.of_data(request.get("goal"))

    def met(**values: Any) -> bool:
        curves = dataclasses.replace(choice, **values).curves()
        return wanted is not None and wanted.check(_histories(curves, folder))

    goal = None if wanted is None else goals.Goal(wanted.text, met)
    named = {"goal": {"text": request["goal"]["text"]}} if wanted is None and request.get("goal") else {}
    return {grid.MIME: grid.build(draw, sliders, goal) | named | {"note": NOTE.format(seed=choice.seed)}}


def sliders_of(choice: Choice) -> dict[str, Slider]:
    """The sliders of a page: parameters of the algorithms and of the split, and the local epochs."""
    taken = {name for algorithm in choice.algorithms for name in tuned(algorithm)}
    split = {"dirichlet": {"alpha"}, "labels_per_client": {"labels"}}.get(choice.split, set())
    names = [name for name in SHOWN if name in taken | split | {"local_epochs"}]
    return {name: Slider.over(SETTINGS[name].label, SETTINGS[name].stored, getattr(choice, name)) for name in names}


def train(curves: set[Curve], folder: Path) -> None:
    """Train the ``curves`` that are missing in ``folder``, one process for each core."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {curve: _paths(curve, folder) for curve in sorted(curves, key=repr)}
    missing = {curve: paths for curve, paths in wanted.items() if not any(path.exists() for path in paths)}
    if not missing:
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(cores.usable(), len(missing), MOST_PROCESSES), mp_context=spawn) as pool:
        list(pool.map(_train, missing.keys(), missing.values()))


def _train(curve: Curve, paths: tuple[Path, Path]) -> None:
    import torch

    torch.set_num_threads(1)
    history, failed = paths
    simulation = curve.simulation()
    try:
        for _ in simulation:
            pass
    except Diverged as error:
        words = f"{curve.name} diverged in round {error.round} at η={error.lr:g}. Try a smaller learning rate."
        failed.write_text(words, encoding="utf-8")
    else:
        simulation.history.save(history)


def _paths(curve: Curve, folder: Path) -> tuple[Path, Path]:
    """The files of a run: its history, or the message of a run that diverged."""
    name = hashlib.sha256(f"{_library()} {curve!r}".encode()).hexdigest()[:24]
    return folder / f"{name}.npz", folder / f"{name}.txt"


@cache
def _library() -> str:
    return folders.digest(Path(fedlab_core.__file__).parent)


def _figure(curves: Sequence[Curve], folder: Path, x: str, y: str) -> go.Figure:
    histories = _histories(curves, folder)
    figure = plots.convergence(histories, x=x, y=y)
    figure.update_layout(height=_HEIGHT, legend_font_size=12)
    if x == "rounds":
        figure.update_xaxes(range=[0, 1.02 * max(curve.rounds for curve in curves)])
    return figure.update_yaxes(range=[0, 1.02]) if y == "test_accuracy" else figure


def _histories(curves: Sequence[Curve], folder: Path) -> dict[str, History]:
    """Load the runs of ``curves`` by name. Raises ``ValueError`` with the message of one that diverged."""
    histories = {}
    for curve in curves:
        history, failed = _paths(curve, folder)
        if failed.exists():
            raise ValueError(failed.read_text(encoding="utf-8"))
        histories[curve.name] = History.load(history)
    return histories
